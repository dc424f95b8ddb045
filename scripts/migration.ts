// Turns a change of the schema into migrations, of both dialects: `bun run migration --name what_it_is`.

const CONFIGS = ['drizzle.config.ts', 'drizzle.postgres.config.ts']

for (const config of CONFIGS) {
  const run = Bun.spawn(['bun', 'x', 'drizzle-kit', 'generate', `--config=${config}`, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  const status = await run.exited
  if (status !== 0) process.exit(status)
}
