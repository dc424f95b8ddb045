// Messages between processes: whole, in order, both ways, and an end that both sides hear of.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Channel, connectTo, listenAt } from '../../src/lib/channel.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

const pathOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-channel-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'socket')
}

/** One that answers with what it hears. */
const echo = (path: string, closed: () => void = () => undefined): void => {
  const server = listenAt(path, (channel) => ({ heard: (message) => channel.send(message), closed }))
  ends.push(server.close)
}

const connect = async (path: string, heard: (message: unknown) => void, closed: () => void = () => undefined) => {
  let made: Channel | undefined
  await connectTo(path, (channel) => {
    made = channel
    return { heard, closed }
  })
  if (made === undefined) throw new Error('nobody was met')
  return made
}

test('messages of any size and any text come whole and in order', async () => {
  const path = pathOf()
  echo(path)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), { minLength: 1 }),
      async (messages) => {
        const back: unknown[] = []
        const { promise, resolve } = Promise.withResolvers<void>()
        const channel = await connect(path, (message) => {
          back.push(message)
          if (back.length === messages.length) resolve()
        })
        for (const message of messages) channel.send(message)
        await promise
        expect(back).toEqual(messages)
        channel.close()
      },
    ),
    { numRuns: 50 },
  )
})

test('what is larger than a socket holds waits for the other side, and none of it is lost', async () => {
  const path = pathOf()
  echo(path)
  const texts = ['é'.repeat(3_000_000), 'x', 'ß'.repeat(2_000_001)]
  const back: unknown[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const channel = await connect(path, (message) => {
    back.push(message)
    if (back.length === texts.length) resolve()
  })
  for (const text of texts) channel.send(text)
  await promise
  expect(back.map((text) => String(text).length)).toEqual(texts.map((text) => text.length))
  expect(back).toEqual(texts)
  expect(channel.waiting()).toBe(0)
})

test('the end is heard on both sides, once, and nothing is sent after it', async () => {
  const path = pathOf()
  const there = Promise.withResolvers<void>()
  echo(path, there.resolve)
  let count = 0
  const here = Promise.withResolvers<void>()
  const channel = await connect(
    path,
    () => undefined,
    () => {
      count++
      here.resolve()
    },
  )
  channel.close()
  await Promise.all([there.promise, here.promise])
  channel.send('too late')
  expect(count).toBe(1)
})

test('nobody at the path is told at once', async () => {
  await expect(connect(pathOf(), () => undefined)).rejects.toThrow()
})
