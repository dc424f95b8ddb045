CREATE TABLE "setup_links" (
	"hash" text PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "renewed_at" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "steady_since" bigint DEFAULT 0 NOT NULL;