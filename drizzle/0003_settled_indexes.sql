DROP INDEX `exchanges_id`;--> statement-breakpoint
DROP INDEX `exchanges_started`;--> statement-breakpoint
DROP INDEX `exchanges_key`;--> statement-breakpoint
DROP INDEX `exchanges_model`;--> statement-breakpoint
DROP INDEX `exchanges_not_done_key`;--> statement-breakpoint
DROP INDEX `exchanges_not_done_model`;--> statement-breakpoint
CREATE INDEX `exchanges_by_id` ON `exchanges` (`id`) WHERE outcome IS NOT NULL;--> statement-breakpoint
CREATE INDEX `exchanges_by_key` ON `exchanges` (`key_id`) WHERE outcome IS NOT NULL;--> statement-breakpoint
CREATE INDEX `exchanges_by_model` ON `exchanges` (`model`) WHERE outcome IS NOT NULL;