CREATE TABLE "entered" (
	"id" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"node" text NOT NULL,
	"second" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "exchanges" ADD COLUMN "alone" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "reservations" ADD COLUMN "held" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "reservations" ADD COLUMN "held_micro_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "entered_node" ON "entered" USING btree ("node");--> statement-breakpoint
CREATE INDEX "reservations_node" ON "reservations" USING btree ("node");