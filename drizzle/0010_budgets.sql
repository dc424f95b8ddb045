CREATE TABLE `budget_marks` (
	`row` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`budget` text NOT NULL,
	`since` integer NOT NULL,
	`mark` integer NOT NULL,
	`unit` text NOT NULL,
	`amount` integer NOT NULL,
	`used` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `budget_marks_once` ON `budget_marks` (`budget`,`since`,`mark`);--> statement-breakpoint
CREATE TABLE `budgets` (
	`id` text PRIMARY KEY NOT NULL,
	`unit` text NOT NULL,
	`amount` integer,
	`renews` text,
	`warn_at` text NOT NULL,
	`used_tokens` integer DEFAULT 0 NOT NULL,
	`used_micro_usd` integer DEFAULT 0 NOT NULL,
	`since` integer NOT NULL,
	`marked` integer DEFAULT 0 NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `budgets_version` ON `budgets` (`version`);--> statement-breakpoint
CREATE TABLE `teams` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `teams_name` ON `teams` (lower("name"));--> statement-breakpoint
ALTER TABLE `exchanges` ADD `fees_micro_usd` integer;--> statement-breakpoint
ALTER TABLE `members` ADD `team_id` text;--> statement-breakpoint
ALTER TABLE `reservations` ADD `reserved_micro_usd` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `reservations` ADD `budgets` text;