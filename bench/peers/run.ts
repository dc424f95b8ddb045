// `bun run peers`: gateways of any make side by side, on this machine, with the cases of the bench. Each runs already and
// calls the provider that this starts: docs/benchmarks.md says how.
//   --provider-port 9100                 where the provider listens: http://127.0.0.1:9100 (vendor_a), …/v1 (vendor_b)
//   --gateway name=…,port=…,key=…,messages=MODEL,chat=MODEL[,own=MODEL][,pid=…][,headers=NAME:VALUE;…]
//                                        again for each; with its pid, CPU and memory are told
//   --only a,c   --rounds N   --window MS   --json
//   --write    keeps the table, with its date, for docs/benchmarks.md

import { parseArgs } from 'node:util'
import { askOf, CASES, type Case, MODEL_A, MODEL_B, MODEL_OWN, probe, type Question } from '../cases.ts'
import { spread } from '../figures.ts'
import type { Ask, Completeness } from '../job.ts'
import {
  cpuUs,
  endAll,
  type Generator,
  overFamily,
  type Provider,
  residentKb,
  startGenerator,
  startProvider,
} from '../processes.ts'

const { values: flags } = parseArgs({
  options: {
    'provider-port': { type: 'string', default: '9100' },
    gateway: { type: 'string', multiple: true, default: [] },
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    window: { type: 'string', default: '2000' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

/** `models`: its names for those of the cases. `headers`: what it wants told with each request. */
type Peer = {
  name: string
  port: number
  key: string
  models: Record<string, string | undefined>
  headers: Record<string, string>
  pid?: number
}

/** The two sides of the first `by`. */
const halves = (text: string, by: string): [string, string] => {
  const at = text.indexOf(by)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + by.length)]
}

const peerOf = (text: string): Peer => {
  const told = new Map(text.split(',').map((part) => halves(part, '=')))
  const [name, port, key, pid] = ['name', 'port', 'key', 'pid'].map((member) => told.get(member))
  if (name === undefined || !Number(port)) throw new Error(`--gateway ${text}: expected at least name=…,port=…`)
  const [messages, chat, own] = ['messages', 'chat', 'own'].map((member) => told.get(member))
  const models = { [MODEL_A]: messages, [MODEL_B]: chat, [MODEL_OWN]: own }
  const headers = Object.fromEntries(
    (told.get('headers') ?? '')
      .split(';')
      .map((one) => halves(one, ':'))
      .filter(([header]) => header !== ''),
  )
  return {
    name,
    port: Number(port),
    key: key ?? '',
    models,
    headers,
    ...(pid === undefined ? {} : { pid: Number(pid) }),
  }
}

const sum = (pid: number | undefined, read: (pid: number) => number): number =>
  pid === undefined ? 0 : overFamily(pid, read)

/** The case's question by the gateway's own name for its model; undefined where it has none. */
const questionFor = ({ question }: Case, { models }: Peer): Question | undefined => {
  const { model } = JSON.parse(question.body) as { model: string }
  const own = models[model]
  if (own === undefined) return undefined
  return { ...question, body: question.body.replace(`"model":"${model}"`, `"model":${JSON.stringify(own)}`) }
}

const SEEN = new URL('seen.md', import.meta.url)

type Entrant = { peer: Peer; ask: Ask; complete: Completeness; rates: number[]; costs: number[] }
type Result = { case: string; gateway: string; perSecond?: number; cpuUs?: number; reason?: string }

const measureCase = async (one: Case, peers: Peer[], provider: Provider, generator: Generator): Promise<Result[]> => {
  const entrants: Entrant[] = []
  const results: Result[] = []
  for (const peer of peers) {
    const question = questionFor(one, peer)
    if (question === undefined) continue
    const asked = askOf(question, peer.port, peer.key)
    const ask = { ...asked, headers: { ...asked.headers, ...peer.headers } }
    try {
      const [complete] = await probe(question, ask, provider)
      entrants.push({ peer, ask, complete, rates: [], costs: [] })
    } catch (error) {
      const reason = error instanceof Error ? error.message.slice(0, 200) : String(error)
      results.push({ case: one.id, gateway: peer.name, reason })
    }
  }
  const kind = one.question.stream ? 'stream' : 'json'
  const run = async ({ peer, ask, complete, rates, costs }: Entrant, counts: boolean): Promise<void> => {
    const before = sum(peer.pid, cpuUs)
    const windowMs = Number(flags.window)
    const { answers, elapsedMs } = await generator.load({ kind, ask, connections: one.connections, windowMs, complete })
    if (!counts || answers === 0) return
    rates.push((answers / elapsedMs) * 1000)
    costs.push((sum(peer.pid, cpuUs) - before) / answers)
  }
  const failed = new Set<Entrant>()
  for (let round = 0; round <= Number(flags.rounds); round++)
    for (const entrant of round % 2 === 0 ? entrants : entrants.toReversed()) {
      if (failed.has(entrant)) continue
      // One that fails under load is told, and the others go on.
      await run(entrant, round > 0).catch((error: Error) => {
        failed.add(entrant)
        results.push({ case: one.id, gateway: entrant.peer.name, reason: error.message.slice(0, 200) })
      })
    }
  for (const entrant of entrants) {
    if (failed.has(entrant) || entrant.rates.length === 0) continue
    const { peer, rates, costs } = entrant
    const cost = peer.pid === undefined ? {} : { cpuUs: spread(costs).median }
    results.push({ case: one.id, gateway: peer.name, perSecond: spread(rates).median, ...cost })
  }
  return results
}

const table = (results: Result[], peers: Peer[]): string => {
  const cell = (id: string, { name }: Peer): string => {
    const found = results.find((result) => result.case === id && result.gateway === name)
    if (found?.perSecond === undefined) return '–'
    const rate = Math.round(found.perSecond).toLocaleString('en-US')
    return found.cpuUs === undefined ? rate : `${(found.cpuUs / 1000).toFixed(2)} (${rate})`
  }
  const memory = (peer: Peer): string => (peer.pid === undefined ? '–' : (sum(peer.pid, residentKb) / 1024).toFixed(0))
  const row = (cells: string[]): string => `| ${cells.join(' | ')} |`
  return [
    row(['CPU ms per answer (answers/s)', ...peers.map(({ name }) => name)]),
    row(['---', ...peers.map(() => '---')]),
    ...CASES.filter(({ id }) => chosen(id)).map(({ id, name }) => row([name, ...peers.map((peer) => cell(id, peer))])),
    row(['resident after the load, MB', ...peers.map(memory)]),
  ].join('\n')
}

const chosen = (id: string): boolean => flags.only === undefined || flags.only.split(',').includes(id)

try {
  const peers = flags.gateway.map(peerOf)
  if (peers.length === 0) throw new Error('Name at least one gateway: --gateway name=…,port=…,key=…,messages=…,chat=…')
  const provider = await startProvider(Number(flags['provider-port']))
  await provider.control({ mode: 'answer' })
  const generator = startGenerator()
  const results: Result[] = []
  for (const one of CASES) if (chosen(one.id)) results.push(...(await measureCase(one, peers, provider, generator)))
  if (flags.json) console.log(JSON.stringify(results, null, 2))
  else console.log(table(results, peers))
  if (flags.write) await Bun.write(SEEN, `${new Date().toISOString().slice(0, 10)}:\n\n${table(results, peers)}\n`)
  for (const { case: id, gateway, reason } of results)
    if (reason !== undefined) console.error(`${gateway}, case ${id}: ${reason}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  endAll()
}
process.exit()
