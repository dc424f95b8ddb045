CREATE TABLE `exchange_models` (
	`model` text NOT NULL,
	`block` integer NOT NULL,
	PRIMARY KEY(`model`, `block`)
);
--> statement-breakpoint
INSERT INTO `exchange_models` SELECT DISTINCT `model`, `row` / 512 FROM `exchanges` ORDER BY 2, 1;--> statement-breakpoint
DROP INDEX `exchanges_model`;