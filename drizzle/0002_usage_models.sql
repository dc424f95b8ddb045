CREATE TABLE `usage_models` (
	`hour` integer NOT NULL,
	`model` text NOT NULL,
	`requests` integer NOT NULL,
	`errors` integer NOT NULL,
	`input` integer NOT NULL,
	`cache_read` integer NOT NULL,
	`cache_write` integer NOT NULL,
	`output` integer NOT NULL,
	`reasoning` integer NOT NULL,
	`cost_micro_usd` integer NOT NULL,
	PRIMARY KEY(`hour`, `model`)
);
--> statement-breakpoint
INSERT INTO `usage_models` SELECT `hour`, `model`, sum(`requests`), sum(`errors`), sum(`input`), sum(`cache_read`), sum(`cache_write`), sum(`output`), sum(`reasoning`), sum(`cost_micro_usd`) FROM `usage_hours` GROUP BY 1, 2;
