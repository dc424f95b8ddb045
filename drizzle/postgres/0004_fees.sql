ALTER TABLE "reservations" ADD COLUMN "pictures" text;--> statement-breakpoint
ALTER TABLE "reservations" ADD COLUMN "server_tools" text;--> statement-breakpoint
ALTER TABLE "usage_accounts" ADD COLUMN "fees_micro_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_days" ADD COLUMN "fees_micro_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_hours" ADD COLUMN "fees_micro_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_models" ADD COLUMN "fees_micro_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_tags" ADD COLUMN "fees_micro_usd" bigint DEFAULT 0 NOT NULL;