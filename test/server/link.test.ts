// A worker's connection to the owner of the books: what is asked is answered by its answer, and by nothing else.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Channel, listenAt } from '../../src/lib/channel.ts'
import { createLink } from '../../src/server/workers/link.ts'
import type { FromOwner, FromWorker } from '../../src/server/workers/messages.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

type Hears = (message: FromWorker, say: (message: FromOwner) => void, hangUp: () => void) => void

const linked = async (hears: Hears) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-link-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'books')
  const owner = listenAt(path, (channel: Channel) => ({
    heard: (message) => hears(message as FromWorker, (said) => channel.send(said), channel.close),
    closed: () => undefined,
  }))
  const heard: FromOwner[] = []
  const link = await createLink({
    ...{ path, heard: (message) => void heard.push(message) },
    hello: () => ({ what: 'hello', name: 'one', number: 1, running: [] }),
  })
  ends.push(owner.close, link.close)
  return { link, heard }
}

test('a question of the owner’s with the number of one that waits is no answer to it', async () => {
  const { link, heard } = await linked((message, say) => {
    if (message.what !== 'ask') return
    say({ what: 'how', n: message.n })
    say({ what: 'verdicts', n: message.n, verdicts: [{ lost: true }] })
  })
  for (let round = 0; round < 3; round++)
    expect(await link.carry([{ do: 'look', id: '', keyId: 'key_a' }])).toEqual([{ lost: true }])
  expect(heard).toEqual([0, 1, 2].map((n) => ({ what: 'how', n })))
})

test('what has to be kept is said to the next owner too, where one ends before it has answered', async () => {
  const answer = {
    id: 'resp_1',
    exchangeId: 'req_1',
    keyId: 'key_a',
    provider: 'p',
    account: 'a',
    model: 'm',
    createdAt: 1,
  }
  const kept: object[] = []
  const { link } = await linked((message, say, hangUp) => {
    if (message.what !== 'keep') return
    kept.push(message.answer)
    if (kept.length < 3) hangUp()
    else say({ what: 'done', n: message.n })
  })
  await link.insist((n) => ({ what: 'keep', n, answer }))
  expect(kept).toEqual([answer, answer, answer])
})

test('closed while a connection is being made, it leaves none open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-link-'))
  const path = join(folder, 'books')
  const { promise: second, resolve } = Promise.withResolvers<void>()
  let met = 0
  const owner = listenAt(path, (channel) => {
    const isSecond = ++met === 2
    return {
      // The first is hung up on when it asks.
      heard: (message) => void ((message as FromWorker).what === 'ask' && channel.close()),
      closed: () => void (isSecond && resolve()),
    }
  })
  ends.push(owner.close, () => rmSync(folder, { recursive: true, force: true }))
  const link = await createLink({
    ...{ path, heard: () => undefined },
    hello: () => ({ what: 'hello', name: 'one', number: 1, running: [] }),
  })
  // Its connection is lost, and another under way.
  expect(await link.ask((n) => ({ what: 'ask', n, group: [] }))).toBeUndefined()
  link.close()
  await second
  expect(link.isUp()).toBe(false)
})
