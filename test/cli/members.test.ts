// `members` on the data directory, and listed from a server.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { openTerminal, type Terminal } from './terminal.ts'

let terminal: Terminal
beforeEach(() => {
  terminal = openTerminal()
})
afterEach(() => terminal.close())
const type = (...words: string[]) => terminal.type('members', ...words)
const json = async (...words: string[]) => JSON.parse((await type(...words, '--json')).out)

test('an invitation is listed, and taken back', async () => {
  expect((await type('list')).out).toContain('There are no members')
  const link = await json('invite', 'Dara', '--url', 'https://gateway.example/')
  expect(link).toMatchObject({ name: 'Dara', role: 'member', expires_at: expect.any(String) })
  expect(link.url).toMatch(/^https:\/\/gateway\.example\/dashboard\/invite#\S+$/)
  expect(await json('list')).toMatchObject([{ name: 'Dara', status: 'invited', keys: 0 }])
  expect((await type('list')).out).toMatch(/Dara +member +invited until /)
  expect(await type('remove', 'dara')).toMatchObject({ code: 0, out: 'Dara is removed, and their keys are revoked.' })
  expect(await json('list')).toEqual([])
})

test.each([
  [['invite', 'Dara', '--role', 'owner'], 2, '--role: found "owner", allowed: member, admin'],
  [['invite', 'Dara', '--url', 'ftp://x'], 2, '--url: found "ftp://x"'],
  [['invite'], 2, 'Missing NAME'],
  [['remove', 'Nobody'], 1, 'There is no member "Nobody"'],
])('%j ends with %d', async (words, code, sentence) => {
  expect(await type(...words)).toMatchObject({ code, err: expect.stringContaining(sentence) })
})

test('a name is given once', async () => {
  await type('invite', 'Dara')
  expect((await type('invite', 'DARA')).code).toBe(2)
})

test("a server's members are changed in its dashboard alone", async () => {
  terminal.env.SLUICE_SERVER = 'http://127.0.0.1:1'
  for (const words of [
    ['invite', 'Dara'],
    ['remove', 'Dara'],
  ]) {
    expect(await type(...words)).toMatchObject({ code: 2, err: expect.stringContaining("use that server's dashboard") })
  }
})
