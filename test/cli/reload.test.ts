// `reload` asks the running server through its data directory, and tells what came of it.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runServer } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config.ts'
import { openTerminal, type Terminal } from './terminal.ts'

let terminal: Terminal
let stop: () => Promise<void>
const file = (yaml: string) => writeFileSync(join(terminal.cwd, 'sluice.yaml'), yaml)
const BASE = 'log: { level: silent }\n'

beforeEach(async () => {
  terminal = openTerminal({ SLUICE_PORT: '0' })
  file(BASE)
  const { env, cwd } = terminal
  const read = () => loadConfig({ flags: {}, env, cwd })
  const loaded = read()
  if (!loaded.ok) throw new Error('the configuration is wrong')
  let end: () => void = () => undefined
  const onStop = (listener: () => void) => {
    end = listener
    return () => undefined
  }
  const ready = Promise.withResolvers<void>()
  const io = { ...{ env, cwd, now: Date.now, out: () => undefined, err: () => undefined }, onStop }
  const ended = runServer(loaded.config, io, { ready: () => ready.resolve(), reread: read })
  await ready.promise
  stop = async () => {
    end()
    await ended
  }
})
afterEach(async () => {
  await stop()
  terminal.close()
})

test('what changed, what needs a restart and what is wrong are told', async () => {
  const type = () => terminal.type('reload', '--data', 'data')
  expect(await type()).toMatchObject({ code: 0, out: 'Nothing has changed.' })
  file(`${BASE}limits: { rpm: 7 }\n`)
  expect(await type()).toMatchObject({ code: 0, out: 'Changed: limits.rpm.' })
  delete terminal.env.SLUICE_PORT
  file(`${BASE}limits: { rpm: 7 }\nlisten: { port: 9 }\n`)
  expect((await type()).out).toBe('A restart is needed for: listen.')
  file(`${BASE}limits: { rpm: many }\n`)
  expect(await type()).toMatchObject({ code: 1, err: expect.stringContaining('limits.rpm: found "many"') })
  expect(await terminal.type('reload')).toMatchObject({ code: 1, err: expect.stringContaining('limits.rpm') })
  const { problems } = JSON.parse((await terminal.type('reload', '--data', 'data', '--json')).out)
  expect(problems).toHaveLength(1)
  expect(readdirSync(join(terminal.cwd, 'data')).filter((name) => name.startsWith('reload'))).toEqual([])
})

test('two who ask at once are both answered', async () => {
  const both = await Promise.all([terminal.type('reload'), terminal.type('reload')])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
})

test('what killed processes have left behind is removed, half a file too; what is new stays', async () => {
  const data = join(terminal.cwd, 'data')
  const left = (kind: string, at: Date): string => {
    const name = `reload-${randomUUID()}.${kind}`
    writeFileSync(join(data, name), '')
    utimesSync(join(data, name), at, at)
    return name
  }
  const kinds = ['request', 'answer', 'request.tmp', 'answer.tmp']
  for (const kind of kinds) left(kind, new Date(Date.now() - 3_600_000))
  const fresh = ['answer', 'request.tmp', 'answer.tmp'].map((kind) => left(kind, new Date()))
  // The second is answered once all was looked through for the first.
  for (let times = 0; times < 2; times++) expect(await terminal.type('reload')).toMatchObject({ code: 0 })
  expect(
    readdirSync(data)
      .filter((name) => name.startsWith('reload'))
      .sort(),
  ).toEqual(fresh.sort())
})

test('where there is no such directory, that is said', async () => {
  expect(await terminal.type('reload', '--data', 'nowhere')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no data directory'),
  })
})
