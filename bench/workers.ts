// Several processes beside one: what an answer costs over all of them, and how long it takes at the same load.

import { askOf, CASES, probe } from './cases.ts'
import { type Figures, spread } from './figures.ts'
import type { Ask, Completeness, Load } from './job.ts'
import type { Bench } from './measure.ts'
import { cpuUs, end, type GatewayLaunch, overFamily, residentKb, type Server, startGateway } from './processes.ts'

const WORKERS = 2

type Subject = { server: Server; ask: Ask; complete: Completeness; full: Measured[]; half: Measured[] }
type Measured = { load: Load; cpuUs: number }

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
    const before = overFamily(server.pid, cpuUs)
    const load = await ask()
    if (load.answers === 0) throw new Error(`no answer within ${pace.windowMs} ms`)
    return { load, cpuUs: (overFamily(server.pid, cpuUs) - before) / load.answers }
  }
  const full = (subject: Subject, windowMs: number): Promise<Measured> => {
    const { ask, complete } = subject
    const { connections } = chat
    return measured(subject, () => generator.load({ kind: 'json', ask, connections, windowMs, complete }))
  }
  const half = (subject: Subject, perSecond: number): Promise<Measured> => {
    const { ask, complete } = subject
    const { windowMs } = pace
    return measured(subject, () => generator.load({ kind: 'steady', ask, perSecond, windowMs, complete }))
  }

  const subjects: Subject[] = []
  try {
    subjects.push(await begin(1))
    subjects.push(await begin(WORKERS))
    for (const subject of subjects) await full(subject, 2 * pace.warmUpMs)
    const inTurns = async (measure: (subject: Subject) => Promise<void>): Promise<void> => {
      for (let round = 0; round < pace.rounds; round++)
        for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) await measure(subject)
    }
    await inTurns(async (subject) => void subject.full.push(await full(subject, pace.windowMs)))
    const perSecond = Math.round(spread(subjects[0]?.full.map(rateOf) ?? []).median / 2)
    await inTurns(async (subject) => void subject.half.push(await half(subject, perSecond)))
    const [one, several] = subjects.map((subject) => ({
      perSecond: spread(subject.full.map(rateOf)),
      cpuUs: spread(subject.full.map(({ cpuUs }) => cpuUs)),
      halfCpuUs: spread(subject.half.map(({ cpuUs }) => cpuUs)),
      p99Us: spread(subject.half.map(({ load }) => load.p99Us)),
      residentKb: overFamily(subject.server.pid, residentKb),
    }))
    if (one === undefined || several === undefined) throw new Error('nothing was measured')
    return { workers: WORKERS, halfPerSecond: perSecond, one, several }
  } finally {
    for (const { server } of subjects) await end(server.child)
  }
}

const rateOf = ({ load }: Measured): number => (load.answers / load.elapsedMs) * 1000
