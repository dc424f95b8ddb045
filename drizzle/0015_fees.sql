ALTER TABLE `reservations` ADD `pictures` text;--> statement-breakpoint
ALTER TABLE `reservations` ADD `server_tools` text;--> statement-breakpoint
ALTER TABLE `usage_accounts` ADD `fees_micro_usd` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_days` ADD `fees_micro_usd` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_hours` ADD `fees_micro_usd` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_models` ADD `fees_micro_usd` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_tags` ADD `fees_micro_usd` integer DEFAULT 0 NOT NULL;