// `bun run holds`: what one large body costs everyone else. Sends the worst bodies of every shape to a fresh gateway each
// and tells the longest that the event loop was held, as the gateway measures it itself, and how far memory rose, as a
// multiple of the body. Flags: --gateway FILE, --megabytes N, --only PART (of a row's name), --json. Linux only.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { figuresOf } from '../scripts/figures.ts'
import { HOSTILE } from '../scripts/fuzz/bodies.ts'
import { MODEL_A, MODEL_B } from './cases.ts'
import { end, endAll, type GatewayLaunch, pinning, startGateway, startProvider, temporaryFolder } from './processes.ts'
import { agentConversation, largestConversation } from './requests.ts'

const ROOT = join(import.meta.dir, '..')
const { values: flags } = parseArgs({
  options: {
    gateway: { type: 'string', default: join(ROOT, 'dist/sluice') },
    megabytes: { type: 'string', default: '24.9' },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
})
const SIZE = Math.floor(Number(flags.megabytes) * 1024 * 1024)
/** What may be held and taken at most. */
const BARS = { holdMs: 50, risen: 4 }

/** Bodies that are let in: as much of everything as the bounds allow. Each makes a messages request of about `SIZE`. */
const GOOD: Record<string, (model: string) => string> = {
  'one long text': (model) => request(model, [{ type: 'text', text: 'word and word '.repeat(SIZE / 14 - 20) }]),
  'text in another script': (model) => request(model, [{ type: 'text', text: 'ខ្មែរ '.repeat(SIZE / 16 - 20) }]),
  'text of many escapes': (model) => {
    const escapes = JSON.stringify('"\n'.repeat(1_400_000))
    const rest = 'x'.repeat(Math.max(0, SIZE - escapes.length - 300))
    return request(model, [{ type: 'text', text: `"\n`.repeat(1_400_000) + rest }])
  },
  'pictures in base64': (model) => {
    const data = `iVBORw0KGgo${'AAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAB'.repeat((SIZE / 40 - 300) / 36)}`
    const source = { type: 'base64', media_type: 'image/png', data }
    return request(
      model,
      Array.from({ length: 40 }, () => ({ type: 'image', source })),
    )
  },
  'an agent’s conversation': (model) => largestConversation(model, SIZE),
  'blocks up to the bound': (model) => {
    const count = 35_000
    const text = 'x'.repeat(SIZE / count - 40)
    return request(
      model,
      Array.from({ length: count }, (_, at) => ({ type: 'text', text: `${at}${text}` })),
    )
  },
  'short strings up to the bound': (model) => {
    const enumerated = Array.from({ length: 145_000 }, (_, at) => `s${at}`.padEnd(150, 'x'))
    return request(model, [{ type: 'text', text: 'hi' }], { enum: enumerated })
  },
  'kinds of objects up to the bound': (model) => {
    const kinds = Object.fromEntries(Array.from({ length: 9_900 }, (_, at) => [`n${at}`, { type: 'x'.repeat(2_000) }]))
    return request(model, [{ type: 'text', text: 'hi' }], kinds)
  },
}

/** `schema`: of a tool of the client's own. */
const request = (model: string, content: object[], schema?: object): string =>
  JSON.stringify({
    model,
    max_tokens: 64,
    messages: [{ role: 'user', content }],
    ...(schema && { tools: [{ name: 'a', input_schema: { type: 'object', properties: {}, ...schema } }] }),
  })

/** The shapes that are refused, as a member of a request. */
const BAD = Object.fromEntries(
  Object.entries(HOSTILE).map(([name, make]) => [
    name,
    (model: string) =>
      `{"model":"${model}","max_tokens":64,"messages":[{"role":"user","content":"hi"}],"x":${make(SIZE - 200)}}`,
  ]),
)

const PACKINGS: Record<string, (body: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>> = {
  plain: (body) => body,
  gzip: (body) => new Uint8Array(gzipSync(body, { level: 1 })),
  zstd: (body) => new Uint8Array(zstdCompressSync(body)),
}
const WIRES = { 'same wire': MODEL_A, translated: MODEL_B }

type Row = { shape: string; packing: string; wire: string; status: number; holdMs: number; risen: number }

const say = (line: string): void => {
  if (!flags.json) console.log(line)
}

const configuration = (port: number): string =>
  [
    'providers:',
    ...['vendor_a', 'vendor_b'].map((name) => {
      const base = `http://127.0.0.1:${port}${name === 'vendor_b' ? '/v1' : ''}`
      return `  ${name}: { accounts: [{ name: main, base_url: "${base}", credential: env:BENCH_CREDENTIAL }] }`
    }),
    'metrics: { enabled: true }',
    '',
  ].join('\n')

const launched = async (providerPort: number): Promise<{ launch: GatewayLaunch; key: string }> => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'sluice.yaml'), configuration(providerPort))
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SLUICE|VENDOR|ANTHROPIC|OPENAI)_/.test(name))
  const launch: GatewayLaunch = {
    command: [flags.gateway],
    data: join(folder, 'data'),
    log: join(folder, 'gateway.log'),
    env: {
      ...Object.fromEntries(inherited.map(([name, value]) => [name, value ?? ''])),
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      BENCH_CREDENTIAL: 'bench-credential',
    },
  }
  const create = ['keys', 'create', '--data', launch.data, '--label', 'holds', '--tokens', '1000000000', '--json']
  const made = Bun.spawnSync([flags.gateway, ...create], { cwd: folder, env: launch.env, stderr: 'ignore' })
  return { launch, key: (JSON.parse(made.stdout.toString()) as { key: string }).key }
}

const kilobytes = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)

type Measuring = { launch: GatewayLaunch; key: string; bytes: Uint8Array<ArrayBuffer>; packing: string; model: string }

const measured = async ({
  launch,
  key,
  bytes,
  packing,
  model,
}: Measuring): Promise<Pick<Row, 'status' | 'holdMs' | 'risen'>> => {
  const { child, pid, port } = await startGateway(launch, 'any')
  const url = `http://127.0.0.1:${port}`
  const ask = async (body: Uint8Array<ArrayBuffer>, coding: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const packed = coding === 'plain' ? {} : { 'content-encoding': coding }
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', headers: { ...headers, ...packed }, body })
    await answer.text()
    return answer.status
  }
  const hold = async (): Promise<number> => (await figuresOf(url))('sluice_event_loop_hold_seconds ') * 1_000
  try {
    // What it loads with the first such request is no concern of this one.
    for (let times = 0; times < 5; times++)
      await ask(new TextEncoder().encode(agentConversation(model, 100_000)), 'plain')
    await hold()
    // From here on the system notes how much it holds at most.
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    const before = kilobytes(pid, 'VmRSS')
    const status = await ask(PACKINGS[packing]?.(bytes) ?? bytes, packing)
    // The loop is looked at every 10 ms.
    await Bun.sleep(50)
    const holdMs = await hold()
    return { status, holdMs, risen: ((kilobytes(pid, 'VmHWM') - before) * 1024) / bytes.byteLength }
  } finally {
    await end(child)
  }
}

pinning.on = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    endAll()
    process.exit(130)
  })
try {
  const provider = await startProvider()
  const { launch, key } = await launched(provider.port)
  const rows: Row[] = []
  say('| Body | Packed | To | Status | Longest hold | Memory risen |\n| --- | --- | --- | --- | --- | --- |')
  for (const [shape, make] of Object.entries({ ...GOOD, ...BAD })) {
    for (const [wire, model] of Object.entries(WIRES)) {
      // Refused before it is known where it would go.
      if (shape in BAD && wire !== 'same wire') continue
      for (const packing of Object.keys(PACKINGS)) {
        if (!`${shape}, ${packing}, ${wire}`.includes(flags.only)) continue
        const bytes = new TextEncoder().encode(make(model))
        const row = { shape, packing, wire, ...(await measured({ launch, key, bytes, packing, model })) }
        // Packed, some expand too far.
        if (shape in GOOD && packing === 'plain' && row.status !== 200)
          throw new Error(`${shape}, ${wire}: is to be let in, and was answered ${row.status}`)
        rows.push(row)
        const over = row.holdMs > BARS.holdMs || row.risen > BARS.risen ? ' ←' : ''
        say(
          `| ${shape} | ${packing} | ${wire} | ${row.status} | ${row.holdMs.toFixed(0)} ms | ${row.risen.toFixed(1)} × |${over}`,
        )
      }
    }
  }
  if (flags.json) console.log(JSON.stringify(rows, null, 2))
} finally {
  endAll()
}
process.exit()
