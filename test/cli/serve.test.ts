// `serve` from its start to its stop, and commands as processes among others.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fewDescriptors } from '../../src/cli/serve.ts'
import { DIRECTIVES } from '../../src/demo/index.ts'
import { whyNotSeveral } from '../../src/server/workers/supervisor.ts'
import { type Child, endAll, familyOf, launch as launchIn, MAIN } from '../binary/support/process.ts'
import { until } from '../support/until.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-serve-'))
})
afterEach(async () => {
  await endAll()
  rmSync(cwd, { recursive: true, force: true })
})

const ROOT = join(import.meta.dir, '..', '..')

const launch = (words: string[], env: Record<string, string> = {}): Child =>
  launchIn([process.execPath, MAIN], words, cwd, env)

/** The URL of both of a server's addresses, once it prints them. */
const ready = async (server: Child): Promise<string> => {
  const url = await server.ready()
  expect(await server.says(/^Dashboard\s+(\S+)\/dashboard$/)).toBe(url)
  return url
}

const json = async (words: string[]) => {
  const child = launch([...words, '--json'])
  expect(await child.exited).toBe(0)
  return JSON.parse(await child.out)
}

test.each<[number, number | undefined, string | undefined]>([
  [0, undefined, undefined],
  [0, 1_024, undefined],
  [0, 256, '1024 are needed: raise "ulimit -n" (LimitNOFILE)'],
  [400, 1_024, undefined],
  [500, 1_024, '1064 are needed: raise "ulimit -n" (LimitNOFILE), or lower max_open_exchanges'],
])('with max_open_exchanges %p and %p descriptors a start warns: %p', (most, limit, needed) => {
  const said = fewDescriptors(most, limit)
  if (needed === undefined) expect(said).toBeUndefined()
  else expect(said).toBe(`this process may open ${limit} files and connections; ${needed}`)
})

describe('serve, asked while it starts', () => {
  test.skipIf(whyNotSeveral() !== undefined)('to read its configuration again, begins all its processes', async () => {
    const server = launch(['serve', '--port', '0', '--workers', '2'])
    await until(() => familyOf(server.pid).length > 1)
    server.kill('SIGHUP')
    await server.ready()
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
  })

  test('twice to stop, waits for no store that does not answer', async () => {
    const asked = Promise.withResolvers<void>()
    const silent = createServer(() => asked.resolve())
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
    const { port } = silent.address() as AddressInfo
    const server = launch(['serve', '--port', '0'], { SLUICE_STORE: `postgres://sluice@127.0.0.1:${port}/sluice` })
    await asked.promise
    // The system may make one signal of two that are the same.
    server.kill('SIGTERM')
    server.kill('SIGINT')
    expect(await server.exited).toBe(1)
    // It would have said so once it had waited in vain.
    expect(await server.err).toBe('')
    silent.close()
  })
})

describe('serve', () => {
  test('prints its two URLs once, answers, and ends with 0 on SIGTERM', async () => {
    const server = launch(['serve', '--port', '0'])
    const url = await ready(server)
    expect((await fetch(`${url}/v1`)).status).toBe(200)
    expect(existsSync(join(cwd, 'data', 'sluice.db'))).toBe(true)
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    expect((await server.err).match(/^(API|Dashboard)\s/gm)).toHaveLength(2)
    expect(await server.out).toBe('')
  })

  test.skipIf(process.platform === 'win32')('goes on at signals that ask other servers for a new log', async () => {
    const server = launch(['serve', '--port', '0'])
    const url = await ready(server)
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) server.kill(signal)
    expect((await fetch(`${url}/v1`)).status).toBe(200)
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
  })

  test('has a key that the command line makes, changes or revokes in force without being asked to', async () => {
    const server = launch(['serve', '--port', '0'])
    const url = await ready(server)
    const { id, key } = await json(['keys', 'create', '--label', 'late'])
    const usage = () => fetch(`${url}/v1/usage`, { headers: { 'x-api-key': key } })
    await until(async () => (await usage()).status === 200)
    await json(['keys', 'update', id, '--tokens', '77'])
    await until(async () => (await (await usage()).text()).includes('"tokens_total":77'))
    await json(['keys', 'revoke', id])
    await until(async () => (await usage()).status === 401)
  })

  test('waits for a request in flight when asked to stop, and ends at once when asked again', async () => {
    const asked = Promise.withResolvers<void>()
    const silent = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
      fetch: () => {
        asked.resolve()
        return new Promise<Response>(() => undefined)
      },
    })
    try {
      const { key } = await json(['keys', 'create', '--label', 'held'])
      const env = { VENDOR_B_BASE_URL: `http://127.0.0.1:${silent.port}/v1`, VENDOR_B_API_KEY: 'k' }
      const server = launch(['serve', '--port', '0'], env)
      const url = await ready(server)
      const answer = fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'x-api-key': key },
        body: JSON.stringify({ model: 'vendorB-4o', messages: [{ role: 'user', content: 'hi' }] }),
      }).then(
        () => 'answered',
        () => 'cut',
      )
      await asked.promise
      server.kill('SIGTERM')
      // It takes no new connection, so it is stopping; the one in flight keeps it alive.
      const refused = () =>
        fetch(`${url}/v1`).then(
          () => false,
          () => true,
        )
      while (!(await refused()));
      expect(await Promise.race([server.exited, 'running'])).toBe('running')
      server.kill('SIGTERM')
      expect(await server.exited).toBe(1)
      expect(await answer).toBe('cut')
    } finally {
      await silent.stop(true)
    }
  })

  test('does not start on a wrong configuration: 2 and every problem', async () => {
    await Bun.write(join(cwd, 'wrong.yaml'), 'listen: { prt: 1 }\nlimits: { rpm: fast }\n')
    const server = launch(['serve', '--config', 'wrong.yaml', '--port', '0'])
    expect([await server.exited, await server.out]).toEqual([2, ''])
    expect((await server.err).split('\n')).toEqual([
      'wrong.yaml: listen.prt: unknown member, did you mean "port"? Allowed: host, port',
      'wrong.yaml: limits.rpm: found "fast", allowed: a whole number of 0 or more',
    ])
  })

  test('does not start twice on one data directory, nor on a port in use: 1 and a sentence', async () => {
    const server = launch(['serve', '--port', '0'])
    const { port } = new URL(await ready(server))
    const twice = launch(['serve', '--port', '0'])
    expect(await twice.exited).toBe(1)
    expect(await twice.err).toContain('Another server is running')
    const taken = launch(['serve', '--port', port, '--data', 'other'])
    expect(await taken.exited).toBe(1)
    for (const { err } of [twice, taken]) expect(await err).not.toContain('fault of sluice')
    expect((await taken.err).split('\n').at(-1)).toBe(
      `Port ${port} of 127.0.0.1 is in use: stop what listens there, or choose another with --port.`,
    )
  })

  test.skipIf(!existsSync('/proc/self')).each([
    [
      ['--host', '256.1.1.1'],
      '256.1.1.1 is not an address of this machine: choose another with --host, 0.0.0.0 for all of them.',
    ],
    [
      ['--data', '/dev/null/deep/data'],
      'The database /dev/null/deep/data/sluice.db has no folder: a file is in its place; choose another data directory with --data.',
    ],
    [
      ['--data', '/proc/none'],
      'The folder of the database /proc/none/sluice.db cannot be made; choose another data directory with --data.',
    ],
  ])(
    'what it cannot have ends the start with 1 and what to do: %j',
    async (words, sentence) => {
      const server = launch(['serve', '--port', '0', ...words])
      expect(await server.exited).toBe(1)
      expect((await server.err).split('\n').at(-1)).toBe(sentence)
    },
    120_000,
  )
})

test.skipIf(Bun.which('curl') === null || Bun.which('sh') === null)(
  'demo needs no account, prints commands that work as they stand, and leaves nothing behind',
  async () => {
    // What this machine's environment and file say must not reach the demo.
    await Bun.write(join(cwd, 'sluice.yaml'), 'listen: { port: wrong }')
    const env = { VENDOR_A_BASE_URL: 'http://nowhere.invalid', SLUICE_CONFIG: 'none.yaml' }
    const demo = launch(['demo', '--port', '0'], env)
    const url = await ready(demo)
    const printed = await demo.printed(/Press Ctrl-C/)
    const commands = printed.split('\n\n').filter((block) => block.startsWith('# '))
    for (const path of ['chat/completions', 'responses', 'messages', 'images/generations', 'models', 'usage']) {
      expect(printed).toContain(`${url}/v1/${path} `)
    }
    const answers = await Promise.all(
      commands.map(async (command) => {
        const child = Bun.spawn(['sh', '-c', command], { cwd, stdout: 'pipe', stderr: 'ignore' })
        return [command.split('\n')[0], await new Response(child.stdout).text(), await child.exited] as const
      }),
    )
    for (const [title, answer, code] of answers) {
      expect([title, code]).toEqual([title, 0])
      expect(answer.includes('event: error\ndata: {"type":"error","error":{')).toBe(title?.includes('breaks') === true)
      expect(answer.includes('"error":{')).toBe(title?.includes('breaks') === true)
      if (title === '# An image') continue
      expect([title, answer]).toEqual([
        title,
        expect.stringMatching(title?.includes('streamed') ? /^(event|data): / : /^\{/),
      ])
    }
    for (const name of Object.keys(DIRECTIVES)) expect(printed).toContain(`  [[${name}]] `)
    const image = new Uint8Array(await Bun.file(join(cwd, 'image.png')).arrayBuffer())
    expect([...image.slice(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47])
    demo.kill('SIGINT')
    expect(await demo.exited).toBe(0)
    expect([...new Bun.Glob('sluice-demo-*').scanSync({ cwd, onlyFiles: false })]).toEqual([])
  },
  120_000,
)

test.skipIf(process.platform === 'win32')(
  'demo on a terminal fills one screen, writes no log there, and ends quietly at Ctrl-C',
  async () => {
    let screen = ''
    let grown = Promise.withResolvers<void>()
    const child = Bun.spawn([process.execPath, join(ROOT, 'scripts', 'demo.ts'), '--port', '0'], {
      cwd,
      env: { PATH: process.env.PATH ?? '', TMPDIR: cwd },
      terminal: {
        cols: COLUMNS,
        rows: ROWS,
        data: (_terminal, bytes) => {
          screen += Buffer.from(bytes).toString()
          grown.resolve()
          grown = Promise.withResolvers()
        },
      },
    })
    while (!screen.includes('Ctrl-C')) await grown.promise
    const shown = screen.slice(screen.indexOf('\r\nsluice demo:'))
    const rows = shown.split('\r\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / COLUMNS)), 0)
    expect(rows).toBeLessThanOrEqual(ROWS)
    const [, command = ''] = /(curl[\s\S]*?)\r\n\r\n/.exec(shown) ?? []
    const asked = Bun.spawn(['sh', '-c', command.replaceAll('\r\n', '\n')], { stdout: 'pipe', stderr: 'ignore' })
    expect(await new Response(asked.stdout).json()).toMatchObject({ object: 'chat.completion' })
    const [, link = ''] = /^Dashboard +(\S+)/m.exec(shown) ?? []
    expect((await fetch(link)).status).toBe(200)
    const before = screen.length
    child.terminal?.write('\x03')
    expect(await child.exited).toBe(0)
    expect(screen.slice(before).replace('^C', '').trim()).toBe('')
    expect([...new Bun.Glob('sluice-demo-*').scanSync({ cwd, onlyFiles: false })]).toEqual([])
  },
  120_000,
)
const COLUMNS = 80
const ROWS = 24

test('demo reads no file where its data is kept, and leaves the data', async () => {
  await Bun.write(join(cwd, 'sluice.yaml'), 'listen: { port: wrong }')
  const demo = launch(['demo', '--port', '0', '--data', '.'])
  await ready(demo)
  demo.kill('SIGINT')
  expect(await demo.exited).toBe(0)
  expect(existsSync(join(cwd, 'sluice.db'))).toBe(true)
})

test.each([{}, { no_proxy: 'example.test' }, { NO_PROXY: 'example.test' }])(
  'a proxy of the environment is asked for nothing on this machine (%j)',
  async (lists) => {
    // Nobody listens there.
    const env = { HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: 'http://127.0.0.1:1', ...lists }
    const demo = launch(['demo', '--port', '0'], env)
    const url = await ready(demo)
    const [, key = ''] = /^Key +(\S+)$/m.exec(await demo.printed(/^Key/)) ?? []
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify({ model: 'auto', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(answer.status).toBe(200)
    const remote = launch(['keys', 'list', '--server', url, '--token', 'none'], env)
    expect(await remote.err).toStartWith('The server refuses the token')
  },
  120_000,
)

test('what a reader pipes away early does not make a command fail', async () => {
  const child = Bun.spawn(['sh', '-c', `"${process.execPath}" "${MAIN}" config schema | head -c 1`], {
    ...{ cwd, stdout: 'pipe', stderr: 'pipe' },
  })
  expect(await child.exited).toBe(0)
  expect(await new Response(child.stdout).text()).toBe('{')
  expect(await new Response(child.stderr).text()).toBe('')
})

test.skipIf(!existsSync('/dev/full'))(
  'a note that a full disk does not take does not make a command fail',
  async () => {
    const words = 'keys create --label a --tokens 5'
    const child = Bun.spawn(['sh', '-c', `"${process.execPath}" "${MAIN}" ${words} 2>/dev/full`], {
      cwd,
      stdout: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toContain('sk-sl-')
    expect(await child.exited).toBe(0)
  },
)
