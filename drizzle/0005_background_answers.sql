CREATE TABLE `background_answers` (
	`id` text NOT NULL,
	`exchange_id` text NOT NULL,
	`key_id` text NOT NULL,
	`provider` text NOT NULL,
	`account` text NOT NULL,
	`model` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`id`, `key_id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `background_answers_exchange` ON `background_answers` (`exchange_id`);--> statement-breakpoint
CREATE INDEX `background_answers_created` ON `background_answers` (`created_at`);