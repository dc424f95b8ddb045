CREATE TABLE `entries` (
	`section` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`sealed` text,
	`sealed_by` text,
	`last_four` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`section`, `name`)
);
--> statement-breakpoint
ALTER TABLE `keys` ADD `last_four` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `purpose` text;