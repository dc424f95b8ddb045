CREATE TABLE `prices` (
	`model` text NOT NULL,
	`digest` text NOT NULL,
	`price` text NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`model`, `digest`)
);
