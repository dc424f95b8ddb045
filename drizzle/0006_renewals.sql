ALTER TABLE `keys` ADD `renews` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `renewed_at` integer;