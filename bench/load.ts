// The load generator, a process of its own: jobs come in over IPC one at a time, results go back.

import autocannon from 'autocannon'
import type { Ask, Completeness, Job, JobResult, Load } from './job.ts'
import { holdStreams, readDelays, readSteady, readStreams } from './streams.ts'

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
