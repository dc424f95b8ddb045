CREATE TABLE "prices" (
	"model" text NOT NULL,
	"digest" text NOT NULL,
	"price" text NOT NULL,
	"since" bigint NOT NULL,
	CONSTRAINT "prices_model_digest_pk" PRIMARY KEY("model","digest")
);
