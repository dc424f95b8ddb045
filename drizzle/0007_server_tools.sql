CREATE TABLE `usage_tools` (
	`day` integer NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`tool` text NOT NULL,
	`calls` integer NOT NULL,
	PRIMARY KEY(`day`, `key_id`, `model`, `tool`)
);
--> statement-breakpoint
ALTER TABLE `exchanges` ADD `server_tools` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `server_tools` text;