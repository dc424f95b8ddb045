DROP INDEX `members_name`;--> statement-breakpoint
ALTER TABLE `members` ADD `limits` text;--> statement-breakpoint
CREATE UNIQUE INDEX `members_name_in_use` ON `members` (lower("name")) WHERE removed_at IS NULL;--> statement-breakpoint
ALTER TABLE `exchanges` ADD `trail` text;--> statement-breakpoint
ALTER TABLE `exchanges` ADD `dropped` text;--> statement-breakpoint
ALTER TABLE `exchanges` ADD `left_after` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `owner_id` text;