// A real PgBouncer for tests, which hands out connections by transactions; it ends with the test that has started it.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from './free-port.ts'
import { asOther } from './postgres.ts'

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find((path) =>
  existsSync(path),
)

/** Why there is none to test with; undefined where there is one. */
export const pgBouncerMissing: string | undefined =
  PROGRAM === undefined ? 'no PgBouncer: install the package pgbouncer' : undefined

if (pgBouncerMissing !== undefined) console.warn(`SKIPPED: tests behind PgBouncer (${pgBouncerMissing})`)

/** In front of the server at this port, for its superuser. `connections`: that it has to the server for each database. */
export const startPgBouncer = async (serverPort: number, connections: number) => {
  if (PROGRAM === undefined) throw new Error(pgBouncerMissing)
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bouncer-'))
  const port = freePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(join(folder, 'users.txt'), '"sluice" ""\n')
  const writeTo = (serverPort: number): Promise<void> =>
    writeFile(
      file,
      `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 500
server_login_retry = 1
logfile = ${join(folder, 'log')}
`,
    )
  await writeTo(serverPort)
  await chmod(folder, 0o755)
  if (asOther.uid !== undefined) await chown(folder, asOther.uid, asOther.gid)
  const child = spawn(PROGRAM, ['-q', file], { ...asOther, cwd: folder, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await listens(port)
  return {
    port,
    /** To another server, at this port. */
    async leadTo(serverPort: number) {
      await writeTo(serverPort)
      child.kill('SIGHUP')
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const listens = async (port: number): Promise<void> => {
  for (const until = performance.now() + 20_000; ; await Bun.sleep(20)) {
    const sql = new SQL(`postgres://sluice@127.0.0.1:${port}/postgres`, {
      max: 1,
      prepare: false,
      connectionTimeout: 5,
    })
    try {
      await sql`select 1`.simple()
      return
    } catch (cause) {
      if (performance.now() > until) throw cause
    } finally {
      await sql.close({ timeout: 0 })
    }
  }
}
