CREATE TABLE `refusals` (
	`row` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`key_id` text NOT NULL,
	`at` integer NOT NULL,
	`wire` text NOT NULL,
	`path` text NOT NULL,
	`model` text,
	`status` integer NOT NULL,
	`error_code` text NOT NULL,
	`failed` text NOT NULL,
	`told` text NOT NULL,
	`address` text,
	`tag` text
);
--> statement-breakpoint
CREATE INDEX `refusals_id` ON `refusals` (`id`);--> statement-breakpoint
CREATE INDEX `refusals_key` ON `refusals` (`key_id`);--> statement-breakpoint
CREATE TABLE `refused_hours` (
	`key_id` text NOT NULL,
	`hour` integer NOT NULL,
	`code` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`key_id`, `hour`, `code`)
);
--> statement-breakpoint
CREATE INDEX `refused_hours_hour` ON `refused_hours` (`hour`);--> statement-breakpoint
CREATE TABLE `usage_accounts` (
	`hour` integer NOT NULL,
	`provider` text NOT NULL,
	`account` text NOT NULL,
	`requests` integer NOT NULL,
	`errors` integer NOT NULL,
	`input` integer NOT NULL,
	`cache_read` integer NOT NULL,
	`cache_write` integer NOT NULL,
	`output` integer NOT NULL,
	`reasoning` integer NOT NULL,
	`cost_micro_usd` integer NOT NULL,
	PRIMARY KEY(`hour`, `provider`, `account`)
);
--> statement-breakpoint
CREATE TABLE `usage_tags` (
	`day` integer NOT NULL,
	`key_id` text NOT NULL,
	`tag` text NOT NULL,
	`requests` integer NOT NULL,
	`errors` integer NOT NULL,
	`input` integer NOT NULL,
	`cache_read` integer NOT NULL,
	`cache_write` integer NOT NULL,
	`output` integer NOT NULL,
	`reasoning` integer NOT NULL,
	`cost_micro_usd` integer NOT NULL,
	PRIMARY KEY(`day`, `key_id`, `tag`)
);
--> statement-breakpoint
ALTER TABLE `exchanges` ADD `address` text;--> statement-breakpoint
ALTER TABLE `exchanges` ADD `tag` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `ips` text;--> statement-breakpoint
ALTER TABLE `reservations` ADD `address` text;--> statement-breakpoint
ALTER TABLE `reservations` ADD `tag` text;