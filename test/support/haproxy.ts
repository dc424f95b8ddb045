// A real HAProxy for tests: the program of this machine, with a configuration as it stands in a file.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PROGRAM = Bun.which('haproxy')

/** Why there is no HAProxy to test with; undefined where there is one. */
export const haproxyMissing: string | undefined = PROGRAM === null ? 'no haproxy on PATH' : undefined

if (haproxyMissing !== undefined) console.warn(`SKIPPED: tests behind HAProxy (${haproxyMissing})`)

export type Haproxy = {
  pid: number
  /** How it counts each server, by its name: `UP`, `DOWN`, `UP 1/2` and the like. */
  states(): Promise<Record<string, string>>
  stop(): Promise<void>
}

/** Resolves once it listens. */
export const startHaproxy = async (configuration: string): Promise<Haproxy> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-haproxy-'))
  const [file, more, socket] = ['haproxy.cfg', 'more.cfg', 'socket'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(file, configuration)
  writeFileSync(more, `global\n  stats socket ${socket} mode 600\n`)
  const child = Bun.spawn([PROGRAM ?? 'haproxy', '-db', '-f', file, '-f', more], {
    ...{ cwd: folder, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  })
  let hasEnded = false
  const said = new Response(child.stderr).text()
  void child.exited.then(() => {
    hasEnded = true
  })
  for (;;) {
    if (hasEnded) throw new Error(`haproxy ended: ${await said}`)
    if ((await ask(socket, 'show info\n').catch(() => '')) !== '') break
    await Bun.sleep(20)
  }
  return {
    pid: child.pid,
    async states() {
      const [head = '', ...rows] = (await ask(socket, 'show stat\n')).split('\n')
      const names = head.replace(/^# /, '').split(',')
      const [server, status] = [names.indexOf('svname'), names.indexOf('status')]
      const cells = rows.map((row) => row.split(','))
      return Object.fromEntries(cells.map((row) => [row[server] ?? '', row[status] ?? '']))
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What it says on its socket for operators. */
const ask = (path: string, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(path, () => socket.end(command))
    socket.on('data', (data) => {
      text += data.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
