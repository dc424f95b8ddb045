CREATE TABLE `reservations` (
	`row` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`wire` text NOT NULL,
	`stream` integer NOT NULL,
	`started_at` integer NOT NULL,
	`input_estimate` integer NOT NULL,
	`reserved` integer NOT NULL,
	`input` integer,
	`cache_read` integer,
	`cache_write` integer,
	`output` integer,
	`reasoning` integer
);
--> statement-breakpoint
INSERT INTO `reservations` SELECT `row`, `id`, `key_id`, `model`, `wire`, `stream`, `started_at`, `input_estimate`, `reserved`, `input`, `cache_read`, `cache_write`, `output`, `reasoning` FROM `exchanges` WHERE `outcome` IS NULL;--> statement-breakpoint
DELETE FROM `exchanges` WHERE `outcome` IS NULL;--> statement-breakpoint
DROP INDEX `exchanges_started`;--> statement-breakpoint
DROP INDEX `exchanges_open`;--> statement-breakpoint
DROP INDEX `exchanges_not_done_key`;--> statement-breakpoint
DROP INDEX `exchanges_not_done_model`;