// `bun run holds`: what one large request or answer costs everyone else. Sends the worst of every shape to a fresh gateway
// each, and tells the longest that its event loop was held, in processor time of its thread, which other load of the machine
// does not change, and how far memory rose, as a multiple of the body. Flags: --gateway FILE, --megabytes N, --only PARTS (of
// a row's name, all of them, parted by commas), --all (every crossing and packing, not only the worst), --rounds N (the
// median of memory, the least hold), --json. Linux only.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { ChatWire } from '../../src/ir/wire.ts'
import { jsonAnswer } from '../frames.ts'
import { end, endAll, type GatewayLaunch, pinning, startGateway, temporaryFolder } from '../processes.ts'
import type { Held } from './probe.ts'
import { probedIn } from './probed.ts'
import { ANSWERS, REQUESTS } from './shapes.ts'

const ROOT = join(import.meta.dir, '../..')
const { values: flags } = parseArgs({
  options: {
    gateway: { type: 'string', default: join(ROOT, 'dist/sluice') },
    megabytes: { type: 'string', default: '24.9' },
    only: { type: 'string', default: '' },
    all: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})
const SIZE = Math.floor(Number(flags.megabytes) * 1024 * 1024)
/** What may be held and taken at most. */
const BARS = { holdMs: 50, risen: 4 }

type Bytes = Uint8Array<ArrayBuffer>

const PACKINGS: Record<string, (body: Bytes) => Bytes> = {
  plain: (body) => body,
  gzip: (body) => new Uint8Array(gzipSync(body, { level: 1 })),
  zstd: (body) => new Uint8Array(zstdCompressSync(body)),
}

const PATHS = {
  messages: '/v1/messages',
  'chat-completions': '/v1/chat/completions',
  responses: '/v1/responses',
} satisfies Record<ChatWire, string>
const WIRES = Object.keys(PATHS) as ChatWire[]

type Cell = {
  name: string
  client: ChatWire
  provider: ChatWire
  isRefused: boolean
  coding: string
  /** The request's body, and the answer's where that is what is large. */
  made: () => { request: string; answer?: string; isStream?: boolean }
}

const modelOf = (wire: ChatWire): string => `own-${wire}`

const smallFor = (wire: ChatWire, stream: boolean): string => {
  const said = wire === 'responses' ? { input: 'hi', store: false } : { messages: [{ role: 'user', content: 'hi' }] }
  return JSON.stringify({ model: '', ...said, ...(wire === 'messages' ? { max_tokens: 64 } : {}), stream })
}

const asking = (model: string, body: string): string =>
  body.replace('"model":""', () => `"model":${JSON.stringify(model)}`)

const cells = (): Cell[] => {
  const all: Cell[] = []
  const crossings = WIRES.flatMap((client) => WIRES.map((provider) => ({ client, provider })))
  for (const { name, isRefused, body } of REQUESTS)
    for (const { client, provider } of crossings)
      for (const coding of Object.keys(PACKINGS)) {
        // What is refused is refused before it is known where it would go.
        if (isRefused && (client !== 'messages' || provider !== client)) continue
        if (!flags.all && coding !== 'plain' && client !== 'messages') continue
        const made = () => ({ request: body(client, modelOf(provider), SIZE) })
        all.push({ name: `request, ${name}, ${coding}`, client, provider, isRefused, coding, made })
      }
  for (const { name, form, isRefused, body } of ANSWERS)
    for (const { client, provider } of crossings) {
      if (isRefused && client !== provider && !flags.all) continue
      const made = () => ({
        request: asking(modelOf(provider), smallFor(client, form !== 'whole')),
        ...{ answer: body(provider, SIZE), isStream: form !== 'whole' },
      })
      all.push({ name: `answer, ${name}, ${form}`, client, provider, isRefused, coding: 'plain', made })
    }
  return all
}

const fullName = ({ name, client, provider }: Cell): string =>
  client === provider ? `${name}, ${client} passed` : `${name}, ${client} to ${provider}`

const asked = (
  (parts) => (cell: Cell) =>
    parts.every((part) => fullName(cell).includes(part))
)(flags.only.split(',').map((part) => part.trim()))

const configuration = (port: number): string =>
  [
    'providers:',
    ...WIRES.map((wire) => {
      const base = `http://127.0.0.1:${port}${wire === 'messages' ? '' : '/v1'}`
      return `  at-${wire}: { wires: [${wire}], auth: bearer, accounts: [{ name: main, base_url: "${base}", credential: env:BENCH_CREDENTIAL }] }`
    }),
    'models:',
    ...WIRES.map(
      (wire) =>
        `  ${modelOf(wire)}: { provider: at-${wire}, upstream: m, context: 100000000, max_output: 32000, input: [text, image] }`,
    ),
    '',
  ].join('\n')

const probe = probedIn(temporaryFolder())

const launched = (providerPort: number): { launch: GatewayLaunch; key: string } => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'sluice.yaml'), configuration(providerPort))
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SLUICE|VENDOR|ANTHROPIC|OPENAI)_/.test(name))
  const env = {
    ...Object.fromEntries(inherited.map(([name, value]) => [name, value ?? ''])),
    SLUICE_CONFIG: join(folder, 'sluice.yaml'),
    BENCH_CREDENTIAL: 'bench-credential',
  }
  const data = join(folder, 'data')
  const create = ['keys', 'create', '--data', data, '--label', 'holds', '--tokens', '1000000000000', '--json']
  const made = Bun.spawnSync([flags.gateway, ...create], { cwd: folder, env })
  const { key } = JSON.parse(made.stdout.toString()) as { key: string }
  const log = join(folder, 'gateway.log')
  return { launch: { command: [flags.gateway], data, log, env: { ...env, ...probe.env } }, key }
}

const kilobytes = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)

/** What the provider answers the next requests with; undefined: something small. */
let answer: { bytes: Bytes; type: string } | undefined

const answers: Record<ChatWire, string> = {
  messages: jsonAnswer('messages'),
  'chat-completions': jsonAnswer('chat-completions'),
  responses: jsonAnswer('responses'),
}
const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: 1e9,
  idleTimeout: 0,
  fetch: async (request) => {
    for await (const _ of request.body ?? []);
    if (answer !== undefined) return new Response(answer.bytes, { headers: { 'content-type': answer.type } })
    const { pathname } = new URL(request.url)
    const [, small = '{}'] = Object.entries(answers).find(([wire]) => PATHS[wire as ChatWire] === pathname) ?? []
    return new Response(small, { headers: { 'content-type': 'application/json' } })
  },
})

type Measured = { status: number; held: Held; risen: number; bytes: number; end: string }

const { launch, key } = launched(provider.port ?? 0)

const measured = async (cell: Cell): Promise<Measured> => {
  const made = cell.made()
  const body = new TextEncoder().encode(made.request)
  const large = made.answer === undefined ? body : new TextEncoder().encode(made.answer)
  const packed = PACKINGS[cell.coding]?.(body) ?? body
  const { child, pid, port } = await startGateway(launch, 'any')
  const ask = async (sent: Bytes, coding: string): Promise<{ status: number; end: string }> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${port}${PATHS[cell.client]}`, {
      ...{ method: 'POST', body: sent, timeout: false },
      headers: { ...headers, ...(coding === 'plain' ? {} : { 'content-encoding': coding }) },
    } as RequestInit)
    let end = new Uint8Array()
    for await (const piece of response.body ?? [])
      end = piece.length < 300 ? Buffer.concat([end, piece]) : piece.slice(-300)
    return { status: response.status, end: new TextDecoder().decode(end.slice(-300)) }
  }
  try {
    // What it loads with the first such request is no concern of this one.
    answer = undefined
    const warm = REQUESTS.find(({ name }) => name === 'an agent’s conversation')?.body(
      cell.client,
      modelOf(cell.provider),
      400_000,
    )
    for (let times = 0; times < 5; times++) await ask(new TextEncoder().encode(warm), 'plain')
    if (made.answer !== undefined) {
      const type = made.isStream ? 'text/event-stream' : 'application/json'
      answer = { bytes: smallAnswer(cell, made.isStream === true), type }
      for (let times = 0; times < 5; times++) await ask(body, 'plain')
      answer = { bytes: large, type }
    }
    await probe.begin()
    // From here on the system notes how much it holds at most.
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    const before = kilobytes(pid, 'VmRSS')
    const { status, end } = await ask(packed, cell.coding)
    await Bun.sleep(50)
    const held = await probe.end()
    return {
      status,
      held,
      end,
      bytes: large.byteLength,
      risen: ((kilobytes(pid, 'VmHWM') - before) * 1024) / large.byteLength,
    }
  } finally {
    await end(child)
  }
}

const smallAnswer = ({ provider, name }: Cell, isStream: boolean): Bytes => {
  const shape = ANSWERS.find((one) => !one.isRefused && name.includes(one.name)) ?? ANSWERS[0]
  const form = isStream ? 'many events' : 'whole'
  const same = ANSWERS.find((one) => one.name === shape?.name && one.form === form && one.name.startsWith('one long'))
  return new TextEncoder().encode((same ?? ANSWERS.find((one) => one.form === form))?.body(provider, 40_000) ?? '')
}

const say = (line: string): void => {
  if (!flags.json) console.log(line)
}

pinning.on = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    endAll()
    process.exit(130)
  })
try {
  const rows: object[] = []
  say('| Body | Bytes | Status | Longest hold | by the clock | Memory risen |\n| --- | --- | --- | --- | --- | --- |')
  for (const cell of cells().filter(asked)) {
    const rounds: Measured[] = []
    for (let round = 0; round < Number(flags.rounds); round++) rounds.push(await measured(cell))
    const [first] = rounds
    if (first === undefined) break
    const holdMs = Math.min(...rounds.map(({ held }) => held.cpuMs))
    const wallMs = Math.min(...rounds.map(({ held }) => held.wallMs))
    const risen = rounds.map((one) => one.risen).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0
    rows.push({ name: fullName(cell), status: first.status, bytes: first.bytes, holdMs, wallMs, risen })
    const over = [holdMs > BARS.holdMs ? 'hold' : '', risen > BARS.risen ? 'memory' : ''].filter(Boolean).join(', ')
    const isUnanswered =
      !cell.isRefused && cell.coding === 'plain' && (first.status !== 200 || first.end.includes('"error":{'))
    say(
      `| ${fullName(cell)} | ${(first.bytes / 1024 / 1024).toFixed(1)} | ${first.status} | ${holdMs.toFixed(0)} | ${wallMs.toFixed(0)} | ${risen.toFixed(1)} | ${over && `← ${over}`}${isUnanswered ? ` not answered: ${first.end.replaceAll('\n', ' ')}` : ''}`,
    )
  }
  if (flags.json) console.log(JSON.stringify(rows, null, 2))
} finally {
  endAll()
}
process.exit()
