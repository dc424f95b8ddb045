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
import { OTHERS } from './others.ts'
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

type Answer = { bytes: Bytes; type: string }
/** The request's body, and the answer's where that is not a small one of its wire. */
type Made = { request: Bytes; answer?: Answer | undefined }

type Cell = {
  name: string
  path: string
  type: string
  isRefused: boolean
  coding: string
  isSocket?: true | undefined
  /** Whether it is the answer that is large. */
  isAnswer: boolean
  made: () => Made
  /** Small ones, sent before: what is loaded with the first is no concern of the one that is measured. */
  small: () => Made[]
}

const modelOf = (wire: ChatWire): string => `own-${wire}`

const smallFor = (wire: ChatWire, stream: boolean): string => {
  const said = wire === 'responses' ? { input: 'hi', store: false } : { messages: [{ role: 'user', content: 'hi' }] }
  return JSON.stringify({ model: '', ...said, ...(wire === 'messages' ? { max_tokens: 64 } : {}), stream })
}

const asking = (model: string, body: string): string =>
  body.replace('"model":""', () => `"model":${JSON.stringify(model)}`)

const utf8 = new TextEncoder()
const JSON_TYPE = 'application/json'
const SSE_TYPE = 'text/event-stream'

const crossed = (name: string, client: ChatWire, provider: ChatWire): string =>
  client === provider ? `${name}, ${client} passed` : `${name}, ${client} to ${provider}`

const conversation = (client: ChatWire, provider: ChatWire): Made[] => {
  const shape = REQUESTS.find(({ name }) => name === 'an agent’s conversation')
  return [{ request: utf8.encode(shape?.body(client, modelOf(provider), 400_000) ?? '') }]
}

/** Of a wire, in words. */
const spoken = (wire: ChatWire, size: number): Answer => {
  const shape = ANSWERS.find(({ name, form }) => name === 'one long text' && form === 'many events')
  return { bytes: utf8.encode(shape?.body(wire, size) ?? ''), type: SSE_TYPE }
}

const cells = (): Cell[] => {
  const all: Cell[] = []
  const crossings = WIRES.flatMap((client) => WIRES.map((provider) => ({ client, provider })))
  for (const { name, isRefused, body } of REQUESTS)
    for (const { client, provider } of crossings)
      for (const coding of Object.keys(PACKINGS)) {
        // What is refused is refused before it is known where it would go.
        if (isRefused && (client !== 'messages' || provider !== client)) continue
        if (!flags.all && coding !== 'plain' && client !== 'messages') continue
        all.push({
          ...{ name: crossed(`request, ${name}, ${coding}`, client, provider), path: PATHS[client], type: JSON_TYPE },
          ...{ isRefused, coding, isAnswer: false },
          made: () => ({ request: utf8.encode(body(client, modelOf(provider), SIZE)) }),
          small: () => conversation(client, provider),
        })
      }
  for (const { name, form, isRefused, body } of ANSWERS)
    for (const { client, provider } of crossings) {
      if (isRefused && client !== provider && !flags.all) continue
      const isStream = form !== 'whole'
      const request = utf8.encode(asking(modelOf(provider), smallFor(client, isStream)))
      const answered = (text: string): Made => ({
        request,
        answer: { bytes: utf8.encode(text), type: isStream ? SSE_TYPE : JSON_TYPE },
      })
      all.push({
        ...{ name: crossed(`answer, ${name}, ${form}`, client, provider), path: PATHS[client], type: JSON_TYPE },
        ...{ isRefused, coding: 'plain', isAnswer: true },
        made: () => answered(body(provider, SIZE)),
        small: () => [...conversation(client, provider), answered(smallAnswer({ name, form }, provider))],
      })
    }
  for (const { name, path, model, type, request, answer, isSocket } of OTHERS) {
    const sized = (size: number): Made => {
      const body = request(isChatWire(model) ? modelOf(model) : model, size)
      const said = answer?.(size)
      return {
        request: typeof body === 'string' ? utf8.encode(body) : body,
        answer: said && { bytes: utf8.encode(said.text), type: said.type },
        ...(isSocket && isChatWire(model) ? { answer: spoken(model, 4_000) } : {}),
      }
    }
    all.push({
      ...{ name, path, type, isSocket, isRefused: false, coding: 'plain' },
      isAnswer: answer !== undefined && type === JSON_TYPE,
      made: () => sized(SIZE),
      small: () => [sized(40_000), sized(400_000)],
    })
  }
  return all
}

const isChatWire = (name: string): name is ChatWire => WIRES.some((wire) => wire === name)

const asked = (
  (parts) => (cell: Cell) =>
    parts.every((part) => cell.name.includes(part))
)(flags.only.split(',').map((part) => part.trim()))

/** Wires that only pass, and what their models are. */
const KINDS = [
  ['embeddings', 'embedding'],
  ['images', 'image'],
  ['audio', 'transcription'],
] as const

const configuration = (port: number): string =>
  [
    'providers:',
    ...[...WIRES, ...KINDS.map(([wire]) => wire)].map((wire) => {
      const base = `http://127.0.0.1:${port}${wire === 'messages' ? '' : '/v1'}`
      return `  at-${wire}: { wires: [${wire}], auth: bearer, accounts: [{ name: main, base_url: "${base}", credential: env:BENCH_CREDENTIAL }] }`
    }),
    'models:',
    ...WIRES.map(
      (wire) =>
        `  ${modelOf(wire)}: { provider: at-${wire}, upstream: m, context: 100000000, max_output: 32000, input: [text, image] }`,
    ),
    ...KINDS.map(([wire, kind]) => `  ${wire}: { provider: at-${wire}, upstream: m, kind: ${kind} }`),
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
let answer: Answer | undefined

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

/** Of what has come, the end. */
type Ended = { status: number; end: string }

const bySocket = (port: number, path: string, sent: Bytes): Promise<Ended> =>
  new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}` }
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers } as unknown as string[])
    socket.onopen = () => socket.send(new TextDecoder().decode(sent))
    socket.onclose = ({ code }) => resolve({ status: code, end: 'closed' })
    socket.onmessage = ({ data }) => {
      const { type, status = 200 } = JSON.parse(String(data)) as { type: string; status?: number }
      if (!['response.completed', 'response.failed', 'error'].includes(type)) return
      resolve({ status, end: String(data).slice(-300) })
      socket.close()
    }
  })

const measured = async (cell: Cell): Promise<Measured> => {
  const made = cell.made()
  const large = cell.isAnswer ? (made.answer?.bytes ?? made.request) : made.request
  const packed = PACKINGS[cell.coding]?.(made.request) ?? made.request
  const { child, pid, port } = await startGateway(launch, 'any')
  const ask = async (sent: Bytes, coding: string): Promise<Ended> => {
    if (cell.isSocket) return bySocket(port, cell.path, sent)
    const headers = { authorization: `Bearer ${key}`, 'content-type': cell.type }
    const response = await fetch(`http://127.0.0.1:${port}${cell.path}`, {
      ...{ method: 'POST', body: sent, timeout: false },
      headers: { ...headers, ...(coding === 'plain' ? {} : { 'content-encoding': coding }) },
    } as RequestInit)
    let end = new Uint8Array()
    for await (const piece of response.body ?? [])
      end = piece.length < 300 ? Buffer.concat([end, piece]) : piece.slice(-300)
    return { status: response.status, end: new TextDecoder().decode(end.slice(-300)) }
  }
  try {
    for (const one of cell.small()) {
      answer = one.answer
      for (let times = 0; times < 5; times++) await ask(one.request, 'plain')
    }
    answer = made.answer
    await probe.begin()
    // From here on the system notes how much it holds at most.
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    const before = kilobytes(pid, 'VmRSS')
    const { status, end } = await ask(packed, cell.coding)
    await Bun.sleep(50)
    const held = await probe.end()
    const risen = ((kilobytes(pid, 'VmHWM') - before) * 1024) / large.byteLength
    return { status, held, end, bytes: large.byteLength, risen }
  } finally {
    await end(child)
  }
}

const smallAnswer = ({ name, form }: Pick<(typeof ANSWERS)[number], 'name' | 'form'>, provider: ChatWire): string => {
  const isStream = form !== 'whole'
  const shape = ANSWERS.find((one) => !one.isRefused && name.includes(one.name)) ?? ANSWERS[0]
  const asked = isStream ? 'many events' : 'whole'
  const same = ANSWERS.find((one) => one.name === shape?.name && one.form === asked && one.name.startsWith('one long'))
  return (same ?? ANSWERS.find((one) => one.form === asked))?.body(provider, 40_000) ?? ''
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
    rows.push({ name: cell.name, status: first.status, bytes: first.bytes, holdMs, wallMs, risen })
    const over = [holdMs > BARS.holdMs ? 'hold' : '', risen > BARS.risen ? 'memory' : ''].filter(Boolean).join(', ')
    const isUnanswered =
      !cell.isRefused && cell.coding === 'plain' && (first.status !== 200 || first.end.includes('"error":{'))
    say(
      `| ${cell.name} | ${(first.bytes / 1024 / 1024).toFixed(1)} | ${first.status} | ${holdMs.toFixed(0)} | ${wallMs.toFixed(0)} | ${risen.toFixed(1)} | ${over && `← ${over}`}${isUnanswered ? ` not answered: ${first.end.replaceAll('\n', ' ')}` : ''}`,
    )
  }
  if (flags.json) console.log(JSON.stringify(rows, null, 2))
} finally {
  endAll()
}
process.exit()
