// `config check`: validates everything a start would, and sums up what it would run; asked to, it asks the vendors too.

import { listed } from '../../catalogue/catalogue.ts'
import { startWarnings } from '../../config/start.ts'
import { shownStore } from '../../config/store.ts'
import { formatSize } from '../../config/units.ts'
import { type Config, loadConfig, problemLine } from '../../config.ts'
import { bareUrl } from '../../provider/endpoint.ts'
import type { Finding } from '../../relay/asking.ts'
import { ACCOUNT_FLAG, allAnswer, askAll, chosenAccounts, findingLines, NO_ACCOUNT } from '../asked.ts'
import { command } from '../command.ts'
import { DATA_FLAGS, hasNone, JSON_FLAG } from '../data.ts'
import { EXIT, printJson } from '../io.ts'
import { columns } from '../table.ts'

export const configCheck = command({
  name: 'check',
  meant: 'config',
  summary: 'Validate the configuration and show a summary',
  args: {
    ...DATA_FLAGS,
    ask: { type: 'boolean', description: 'Make one cheap call per account and model, and say what stands in the way' },
    ...ACCOUNT_FLAG,
    ...JSON_FLAG,
  },
  examples: ['sluice config check --ask', 'sluice config check --ask --account vendor_a/main'],
  run: async (args, io) => {
    const loaded = loadConfig({ flags: args, env: io.env, cwd: io.cwd })
    if (!loaded.ok) {
      if (args.json) printJson(io, { ok: false, problems: loaded.problems })
      else for (const problem of loaded.problems) io.err(problemLine(problem))
      return EXIT.usage
    }
    const { config } = loaded
    const warnings = [...config.warnings, ...startWarnings(config)]
    const accounts = chosenAccounts(config, args.account)
    if (!args.json) {
      for (const warning of warnings) io.err(`warning: ${warning}`)
      // A database of another version may be there: it is not opened for this.
      if (!hasNone(config)) io.err('note: what was set at run time is not looked at; "sluice config entries" lists it')
      io.out(lines(config).join('\n'))
    }
    const database = args.ask && config.store !== undefined ? await askStore(config.store) : undefined
    const limits = args.ask && config.limitsStore !== undefined ? await askLimitsStore(config.limitsStore) : undefined
    const findings = args.ask ? await askAll(config, accounts, io) : undefined
    const answered = findings === undefined || allAnswer(findings)
    const ok = answered && database?.ok !== false && limits?.ok !== false
    if (args.json) {
      const asked = findings === undefined ? {} : { asked: findings.map(findingJson) }
      const stores = { ...(database && { asked_store: database }), ...(limits && { asked_limits_store: limits }) }
      printJson(io, { ok, ...summary(config), warnings, ...asked, ...stores })
    } else if (findings !== undefined) {
      const lines = findings.length === 0 ? [NO_ACCOUNT] : findingLines(findings)
      const stores = [
        ...(database === undefined ? [] : [`store: ${database.words}`]),
        ...(limits === undefined ? [] : [`limits store: ${limits.words}`]),
      ]
      io.out(['', ...stores, ...lines].join('\n'))
    }
    return ok ? EXIT.ok : EXIT.failed
  },
})

/** Whether a start could use the database; nothing is changed there. */
const askStore = async (url: string): Promise<{ ok: boolean; words: string }> => {
  const { tryPostgres } = await import('../../store/postgres/open.ts')
  try {
    return { ok: true, words: `answers, PostgreSQL ${await tryPostgres(url)}`.trimEnd() }
  } catch (cause) {
    return { ok: false, words: cause instanceof Error ? cause.message : String(cause) }
  }
}

const askLimitsStore = async (url: string): Promise<{ ok: boolean; words: string }> => {
  const { createRedis } = await import('../../store/redis/client.ts')
  const redis = createRedis(url)
  try {
    const { server, unfit } = await redis.about()
    return unfit === undefined ? { ok: true, words: `answers, ${server}` } : { ok: false, words: `${server} ${unfit}` }
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause)
    return {
      ok: false,
      words: `does not answer (${said}): check that it runs and that the URL of limits_store is right`,
    }
  } finally {
    redis.close()
  }
}

const findingJson = ({ model, upstream, ...finding }: Finding) => ({
  ...finding,
  model: model ?? null,
  upstream: upstream ?? null,
})

/** Without credentials: accounts are named, never shown. */
const summary = (config: Config) => ({
  file: config.file ?? null,
  listen: config.listen,
  admin: { listen: config.adminListen ?? null, ...config.admin, api: config.admin.api ?? null },
  data: config.dataDir,
  store: config.store === undefined ? null : shownStore(config.store),
  limits_store: config.limitsStore === undefined ? null : shownStore(config.limitsStore),
  body_limit: config.bodyLimitBytes,
  khr_per_usd: config.khrPerUsd,
  providers: config.providers.map((provider) => ({
    id: provider.id,
    preset: provider.preset ?? null,
    wires: provider.wires,
    brand: provider.brand ?? null,
    accounts: provider.accounts.map(({ name, baseUrl, weight }) => ({ name, base_url: bareUrl(baseUrl), weight })),
  })),
  models: listed(config.models).map((model) => model.id),
  aliases: config.aliases,
  fallbacks: config.fallbacks,
})

/** Where the dashboard is, where it stands apart. */
const dashboardLines = ({ adminListen, admin }: Config): string[][] => [
  ...(adminListen === undefined ? [] : [['dashboard', `${adminListen.host}:${adminListen.port}`]]),
  ...(admin.hosts.length === 0 ? [] : [['dashboard for', admin.hosts.join(', ')]]),
]

const lines = (config: Config): string[] =>
  columns([
    ['configuration', config.file ?? 'environment and defaults'],
    ['listen', `${config.listen.host}:${config.listen.port}`],
    ...dashboardLines(config),
    ['data', config.dataDir],
    ...(config.store === undefined ? [] : [['store', shownStore(config.store)]]),
    ...(config.limitsStore === undefined ? [] : [['limits store', shownStore(config.limitsStore)]]),
    ['body limit', formatSize(config.bodyLimitBytes)],
    ['rate', `${config.khrPerUsd} KHR per USD`],
    ...config.providers.map(({ id, preset, wires, accounts }) => [
      preset === undefined || preset === id ? id : `${id} (${preset})`,
      accounts.length === 0
        ? 'not configured'
        : `${wires.join(', ')}; ${accounts.map(({ name, baseUrl }) => `${name} at ${bareUrl(baseUrl)}`).join(', ')}`,
    ]),
    ['models', `${listed(config.models).length}, auto is ${config.aliases.auto}`],
    ['fallbacks', Object.keys(config.fallbacks).length === 0 ? 'none' : Object.keys(config.fallbacks).join(', ')],
  ])
