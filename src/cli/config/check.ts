// `config check`: validates everything a start would, and sums up what it would run.

import { formatSize } from '../../config/units.ts'
import { type Config, loadConfig, problemLine } from '../../config.ts'
import { bareUrl } from '../../provider/endpoint.ts'
import { command } from '../command.ts'
import { DATA_FLAGS, JSON_FLAG } from '../data.ts'
import { EXIT, printJson } from '../io.ts'
import { columns } from '../table.ts'

export const configCheck = command({
  name: 'check',
  summary: 'Validate the configuration and show a summary',
  args: { ...DATA_FLAGS, ...JSON_FLAG },
  run: (args, io) => {
    const loaded = loadConfig({ flags: args, env: io.env, cwd: io.cwd })
    if (!loaded.ok) {
      if (args.json) printJson(io, { ok: false, problems: loaded.problems })
      else for (const problem of loaded.problems) io.err(problemLine(problem))
      return EXIT.usage
    }
    if (args.json) {
      printJson(io, { ok: true, ...summary(loaded.config) })
      return EXIT.ok
    }
    for (const warning of loaded.config.warnings) io.err(`warning: ${warning}`)
    io.out(lines(loaded.config).join('\n'))
    return EXIT.ok
  },
})

/** Without credentials: accounts are named, never shown. */
const summary = (config: Config) => ({
  file: config.file ?? null,
  listen: config.listen,
  data: config.dataDir,
  body_limit: config.bodyLimitBytes,
  khr_per_usd: config.khrPerUsd,
  providers: config.providers.map((provider) => ({
    id: provider.id,
    wires: provider.wires,
    brand: provider.brand ?? null,
    accounts: provider.accounts.map(({ name, baseUrl, weight }) => ({ name, base_url: bareUrl(baseUrl), weight })),
  })),
  models: config.models.map((model) => model.id),
  aliases: config.aliases,
  fallbacks: config.fallbacks,
  warnings: config.warnings,
})

const lines = (config: Config): string[] =>
  columns([
    ['configuration', config.file ?? 'environment and defaults'],
    ['listen', `${config.listen.host}:${config.listen.port}`],
    ['data', config.dataDir],
    ['body limit', formatSize(config.bodyLimitBytes)],
    ['rate', `${config.khrPerUsd} KHR per USD`],
    ...config.providers.map(({ id, wires, accounts }) => [
      id,
      accounts.length === 0
        ? 'not configured'
        : `${wires.join(', ')}; ${accounts.map(({ name, baseUrl }) => `${name} at ${bareUrl(baseUrl)}`).join(', ')}`,
    ]),
    ['models', `${config.models.length}, auto is ${config.aliases.auto}`],
    ['fallbacks', Object.keys(config.fallbacks).length === 0 ? 'none' : Object.keys(config.fallbacks).join(', ')],
  ])
