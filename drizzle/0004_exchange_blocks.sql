CREATE TABLE `exchange_blocks` (
	`block` integer NOT NULL,
	`key_id` text NOT NULL,
	PRIMARY KEY(`block`, `key_id`)
);
--> statement-breakpoint
ALTER TABLE `keys` ADD `last_used_at` integer;--> statement-breakpoint
UPDATE `keys` SET `last_used_at` = (SELECT `started_at` FROM `exchanges` WHERE `key_id` = `keys`.`id` ORDER BY `row` DESC LIMIT 1);--> statement-breakpoint
INSERT INTO `exchange_blocks` WITH RECURSIVE `blocks`(`block`) AS (SELECT min(`row`) / 4096 FROM `exchanges` UNION ALL SELECT `block` + 1 FROM `blocks` WHERE `block` < (SELECT max(`row`) / 4096 FROM `exchanges`)) SELECT `block`, '' FROM `blocks` WHERE `block` IS NOT NULL;--> statement-breakpoint
DROP INDEX `exchanges_key`;