-- Rows that every exchange changes: room on their pages for the next version of each, so that no index changes with them.
ALTER TABLE "keys" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "budgets" SET (fillfactor = 50);--> statement-breakpoint
-- One row that every change locks first: changes have one order, over all nodes.
INSERT INTO "versions" ("what", "n") VALUES ('changes', 0);
