CREATE TABLE `alerts_told` (
	`cause` text PRIMARY KEY NOT NULL,
	`period` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `alerts_waiting` (
	`id` text NOT NULL,
	`receiver` text NOT NULL,
	`at` integer NOT NULL,
	`alert` text NOT NULL,
	PRIMARY KEY(`id`, `receiver`)
);
