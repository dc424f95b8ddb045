CREATE TABLE "life" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"name" text NOT NULL
);
