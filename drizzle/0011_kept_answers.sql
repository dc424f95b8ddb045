CREATE TABLE `kept_answers` (
	`row` integer PRIMARY KEY NOT NULL,
	`conversation` integer,
	`key_id` text,
	`id` text,
	`previous` text,
	`place` text,
	`created_at` integer NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `kept_answers_id` ON `kept_answers` (`id`,`key_id`);--> statement-breakpoint
CREATE INDEX `kept_answers_conversation` ON `kept_answers` (`conversation`);--> statement-breakpoint
CREATE TABLE `kept_conversations` (
	`row` integer PRIMARY KEY NOT NULL,
	`key_id` text,
	`used_at` integer NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `kept_conversations_key` ON `kept_conversations` (`key_id`,`used_at`);--> statement-breakpoint
CREATE INDEX `kept_conversations_used` ON `kept_conversations` (`used_at`) WHERE key_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `kept_items` (
	`id` text NOT NULL,
	`key_id` text NOT NULL,
	`answer` integer NOT NULL,
	PRIMARY KEY(`id`, `key_id`)
);
--> statement-breakpoint
CREATE INDEX `kept_items_answer` ON `kept_items` (`answer`);--> statement-breakpoint
CREATE TABLE `kept_pieces` (
	`answer` integer NOT NULL,
	`part` text NOT NULL,
	`at` integer NOT NULL,
	`text` text NOT NULL,
	PRIMARY KEY(`answer`, `part`, `at`)
);
--> statement-breakpoint
CREATE TABLE `kept_totals` (
	`key_id` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL
);
