// The load generator, a process of its own: jobs come in over IPC one at a time, results go back.

import autocannon from 'autocannon'
import type { Ask, Completeness, Job, JobResult, Load } from './job.ts'
import { ascending, holdStreams, quantile, readDelays, readStreams } from './streams.ts'

const readJson = async (ask: Ask, connections: number, windowMs: number, complete: Completeness): Promise<Load> => {
  const result = await autocannon({
    url: `http://127.0.0.1:${ask.port}${ask.path}`,
    connections,
    duration: windowMs / 1000,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ask.headers },
    body: ask.body,
    verifyBody: (body) => Buffer.byteLength(body) >= complete.bytes && body.endsWith(complete.tail),
    sampleInt: 50,
  })
  const wrong = result.non2xx + result.errors + result.mismatches
  if (wrong > 0) {
    const { non2xx, errors, mismatches } = result
    throw new Error(`${ask.path}: ${non2xx} answers not 2xx, ${errors} errors, ${mismatches} incomplete`)
  }
  return {
    answers: result.requests.total,
    bytes: result.throughput.total,
    elapsedMs: result.finish.getTime() - result.start.getTime(),
    p50Us: 0,
    p99Us: 0,
  }
}

const TICK_MS = 1

/** What is asked for in the window is read to its end. */
const readSteady = async (ask: Ask, perSecond: number, windowMs: number, complete: Completeness): Promise<Load> => {
  const times: number[] = []
  const asked: Promise<void>[] = []
  let bytes = 0
  const one = async (): Promise<void> => {
    const sent = performance.now()
    const answer = await fetch(`http://127.0.0.1:${ask.port}${ask.path}`, {
      ...{ method: 'POST', body: ask.body },
      headers: { 'content-type': 'application/json', ...ask.headers },
    })
    const body = await answer.text()
    const weight = Buffer.byteLength(body)
    if (answer.status !== 200 || weight < complete.bytes || !body.endsWith(complete.tail))
      throw new Error(`${ask.path} answered ${answer.status}: ${body.slice(0, 400)}`)
    times.push((performance.now() - sent) * 1000)
    bytes += weight
  }
  const began = performance.now()
  for (let now = began; now - began < windowMs; now = performance.now()) {
    const due = Math.floor(((now - began) / 1000) * perSecond)
    while (asked.length < due) asked.push(one())
    await Bun.sleep(TICK_MS)
  }
  await Promise.all(asked)
  ascending(times)
  return {
    ...{ answers: times.length, bytes, elapsedMs: windowMs },
    ...{ p50Us: quantile(times, 0.5), p99Us: quantile(times, 0.99) },
  }
}

let held: { close(): void } | undefined

const perform = async (job: Job): Promise<JobResult> => {
  switch (job.kind) {
    case 'json':
      return { kind: 'load', load: await readJson(job.ask, job.connections, job.windowMs, job.complete) }
    case 'stream':
      return { kind: 'load', load: await readStreams(job.ask, job.connections, job.windowMs, job.complete) }
    case 'steady':
      return { kind: 'load', load: await readSteady(job.ask, job.perSecond, job.windowMs, job.complete) }
    case 'pace':
      return { kind: 'delays', delays: await readDelays(job.ask, job.connections, job.windowMs) }
    case 'hold':
      held = await holdStreams(job.ask, job.connections)
      return { kind: 'held', streams: job.connections }
    case 'release':
      held?.close()
      held = undefined
      return { kind: 'held', streams: 0 }
  }
}

// The run that started this has gone: nobody is left to send jobs.
process.on('disconnect', () => process.exit())

process.on('message', (job: Job) => {
  perform(job)
    .catch((error): JobResult => ({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }))
    .then((result) => process.send?.(result))
})
