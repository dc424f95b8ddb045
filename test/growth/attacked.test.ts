// Several processes while everything happens to them at once: kills, a storm of reloads, an owner that stands still, workers by the
// dozen. What a client had whole is in the books, once, and nothing is left held.

import { describe, expect, test } from 'bun:test'
import { whyNotSeveral } from '../../src/server/workers/supervisor.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, streamed } from '../chaos/support/stories.ts'
import { gate, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import { begun, type Fleet, statusOf, until, watchLive } from './fleet.ts'
import { startOnFile } from './forms.ts'
import { endedOtherwise, requireBilled, startLoad, varied } from './load.ts'
import { COUNTS, kill, partOf, partsOf, processesOf } from './parts.ts'

const stopping = stopsAfterEach()

/** Streams of the model `slow` go on until the gate is opened; whatever else is asked for is answered at once. */
const start = async (workers: number) => {
  const over = gate()
  const vendor = stopping(
    await startScripted((request, index) =>
      request.text.includes('"slow"') ? streamed(CHAT, CHAT.word('hello'), over) : varied(request, index),
    ),
  )
  const providers = providersAt({ b: [vendor.origin] })
  const fleet = stopping(await startOnFile({ workers, providers, drain: '20s' }))
  const { child } = fleet.at(0)
  const allRun = (): Promise<void> =>
    until(async () => {
      if (partsOf(child).length !== processesOf(workers)) return false
      return (
        (
          await fleet
            .at(0)
            .admin('/state')
            .catch(() => undefined)
        )?.status === 200
      )
    })
  const slow = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        begun(fleet.at(0), fleet.secret, { messages: [{ role: 'user', content: 'slow' }], user: 'slow' }),
      ),
    )
  return { over, fleet, child, allRun, slow }
}

/** A reservation is there while its exchange is open, or its sums are not written. */
const nothingIsOpen = (fleet: Fleet): Promise<void> =>
  until(async () => (await fleet.reading.query('SELECT row FROM reservations')).length === 0)

/** What breaks off with its process, and what an owner that is gone refuses. */
const BROKEN = ['unreachable', 'cut', '503', 'failed']

describe.skipIf(whyNotSeveral() !== undefined).each(COUNTS)('%i processes that serve', (workers) => {
  test('lose nothing of what clients had whole while each of them is killed in turn, under load', async () => {
    const { fleet, child, allRun } = await start(workers)
    const sampler = sample(fleet.reading)
    const load = startLoad(fleet, { secrets: [fleet.secret], clients: 12 })
    for (const role of ['worker', 'owner', 'worker', 'owner']) {
      const before = load.done()
      await until(() => load.done() > before + 30)
      await kill(partOf(child, role))
      await allRun()
    }
    const before = load.done()
    await until(() => load.done() > before + 30)
    const tally = await load.stop()
    await nothingIsOpen(fleet)
    await sampler.sound()
    expect(endedOtherwise(tally, ...BROKEN)).toEqual([])
    requireBilled(tally, await fleet.books())
  })

  test('go on through a storm of reloads', async () => {
    const { fleet, child, over, slow } = await start(workers)
    const streams = await slow(8)
    const load = startLoad(fleet, { secrets: [fleet.secret], clients: 8 })
    for (let i = 0; i < 30; i++) {
      child.kill('SIGHUP')
      const before = load.done()
      await until(() => load.done() > before)
    }
    over.open()
    for (const { rest } of streams) expect(await rest).toContain('[DONE]')
    const tally = await load.stop()
    await nothingIsOpen(fleet)
    expect(endedOtherwise(tally)).toEqual([])
    requireBilled(tally, await fleet.books())
  })

  test('refuse while the one that keeps the books stands still, and go on with what they have', async () => {
    const { fleet, child, over, slow } = await start(workers)
    const streams = await slow(12)
    const load = startLoad(fleet, { secrets: [fleet.secret], clients: 12 })
    await until(() => load.done() > 20)
    const owner = partOf(child, 'owner')
    process.kill(owner.pid, 'SIGSTOP')
    await until(() => (load.tally.ends.get('503') ?? 0) > 0)
    process.kill(owner.pid, 'SIGCONT')
    const before = load.done()
    await until(() => load.done() > before + 20)
    expect(partOf(child, 'owner').pid).toBe(owner.pid)
    over.open()
    for (const { rest } of streams) expect(await rest).toContain('[DONE]')
    const tally = await load.stop()
    await nothingIsOpen(fleet)
    expect(endedOtherwise(tally, '503')).toEqual([])
    requireBilled(tally, await fleet.books())
  })

  test('tell figures and show exchanges of all of them, whichever is asked', async () => {
    const { fleet } = await start(workers)
    const { hears, leave } = await watchLive(fleet.at(0).url, fleet.token)
    await hears(/event: counters/)
    const load = startLoad(fleet, { secrets: [fleet.secret], clients: 6, each: 10 })
    const tally = await load.ended
    for (const id of tally.whole.keys()) await hears(new RegExp(id))
    leave()
    // One that is busy tells its own later.
    const served = async (): Promise<number> =>
      (await fleet.at(0).metrics())('sluice_requests_total{wire="chat-completions"')
    for (let i = 0; i < 2 * workers; i++) await until(async () => (await served()) === 60)
    requireBilled(tally, await fleet.books())
  })
})

describe.skipIf(whyNotSeveral() !== undefined)('many processes', () => {
  test.each([
    [8, 100],
    [3, 200],
  ])(
    '%i of them carry %i streams at once to their ends',
    async (workers, count) => {
      const { fleet, over, slow } = await start(workers)
      const streams = await slow(count)
      await until(async () => (await fleet.at(0).metrics())('sluice_open_exchanges ') === count)
      expect(await statusOf(fleet.at(0).ask(fleet.secret))).toBe(200)
      over.open()
      for (const { rest } of streams) expect(await rest).toContain('[DONE]')
      await nothingIsOpen(fleet)
      const rows = await fleet.books()
      expect(rows.filter(({ outcome }) => outcome === 'done')).toHaveLength(count + 1)
    },
    120_000,
  )
})
