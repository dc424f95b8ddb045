CREATE TABLE `admin_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`hash` text NOT NULL,
	`created_by` text,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`used_at` integer,
	FOREIGN KEY (`created_by`) REFERENCES `members`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `admin_tokens_hash` ON `admin_tokens` (`hash`);--> statement-breakpoint
CREATE TABLE `audit` (
	`row` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text NOT NULL,
	`action` text NOT NULL,
	`target` text NOT NULL,
	`before` text,
	`after` text
);
--> statement-breakpoint
CREATE INDEX `audit_target` ON `audit` (`target`);--> statement-breakpoint
CREATE TABLE `exchanges` (
	`row` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`wire` text NOT NULL,
	`stream` integer NOT NULL,
	`started_at` integer NOT NULL,
	`input_estimate` integer NOT NULL,
	`reserved` integer NOT NULL,
	`ended_at` integer,
	`outcome` text,
	`status` integer,
	`error_code` text,
	`provider` text,
	`account` text,
	`upstream_model` text,
	`provider_wire` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`first_byte_ms` integer,
	`total_ms` integer,
	`input` integer,
	`cache_read` integer,
	`cache_write` integer,
	`output` integer,
	`reasoning` integer,
	`estimated` integer DEFAULT false NOT NULL,
	`cost_micro_usd` integer DEFAULT 0 NOT NULL,
	`raw_usage` text
);
--> statement-breakpoint
CREATE INDEX `exchanges_id` ON `exchanges` (`id`);--> statement-breakpoint
CREATE INDEX `exchanges_started` ON `exchanges` (`started_at`);--> statement-breakpoint
CREATE INDEX `exchanges_key` ON `exchanges` (`key_id`);--> statement-breakpoint
CREATE INDEX `exchanges_model` ON `exchanges` (`model`);--> statement-breakpoint
CREATE INDEX `exchanges_open` ON `exchanges` (`row`) WHERE outcome IS NULL;--> statement-breakpoint
CREATE INDEX `exchanges_not_done` ON `exchanges` (`outcome`) WHERE outcome <> 'done';--> statement-breakpoint
CREATE INDEX `exchanges_not_done_key` ON `exchanges` (`key_id`,`outcome`) WHERE outcome <> 'done';--> statement-breakpoint
CREATE INDEX `exchanges_not_done_model` ON `exchanges` (`model`,`outcome`) WHERE outcome <> 'done';--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`hash` text NOT NULL,
	`previous_hash` text,
	`previous_until` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`tokens_total` integer NOT NULL,
	`tokens_used` integer DEFAULT 0 NOT NULL,
	`models` text NOT NULL,
	`rpm` integer,
	`tpm` integer,
	`concurrency` integer,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash` ON `keys` (`hash`);--> statement-breakpoint
CREATE INDEX `keys_version` ON `keys` (`version`);--> statement-breakpoint
CREATE TABLE `members` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`password_hash` text,
	`invitation_hash` text,
	`invitation_expires_at` integer,
	`created_at` integer NOT NULL,
	`removed_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `members_name` ON `members` (`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `members_invitation` ON `members` (`invitation_hash`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`hash` text PRIMARY KEY NOT NULL,
	`member_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	FOREIGN KEY (`member_id`) REFERENCES `members`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sessions_member` ON `sessions` (`member_id`);--> statement-breakpoint
CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `usage_days` (
	`day` integer NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`requests` integer NOT NULL,
	`errors` integer NOT NULL,
	`input` integer NOT NULL,
	`cache_read` integer NOT NULL,
	`cache_write` integer NOT NULL,
	`output` integer NOT NULL,
	`reasoning` integer NOT NULL,
	`cost_micro_usd` integer NOT NULL,
	PRIMARY KEY(`day`, `key_id`, `model`)
);
--> statement-breakpoint
CREATE TABLE `usage_hours` (
	`hour` integer NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`requests` integer NOT NULL,
	`errors` integer NOT NULL,
	`input` integer NOT NULL,
	`cache_read` integer NOT NULL,
	`cache_write` integer NOT NULL,
	`output` integer NOT NULL,
	`reasoning` integer NOT NULL,
	`cost_micro_usd` integer NOT NULL,
	PRIMARY KEY(`hour`, `key_id`, `model`)
);
