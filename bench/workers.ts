// Several processes beside one: what an answer costs over all of them, and how long it takes at the same load.

import { askOf, CASES, probe } from './cases.ts'
import { type Figures, spread } from './figures.ts'
import type { Ask, Completeness, Load } from './job.ts'
import type { Bench } from './measure.ts'
import { end, type GatewayLaunch, overFamily, type Server, shareKb, startGateway, threadsOf } from './processes.ts'

const WORKERS = 2
/** The threads by which the runtime compiles what runs often, and the part of the CPU time below which they rest. */
const COMPILER = /^JIT/
const RESTING_PART = 0.03
/** What takes longer than that to come to rest is measured as it is. */
const MOST_WARM_UPS = 40

type Subject = { server: Server; ask: Ask; complete: Completeness; full: Measured[]; half: Measured[] }
/** `alone`: the answers a second of WORKERS cores with nothing else on them: no thread has more than one of those. */
type Measured = { load: Load; cpuUs: number; alone: number }

/** `prepare`: makes a data folder with a key in it. All processes have all cores: their number is what is measured. */
export const measureWorkers = async (
  { generator, pace, provider }: Bench,
  prepare: () => Promise<{ launch: GatewayLaunch; key: string }>,
): Promise<NonNullable<Figures['workers']>> => {
  const [chat] = CASES
  if (chat === undefined) throw new Error('there is no case to ask')
  await provider.control({ mode: 'answer' })
  const begin = async (workers: number): Promise<Subject> => {
    const { launch, key } = await prepare()
    const server = await startGateway({ ...launch, env: { ...launch.env, SLUICE_WORKERS: `${workers}` } }, 'any')
    const ask = askOf(chat.question, server.port, key)
    const [complete] = await probe(chat.question, ask, provider)
    return { server, ask, complete, full: [], half: [] }
  }
  const measured = async ({ server }: Subject, ask: () => Promise<Load>): Promise<Measured> => {
    const before = threadsOf(server.pid)
    const load = await ask()
    if (load.answers === 0) throw new Error(`no answer within ${pace.windowMs} ms`)
    const used = usedSince(before, server.pid).map(({ us }) => us / load.answers)
    const cpuUs = sum(used)
    return { load, cpuUs, alone: 1_000_000 / Math.max(cpuUs / WORKERS, ...used) }
  }
  const full = (subject: Subject, windowMs: number): Promise<Measured> => {
    const { ask, complete } = subject
    const { connections } = chat
    return measured(subject, () => generator.load({ kind: 'stream', ask, connections, windowMs, complete }))
  }
  const half = (subject: Subject, perSecond: number): Promise<Measured> => {
    const { ask, complete } = subject
    const { windowMs } = pace
    return measured(subject, () => generator.load({ kind: 'steady', ask, perSecond, windowMs, complete }))
  }

  /** Until its compilers rest, as those of a server do that has run for a while. */
  const warm = async (subject: Subject): Promise<void> => {
    for (let windows = 0; windows < MOST_WARM_UPS; windows++) {
      const before = threadsOf(subject.server.pid)
      await full(subject, pace.warmUpMs)
      const used = usedSince(before, subject.server.pid)
      const compiling = used.filter(({ name }) => COMPILER.test(name))
      if (sum(compiling.map(({ us }) => us)) < RESTING_PART * sum(used.map(({ us }) => us))) return
    }
  }

  const subjects: Subject[] = []
  try {
    subjects.push(await begin(1))
    subjects.push(await begin(WORKERS))
    for (const subject of subjects) await warm(subject)
    const inTurns = async (measure: (subject: Subject) => Promise<void>): Promise<void> => {
      for (let round = 0; round < pace.rounds; round++)
        for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) await measure(subject)
    }
    await inTurns(async (subject) => void subject.full.push(await full(subject, pace.windowMs)))
    const perSecond = Math.round(spread(subjects[0]?.full.map(rateOf) ?? []).median / 2)
    await inTurns(async (subject) => void subject.half.push(await half(subject, perSecond)))
    const [one, several] = subjects.map((subject) => ({
      perSecond: spread(subject.full.map(rateOf)),
      alone: spread(subject.full.map(({ alone }) => alone)),
      cpuUs: spread(subject.full.map(({ cpuUs }) => cpuUs)),
      halfCpuUs: spread(subject.half.map(({ cpuUs }) => cpuUs)),
      p99Us: spread(subject.half.map(({ load }) => load.p99Us)),
      shareKb: overFamily(subject.server.pid, shareKb),
    }))
    if (one === undefined || several === undefined) throw new Error('nothing was measured')
    return { workers: WORKERS, halfPerSecond: perSecond, one, several }
  } finally {
    for (const { server } of subjects) await end(server.child)
  }
}

const usedSince = (before: ReturnType<typeof threadsOf>, pid: number): { name: string; us: number }[] =>
  [...threadsOf(pid)].map(([id, { name, us }]) => ({ name, us: us - (before.get(id)?.us ?? 0) }))

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

const rateOf = ({ load }: Measured): number => (load.answers / load.elapsedMs) * 1000
