// `bun run bench`: the gateway beside a bare proxy, in one run on this machine. Flags: --quick, --only a,b,start,
// --json, --source, --gateway FILE (another binary), --against FILE (another build in the same rounds), --bare streamed|buffered, --rounds N, --window MS (milliseconds),
// --unpinned (leave the cores to the system), --self (a second bare proxy in the gateway's place: what the bench itself adds
// or hides), --floor parsed|unread (the least gateway in its place, cases a and c: what there is to reach).

import { cpus, release, type } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { postgresMissing } from '../test/support/postgres.ts'
import { CASE_IDS, CASES, MODEL_A, MODEL_B, MODEL_OWN } from './cases.ts'
import type { Figures } from './figures.ts'
import {
  type Bench,
  measureCase,
  measureCrowd,
  measureDelay,
  measureMemory,
  measureStart,
  measureTranslation,
} from './measure.ts'
import { measureNode, NODE_CASES, startDatabase } from './nodes.ts'
import {
  end,
  endAll,
  type GatewayLaunch,
  pinning,
  type Server,
  startBare,
  startFloor,
  startGateway,
  startGenerator,
  startProvider,
  stepAside,
  temporaryFolder,
} from './processes.ts'
import { circumstances, document, tables } from './report.ts'
import { measureWorkers } from './workers.ts'

const ROOT = join(import.meta.dir, '..')
const PEERS = join(ROOT, 'bench', 'peers', 'seen.md')
const BINARY = join(ROOT, 'dist', process.platform === 'win32' ? 'sluice.exe' : 'sluice')
const SECTIONS = [...CASE_IDS, 'start', 'memory', 'delay', 'crowd', 'workers', 'translation', 'nodes'] as const
/** Changes what is measured: how many calls of `fetch` this runtime makes at once. */
const CALLS = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
type Section = (typeof SECTIONS)[number]

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    source: { type: 'boolean', default: false },
    gateway: { type: 'string', default: BINARY },
    against: { type: 'string' },
    self: { type: 'boolean', default: false },
    floor: { type: 'string' },
    unpinned: { type: 'boolean', default: false },
    bare: { type: 'string', default: 'streamed' },
    rounds: { type: 'string' },
    window: { type: 'string' },
  },
})

const sections: readonly Section[] = flags.floor === undefined ? SECTIONS : ['a', 'c']
const chosen = (flags.only?.split(',') ?? sections) as Section[]
const strange = chosen.filter((section) => !sections.includes(section))
const { bare: manner, floor } = flags
const isFloor = floor === undefined || floor === 'parsed' || floor === 'unread'
if (strange.length > 0 || (manner !== 'streamed' && manner !== 'buffered') || !isFloor) {
  console.error(`--only takes ${sections.join(', ')}; --bare takes streamed or buffered, --floor parsed or unread`)
  process.exit(2)
}
/** What is measured in the gateway's place. */
const standIn: { name: string; start(providerPort: number): Promise<Server> } | undefined = flags.self
  ? { name: 'a second bare proxy', start: (port) => startBare(port, manner) }
  : floor && { name: `the floor, request body ${floor},`, start: (port) => startFloor(port, floor) }
if (flags.unpinned) pinning.on = false
const say = (line: string): void => {
  if (!flags.json) console.error(line)
}

const gatewayCommand = (): string[] =>
  flags.source ? [process.execPath, join(ROOT, 'src', 'main.ts')] : [flags.gateway]

const newestSource = (): number => {
  const files = new Bun.Glob('{src,drizzle}/**/*').scanSync({ cwd: ROOT, absolute: true })
  return Math.max(0, ...[...files].map((file) => Bun.file(file).lastModified))
}

/** Builds the binary where it is absent or older than what it is made of. */
const build = async (): Promise<void> => {
  if (flags.source || standIn || flags.gateway !== BINARY) return
  const binary = Bun.file(BINARY)
  if ((await binary.exists()) && binary.lastModified >= newestSource()) return
  say('building dist/sluice')
  const made = Bun.spawn([process.execPath, 'scripts/build.ts'], { cwd: ROOT, stdout: 'ignore', stderr: 'inherit' })
  if ((await made.exited) !== 0) throw new Error('the build failed')
}

/** Two accounts for each provider, and a model of the owner's own. */
const configuration = (providerPort: number): string => {
  const accounts = (base: string): string[] =>
    ['first', 'second'].map(
      (name) => `      - { name: ${name}, base_url: "${base}", credential: env:BENCH_CREDENTIAL }`,
    )
  const base = `http://127.0.0.1:${providerPort}`
  return [
    'providers:',
    ...['  vendor_a:', '    accounts:', ...accounts(base)],
    ...['  vendor_b:', '    accounts:', ...accounts(`${base}/v1`)],
    'models:',
    `  ${MODEL_OWN}: { provider: vendor_a, upstream: own-coder-1, context: 200000, max_output: 32000 }`,
    '',
  ].join('\n')
}

/** More than any run asks for. */
const LIMITS = ['--tokens', '1000000000000', '--rpm', '1000000000', '--models', [MODEL_A, MODEL_B, MODEL_OWN].join(',')]

/** A data folder with one key in it, and the configuration that points a gateway at the provider. */
const prepare = async (
  command: string[],
  providerPort: number,
  env: Record<string, string> = {},
): Promise<{ launch: GatewayLaunch; key: string }> => {
  const folder = temporaryFolder()
  const config = join(folder, 'sluice.yaml')
  await Bun.write(config, configuration(providerPort))
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SLUICE|VENDOR|ANTHROPIC|OPENAI)_/.test(name))
  const launch: GatewayLaunch = {
    command,
    data: join(folder, 'data'),
    log: join(folder, 'gateway.log'),
    env: {
      ...Object.fromEntries(inherited.map(([name, value]) => [name, value ?? ''])),
      SLUICE_CONFIG: config,
      BENCH_CREDENTIAL: 'bench-credential',
      ...env,
    },
  }
  if (standIn) return { launch, key: 'sk-bench' }
  const create = ['keys', 'create', '--data', launch.data, '--label', 'bench', ...LIMITS, '--json']
  const made = Bun.spawn([...command, ...create], {
    cwd: folder,
    env: launch.env,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([made.stdout.text(), made.stderr.text()])
  if ((await made.exited) !== 0) throw new Error(`sluice keys create failed: ${err || out}`)
  return { launch, key: (JSON.parse(out) as { key: string }).key }
}

const measure = async (): Promise<Figures> => {
  await build()
  stepAside()
  const provider = await startProvider()
  const { launch, key } = await prepare(gatewayCommand(), provider.port)
  const pace = {
    rounds: Number(flags.rounds ?? (flags.quick ? 3 : 5)),
    windowMs: Number(flags.window ?? (flags.quick ? 700 : 1500)),
    warmUpMs: flags.quick ? 700 : 1500,
    starts: flags.quick ? 5 : 10,
    heldStreams: 500,
  }
  const bench: Bench = { provider, generator: startGenerator(), launch, key, pace, manner }
  const figures: Figures = {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cores: navigator.hardwareConcurrency,
      cpu: cpus()[0]?.model ?? 'unknown',
      os: `${type()} ${release()}`,
      bun: Bun.version,
      pinned: pinning.on,
    },
    ...(process.env[CALLS] === undefined ? {} : { environment: `${CALLS}=${process.env[CALLS]}` }),
    command: ['bun run bench', ...process.argv.slice(2)].join(' '),
    gateway: standIn?.name ?? (flags.source ? 'bun src/main.ts serve' : relative(ROOT, flags.gateway)),
    ...(flags.against === undefined ? {} : { against: flags.against }),
    bare: manner,
    rounds: pace.rounds,
    windowMs: pace.windowMs,
    cases: [],
    failures: [],
  }
  const startOther = async (binary: string): Promise<Server & { key: string }> => {
    const { launch, key } = await prepare([binary], provider.port)
    return { ...(await startGateway(launch, 'tested')), key }
  }
  /** One section that fails does not take the others' figures with it. */
  const section = async (name: Section, title: string, work: () => Promise<void>): Promise<void> => {
    if (!chosen.includes(name)) return
    say(title)
    await work().catch((error) => {
      figures.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    })
  }

  // Before the load: what is measured on fresh processes, while nothing else of this run is busy.
  if (!standIn) {
    await section('start', 'start', async () => {
      figures.start = await measureStart(bench)
    })
    await section('memory', 'memory', async () => {
      figures.memory = await measureMemory(bench)
    })
    await section('crowd', 'crowd', async () => {
      figures.crowd = await measureCrowd(bench)
    })
    await section('workers', 'workers', async () => {
      figures.workers = await measureWorkers(bench, () => prepare(gatewayCommand(), provider.port))
    })
  }
  const bare = await startBare(provider.port, manner)
  const gateway = standIn ? await standIn.start(provider.port) : await startGateway(launch, 'tested')
  const servers = {
    gateway,
    bare,
    ...(flags.against === undefined ? {} : { against: await startOther(flags.against) }),
  }
  for (const one of CASES) {
    await section(one.id, `${one.id}: ${one.name}`, async () => {
      figures.cases.push(await measureCase(bench, one, servers))
    })
  }
  if (!standIn) {
    await section('nodes', 'nodes', async () => {
      if (postgresMissing !== undefined) throw new Error(postgresMissing)
      const database = await startDatabase()
      try {
        const { launch, key } = await prepare(gatewayCommand(), provider.port, { SLUICE_STORE: database.url })
        const node = { ...(await startGateway(launch, 'tested')), key }
        figures.nodes = []
        for (const one of NODE_CASES)
          figures.nodes.push(await measureNode(bench, one, { file: gateway, node, database }))
        await end(node.child)
      } finally {
        await database.stop()
      }
    })
  }
  await section('delay', 'delay', async () => {
    figures.delay = await measureDelay(bench, gateway, bare)
  })
  await section('translation', 'translation', async () => {
    figures.translation = await measureTranslation(bench, gateway, bare)
  })
  return figures
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    endAll()
    process.exit(130)
  })
}
try {
  const figures = await measure()
  if (flags.json) console.log(JSON.stringify(figures, null, 2))
  else console.log(`${circumstances(figures)}\n\n${tables(figures)}`)
  for (const failure of figures.failures) console.error(`not measured: ${failure}`)
  if (figures.failures.length > 0) process.exitCode = 1
  const complete =
    !flags.quick &&
    !flags.unpinned &&
    !standIn &&
    flags.against === undefined &&
    flags.only === undefined &&
    flags.gateway === BINARY
  if (complete) await Bun.write(join(ROOT, 'docs', 'benchmarks.md'), document(figures, await Bun.file(PEERS).text()))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  endAll()
}
process.exit()
