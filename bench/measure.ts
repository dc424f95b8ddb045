// The measurements: gateway and bare proxy in turns before the same provider, and what only the gateway is asked.

import { join } from 'node:path'
import type { ChatWire } from '../src/ir/wire.ts'
import { agentQuestion, askOf, type Case, MODEL_A, MODEL_B, probe, type Question, streamQuestion } from './cases.ts'
import { type CaseFigures, type Delay, type Figures, type Memory, type Side, spread } from './figures.ts'
import type { Ask, Completeness, Delays } from './job.ts'
import {
  cpuUs,
  end,
  type GatewayLaunch,
  type Generator,
  type Provider,
  residentKb,
  type Server,
  startBare,
  startGateway,
  temporaryFolder,
} from './processes.ts'

/** How long and how often. Windows in milliseconds. */
type Pace = { rounds: number; windowMs: number; warmUpMs: number; starts: number; heldStreams: number }

/** What every measurement needs. `key` is the client's gateway key; the bare proxy is shown it too. */
export type Bench = {
  provider: Provider
  generator: Generator
  launch: GatewayLaunch
  key: string
  pace: Pace
  manner: Figures['bare']
}

type Contender = { server: Server; ask: Ask; complete: Completeness; rates: number[]; costs: number[]; busy: number[] }

const contend = async (
  bench: Bench,
  server: Server,
  question: Question,
  key = bench.key,
): Promise<[Contender, ChatWire]> => {
  const ask = askOf(question, server.port, key)
  const [complete, wire] = await probe(question, ask, bench.provider)
  return [{ server, ask, complete, rates: [], costs: [], busy: [] }, wire]
}

const side = ({ rates, costs, busy }: Contender): Side => ({
  perSecond: spread(rates).median,
  cpuUs: spread(costs).median,
  busy: spread(busy).median,
})

const ratios = (over: number[], under: number[]): number[] => over.map((value, n) => value / (under[n] || 1))

/** The servers that answer a case in turns. `against`: another build of the gateway. */
export type Servers = { gateway: Server; bare: Server; against?: Server & { key: string } }

/** One case: warm-up, then rounds in which the servers take turns, the first of a round changing too. */
export const measureCase = async (bench: Bench, one: Case, servers: Servers): Promise<CaseFigures> => {
  const { generator, pace, provider } = bench
  const kind = one.question.stream ? 'stream' : 'json'
  await provider.control({ mode: 'answer' })

  const [ours, wire] = await contend(bench, servers.gateway, one.question)
  // The bare proxy is asked in the wire the gateway asked the provider in: both relay the same frames.
  const same = wire === one.question.wire
  const [theirs] = await contend(bench, servers.bare, same ? one.question : relayed(one.question, wire))
  const { against } = servers
  const [other] = against === undefined ? [] : await contend(bench, against, one.question, against.key)
  const all = [ours, theirs, ...(other === undefined ? [] : [other])]

  const run = async ({ server, ask, complete }: Contender, windowMs: number) => {
    const before = cpuUs(server.pid)
    const load = await generator.load({ kind, ask, connections: one.connections, windowMs, complete })
    return { load, usedUs: cpuUs(server.pid) - before }
  }
  const measure = async (contender: Contender): Promise<void> => {
    const { load, usedUs } = await run(contender, pace.windowMs)
    if (load.answers === 0) throw new Error(`case ${one.id}: no answer within ${pace.windowMs} ms`)
    contender.rates.push((load.answers / load.elapsedMs) * 1000)
    contender.costs.push(usedUs / load.answers)
    contender.busy.push(usedUs / (load.elapsedMs * 1000))
  }

  for (const contender of all) await run(contender, pace.warmUpMs)
  for (let round = 0; round < pace.rounds; round++) {
    for (const contender of round % 2 === 0 ? all : all.toReversed()) await measure(contender)
  }
  return {
    id: one.id,
    name: one.name,
    ...(one.bar === undefined ? {} : { bar: one.bar }),
    ratio: spread(ratios(ours.rates, theirs.rates)),
    cpuRatio: spread(ratios(theirs.costs, ours.costs)),
    gateway: side(ours),
    bare: side(theirs),
    ...(other && { against: { ...side(other), cpuRatio: spread(ratios(ours.costs, other.costs)) } }),
  }
}

/** What a bare proxy is asked in the wire of a provider: it relays the same bytes, untranslated. */
const relayed = ({ stream, body }: Question, wire: ChatWire): Question =>
  stream ? streamQuestion(wire, 'any') : { wire, stream, body }

/** Spawn to the first 200 of `GET /v1`: on a data folder in use, and on an empty one (which is created and migrated). */
export const measureStart = async (bench: Bench): Promise<NonNullable<Figures['start']>> => {
  const times = async (launch: () => GatewayLaunch, runs: number): Promise<number[]> => {
    const found: number[] = []
    for (let run = 0; run < runs; run++) {
      const gateway = await startGateway(launch(), 'any')
      found.push(gateway.readyMs)
      await end(gateway.child)
    }
    return found
  }
  const { launch, pace } = bench
  const migrated = await times(() => launch, pace.starts)
  const fresh = await times(() => ({ ...launch, data: join(temporaryFolder(), 'data') }), pace.starts)
  return { migrated: spread(migrated), fresh: spread(fresh), runs: pace.starts }
}

/** By then a gateway has given back what a burst of requests left behind, also on a busy machine. */
const REST_MS = 4_000

/** The median of resident memory over one second, once the process has come to rest. */
const restingKb = async (pid: number): Promise<number> => {
  await Bun.sleep(REST_MS)
  const samples: number[] = []
  for (let n = 0; n < 10; n++) {
    samples.push(residentKb(pid))
    await Bun.sleep(100)
  }
  return spread(samples).median
}

const holdingMemory = async (bench: Bench, server: Server): Promise<Memory> => {
  const { generator, pace, provider } = bench
  const startKb = residentKb(server.pid)
  const question = streamQuestion('chat-completions', MODEL_B)
  const ask = askOf(question, server.port, bench.key)
  // The code a stream needs is loaded by whole answers first, so that it is not counted as memory of the open streams.
  await provider.control({ mode: 'answer' })
  for (let n = 0; n < 20; n++) await probe(question, ask, provider)
  const idleKb = await restingKb(server.pid)
  await provider.control({ mode: 'hold' })
  await generator.run({ kind: 'hold', ask, connections: pace.heldStreams })
  const openKb = await restingKb(server.pid)
  await generator.run({ kind: 'release' })
  // Once those have gone the process keeps their memory for a while: what is held of a request is what comes on top.
  const beforeKb = await restingKb(server.pid)
  const streams = pace.heldStreams
  const longStreams = Math.ceil(streams / 2)
  const long = askOf(agentQuestion(MODEL_A, true), server.port, bench.key)
  await generator.run({ kind: 'hold', ask: long, connections: longStreams })
  const perLongKb = ((await restingKb(server.pid)) - beforeKb) / longStreams
  await generator.run({ kind: 'release' })
  await provider.control({ mode: 'answer' })
  return { startKb, idleKb, openKb, streams, perStreamKb: (openKb - idleKb) / streams, longStreams, perLongKb }
}

/** Memory of a fresh gateway and a fresh bare proxy: idle, and with streams that are open and silent. */
export const measureMemory = async (bench: Bench): Promise<NonNullable<Figures['memory']>> => {
  const measured = async (server: Server): Promise<Memory> => {
    try {
      return await holdingMemory(bench, server)
    } finally {
      await end(server.child)
    }
  }
  return {
    gateway: await measured(await startGateway(bench.launch, 'tested')),
    bare: await measured(await startBare(bench.provider.port, bench.manner)),
  }
}

const PACED_STREAMS = 200
const PACED_INTERVAL_MS = 50
/** Twenty events a second warm a process slowly. */
const WARM_WINDOWS = 3

type Paced = { port: number; model: string; connections: number; windowMs: number }

const pacedDelays = async (
  { generator, key }: Bench,
  { port, model, connections, windowMs }: Paced,
): Promise<Delays> => {
  const ask = askOf(streamQuestion('chat-completions', model), port, key)
  const result = await generator.run({ kind: 'pace', ask, connections, windowMs })
  if (result.kind !== 'delays' || result.delays.events === 0) throw new Error('paced streams gave no events')
  return result.delays
}

/**
 * Delay of single events over many concurrent streams with a steady flow: straight, bare, same wire and translated, in
 * turns. The streams of a turn are cut at its end, which the gateway counts during the next, of another.
 */
export const measureDelay = async (
  bench: Bench,
  gateway: Server,
  bare: Server,
): Promise<NonNullable<Figures['delay']>> => {
  const { pace, provider } = bench
  await provider.control({ mode: 'pace', intervalMs: PACED_INTERVAL_MS })
  const delaysOf = (port: number, model: string, windowMs: number): Promise<Delays> =>
    pacedDelays(bench, { port, model, connections: PACED_STREAMS, windowMs })
  const round = async (windowMs: number) => ({
    bare: await delaysOf(bare.port, MODEL_B, windowMs),
    gateway: await delaysOf(gateway.port, MODEL_B, windowMs),
    direct: await delaysOf(provider.port, MODEL_B, windowMs),
    translated: await delaysOf(gateway.port, MODEL_A, windowMs),
  })
  await round(WARM_WINDOWS * pace.warmUpMs)
  const rounds: Awaited<ReturnType<typeof round>>[] = []
  for (let n = 0; n < pace.rounds; n++) rounds.push(await round(pace.windowMs))
  const delay = (side: 'bare' | 'gateway' | 'translated'): Delay => ({
    p50Us: spread(rounds.map(({ direct, ...sides }) => sides[side].p50Us - direct.p50Us)),
    p99Us: spread(rounds.map(({ direct, ...sides }) => sides[side].p99Us - direct.p99Us)),
    events: rounds.reduce((sum, sides) => sum + sides[side].events, 0),
  })
  await provider.control({ mode: 'answer' })
  return { streams: PACED_STREAMS, bare: delay('bare'), gateway: delay('gateway'), translated: delay('translated') }
}

const CROWD = 2_000
const CROWD_INTERVAL_MS = 200
const CROWD_WINDOWS = 4

/** A crowd of streams at a fresh gateway, each with a few events a second: their memory and the delay of an event. */
export const measureCrowd = async (bench: Bench): Promise<NonNullable<Figures['crowd']>> => {
  const { pace, provider } = bench
  const windowMs = CROWD_WINDOWS * pace.windowMs
  const gateway = await startGateway(bench.launch, 'tested')
  try {
    const question = streamQuestion('chat-completions', MODEL_B)
    const ask = askOf(question, gateway.port, bench.key)
    await provider.control({ mode: 'answer' })
    for (let n = 0; n < 20; n++) await probe(question, ask, provider)
    const idleKb = await restingKb(gateway.pid)
    await provider.control({ mode: 'pace', intervalMs: CROWD_INTERVAL_MS })
    const direct = await pacedDelays(bench, { port: provider.port, model: MODEL_B, connections: CROWD, windowMs })
    const samples: number[] = []
    const sampling = setInterval(() => samples.push(residentKb(gateway.pid)), 100)
    const { p50Us, p99Us } = await pacedDelays(bench, {
      port: gateway.port,
      model: MODEL_B,
      connections: CROWD,
      windowMs,
    }).finally(() => clearInterval(sampling))
    await provider.control({ mode: 'answer' })
    const added = { p50Us: p50Us - direct.p50Us, p99Us: p99Us - direct.p99Us }
    return {
      ...added,
      streams: CROWD,
      eventsPerSecond: 1000 / CROWD_INTERVAL_MS,
      perStreamKb: (spread(samples).median - idleKb) / CROWD,
    }
  } finally {
    await end(gateway.child)
  }
}

/** The agent's conversation to the other vendor, one request at a time: the median time of an exchange on both sides. */
export const measureTranslation = async (
  bench: Bench,
  gateway: Server,
  bare: Server,
): Promise<NonNullable<Figures['translation']>> => {
  const { generator, pace } = bench
  await bench.provider.control({ mode: 'answer' })
  const question = agentQuestion(MODEL_B)
  const timeOf = async (server: Server): Promise<number> => {
    const [{ ask, complete }] = await contend(bench, server, question)
    const job = { kind: 'stream', ask, connections: 1, complete } as const
    await generator.load({ ...job, windowMs: pace.warmUpMs })
    return (await generator.load({ ...job, windowMs: pace.windowMs })).p50Us
  }
  const [gatewayUs, bareUs] = [await timeOf(gateway), await timeOf(bare)]
  return { bodyBytes: Buffer.byteLength(question.body), tools: 40, gatewayUs, bareUs }
}
