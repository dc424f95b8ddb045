CREATE TABLE "windows" (
	"key_id" text NOT NULL,
	"second" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"tokens" bigint NOT NULL,
	CONSTRAINT "windows_key_id_second_pk" PRIMARY KEY("key_id","second")
);
