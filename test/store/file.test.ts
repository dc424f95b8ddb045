// The database file: its migrations, what is refused and left as it was, copies out and back in.

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, describe, expect, mock, test } from 'bun:test'
import * as fs from 'node:fs'
import {
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createLedger } from '../../src/ledger/create.ts'
import { backupStore, restoreStore } from '../../src/store/sqlite/index.ts'
import { lockServer } from '../../src/store/sqlite/lock.ts'
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts'
import { watchFile } from '../../src/store/sqlite/same-file.ts'
import { isStoreError, type SqliteStore } from '../../src/store/store.ts'
import { ask, settlement } from '../ledger/support.ts'
import { until } from '../support/until.ts'
import { ACTOR, cleanUp, newKey, newPath, open } from './support.ts'

afterEach(cleanUp)

const refusalOf = async (run: () => unknown): Promise<string> => {
  try {
    await run()
  } catch (error) {
    if (isStoreError(error)) return error.message
    throw error
  }
  throw new Error('was not refused')
}
const sha = (path: string): string => new Bun.CryptoHasher('sha256').update(readFileSync(path)).digest('hex')

/** A closed database with some keys, enough for several pages. */
const filled = async (label = 'a key'): Promise<Promise<string>> => {
  const path = newPath()
  const store = open(path)
  for (let i = 0; i < 50; i++) await store.keys.issue(newKey({ label }), ACTOR)
  await store.close()
  return path
}
/** The last page that holds rows: a leaf of the audit, which opening a store would not read by itself. */
const spoil = (path: string): void => {
  const bytes = readFileSync(path)
  bytes.fill(0xa5, bytes.length - 4096, bytes.length - 2048)
  writeFileSync(path, bytes)
}

describe('migrations', () => {
  const folder = new URL('../../drizzle/', import.meta.url).pathname

  test('are the files of the folder, in order, each as it is', () => {
    const names = readdirSync(folder)
      .filter((name) => name.endsWith('.sql'))
      .sort()
    expect(MIGRATIONS.map(({ name }) => `${name}.sql`)).toEqual(names)
    for (const { name, sql } of MIGRATIONS) expect(sql).toBe(readFileSync(join(folder, `${name}.sql`), 'utf8'))
  })

  test('are applied once', async () => {
    const path = newPath()
    for (let i = 0; i < 3; i++) await open(path).close()
    const db = new Database(path)
    expect(db.query('SELECT name FROM migrations').values()).toEqual(MIGRATIONS.map(({ name }) => [name]))
    db.close()
  })

  test('a store that closes leaves one file, its log within', async () => {
    const path = await filled()
    expect(readdirSync(dirname(path))).toEqual(['sluice.db'])
  })

  test('create the folder of the database', () => {
    const path = join(dirname(newPath()), 'a', 'b', 'sluice.db')
    open(path)
    expect(existsSync(path)).toBe(true)
  })
})

describe('a file that cannot be used is refused in a sentence and left as it was', () => {
  test.each<[string, string, (path: string) => void]>([
    ['of a newer version', 'newer', (path) => edit(path, "INSERT INTO migrations VALUES (999, '9999_later', 0)")],
    ['with a migration unknown here', 'newer', (path) => edit(path, "UPDATE migrations SET name = 'other'")],
    ['that is no database', 'not a database', (path) => writeFileSync(path, 'hello, world\n'.repeat(1000))],
    ['shorter than a header', 'not a database', (path) => truncateSync(path, 50)],
    ['whose header is spoiled', 'not a database', (path) => overwrite(path, 0, 16)],
    ['whose schema is spoiled', 'damaged', (path) => overwrite(path, 100, 3000)],
    ['whose list of migrations is spoiled', 'damaged', (path) => overwrite(path, 5_000, 8_000, 0)],
    ['cut in half', 'damaged', (path) => truncateSync(path, statSync(path).size / 2)],
    ['cut by a few bytes', 'damaged', (path) => truncateSync(path, statSync(path).size - 10)],
    ['with a spoiled page', 'damaged', spoil],
    ['without one of its tables', 'lacks a table or a column', (path) => edit(path, 'DROP TABLE usage_days')],
  ])('a file %s', async (_what, reason, harm) => {
    const path = await filled()
    harm(path)
    const before = sha(path)
    const message = await refusalOf(() => open(path))
    expect(message).toContain(reason)
    expect(message).toContain(path)
    expect(sha(path)).toBe(before)
    expect(readdirSync(dirname(path))).toEqual(['sluice.db'])
  })

  test('a column that is gone is named as that, and not as damage', async () => {
    const path = newPath()
    const store = open(path)
    edit(path, 'ALTER TABLE keys DROP COLUMN rpm')
    const said = await refusalOf(() => store.keys.issue(newKey(), ACTOR))
    expect([said.includes('lacks a table or a column'), said.includes('damaged')]).toEqual([true, false])
  })

  test.each<[string, string, (path: string) => void]>([
    ['that is a folder', 'There is a folder', (path) => mkdirSync(path)],
    ['whose folder is a file', 'a file is in its place', (path) => writeFileSync(dirname(path), '')],
    ['that leads nowhere', 'let this user read and write', (path) => symlinkSync(`${path}.gone/x`, path)],
    ['that leads to itself', 'let this user read and write', (path) => symlinkSync(path, path)],
  ])('a path %s', async (_what, reason, harm) => {
    const path = join(dirname(newPath()), 'data', 'sluice.db')
    if (!reason.includes('in its place')) mkdirSync(dirname(path))
    harm(path)
    const message = await refusalOf(() => open(path))
    expect(message).toContain(reason)
    expect(message).toContain(path)
    expect(await refusalOf(() => backupStore(path, `${path}.copy`))).toContain(path)
  })

  test.each<[string, string, (lock: string) => void]>([
    ['cannot be opened', 'cannot be opened', (lock) => mkdirSync(lock)],
    ['is something else', 'delete it', (lock) => writeFileSync(lock, 'x'.repeat(5000))],
  ])('a lock file that %s, though no server holds it', async (_what, reason, harm) => {
    const path = await filled()
    harm(`${path}.lock`)
    const store = open(path)
    const message = await refusalOf(() => store.journal.claim(() => {}))
    expect(message).toContain(reason)
    expect(message).toContain(`${path}.lock`)
  })

  test.each(['notes (text)', 'migrations (id, version)'])('a database of another program, with %s', async (table) => {
    const path = newPath()
    edit(path, `CREATE TABLE ${table}`)
    const before = sha(path)
    expect(await refusalOf(() => open(path))).toContain('another program')
    expect(sha(path)).toBe(before)
  })

  test('a large file whose pages are not all read at start is still checked where a start reads', async () => {
    const path = await filled()
    edit(path, 'CREATE TABLE bulk (x); INSERT INTO bulk VALUES (zeroblob(20000000))')
    await open(path).close()
    truncateSync(path, statSync(path).size - 4096)
    expect(await refusalOf(() => open(path))).toContain('damaged')
  })
})

const edit = (path: string, sql: string): void => {
  const db = new Database(path)
  db.run(sql)
  db.close()
}
const overwrite = (path: string, from: number, to: number, byte = 0x5a): void => {
  const bytes = readFileSync(path)
  bytes.fill(byte, from, to)
  writeFileSync(path, bytes)
}

describe('backup and restore', () => {
  test('a backup of an open store restores to what it was then', async () => {
    const path = await filled('before')
    const file = join(dirname(path), 'copies', 'backup.db')
    const store = open(path)
    backupStore(path, file)
    await store.keys.issue(newKey({ label: 'after' }), ACTOR)
    await store.close()
    restoreStore(file, path)
    const restored = open(path)
    expect(restored.keys.list()).toHaveLength(50)
    expect(restored.keys.list().every((key) => key.label === 'before')).toBe(true)
    expect(open(`${path}.previous`).keys.list()).toHaveLength(51)
  })

  test('a backup restores where nothing was', async () => {
    const path = await filled()
    const file = `${path}.copy`
    open(path)
    backupStore(path, file)
    const target = join(dirname(newPath()), 'new', 'sluice.db')
    restoreStore(file, target)
    expect(open(target).keys.list()).toHaveLength(50)
  })

  test('are made where a system flushes only what is open for writing, as Windows does', async () => {
    const path = await filled()
    const file = `${path}.copy`
    const real = { ...fs }
    const readOnly = new Set<number>()
    await mock.module('node:fs', () => ({
      ...real,
      openSync(opened: string, flags: string, mode?: number) {
        const descriptor = real.openSync(opened, flags, mode)
        if (flags === 'r') readOnly.add(descriptor)
        else readOnly.delete(descriptor)
        return descriptor
      },
      fsyncSync(descriptor: number) {
        if (readOnly.has(descriptor)) throw Object.assign(new Error('EPERM: not permitted'), { code: 'EPERM' })
        real.fsyncSync(descriptor)
      },
    }))
    try {
      backupStore(path, file)
      restoreStore(file, path)
    } finally {
      await mock.module('node:fs', () => real)
    }
    expect(open(path).keys.list()).toHaveLength(50)
    expect(existsSync(`${path}.previous`)).toBe(true)
  })

  test('the log of the replaced database is not applied to the restored one', async () => {
    const path = await filled()
    const file = `${path}.copy`
    const other = open(path)
    backupStore(path, file)
    // The store stays open: its last change is in the log beside the file.
    await other.keys.issue(newKey({ label: 'in the log' }), ACTOR)
    restoreStore(file, path)
    const restored = open(path)
    expect(restored.keys.list()).toHaveLength(50)
  })

  test.each<[string, (path: string, file: string) => number]>([
    ['opened', (path) => open(path).keys.list().length],
    [
      'copied',
      (path, file) => {
        backupStore(path, `${file}.later`)
        return open(`${file}.later`).keys.list().length
      },
    ],
    [
      'replaced after all',
      (path, file) => {
        restoreStore(file, path)
        return open(`${path}.previous`).keys.list().length
      },
    ],
  ])('a database whose replacement was interrupted has its log when it is %s', async (_what, keysOf) => {
    const path = await filled()
    const file = `${path}.copy`
    backupStore(path, file)
    const writer = open(path)
    await writer.keys.issue(newKey({ label: 'in the log' }), ACTOR)
    const [main, log] = [readFileSync(path), readFileSync(`${path}-wal`)]
    await writer.close()
    writeFileSync(path, main)
    // As it is when the process is killed between the two renames.
    linkSync(path, `${path}.previous`)
    writeFileSync(`${path}.previous-wal`, log)
    expect(keysOf(path, file)).toBe(51)
  })

  const labelsOf = (path: string): string[] =>
    open(path)
      .keys.list()
      .map(({ label }) => label)
  /** A database as a kill leaves it that has no log yet: pages written, and what they were before beside it. */
  const cutOff = async (): Promise<string> => {
    const path = await filled()
    const db = new Database(path)
    db.run('PRAGMA journal_mode = DELETE')
    db.run('PRAGMA cache_size = 1')
    db.run("BEGIN; UPDATE keys SET label = 'half done'; UPDATE audit SET action = 'half done'")
    db.run('CREATE TABLE more AS SELECT randomblob(9000) FROM audit')
    const [main, journal] = [readFileSync(path), readFileSync(`${path}-journal`)]
    db.run('ROLLBACK')
    db.close()
    // The first page, which tells how many there are, is written before the last.
    main.writeUInt32BE(main.length / 4096 + 9, 28)
    writeFileSync(path, main)
    writeFileSync(`${path}-journal`, journal)
    return path
  }
  test.each<[string, (path: string) => string | Promise<string>]>([
    ['opened', (path) => path],
    [
      'copied',
      (path) => {
        backupStore(path, `${path}.copy`)
        return `${path}.copy`
      },
    ],
    [
      'replaced',
      async (path) => {
        restoreStore(await filled('restored'), path)
        expect(labelsOf(path)).toEqual(Array(50).fill('restored'))
        return `${path}.previous`
      },
    ],
  ])(
    'a database whose change was cut off before it had a log is as it was before when it is %s',
    async (_what, then) => {
      expect(labelsOf(await then(await cutOff()))).toEqual(Array(50).fill('a key'))
    },
  )

  test('the log of a database that was deleted is not applied to the one restored', async () => {
    const path = await filled()
    const writer = open(path)
    await writer.keys.issue(newKey({ label: 'in the log' }), ACTOR)
    const log = readFileSync(`${path}-wal`)
    await writer.close()
    rmSync(path)
    writeFileSync(`${path}-wal`, log)
    restoreStore(await filled('restored'), path)
    expect(existsSync(`${path}-wal`)).toBe(false)
    expect(labelsOf(path)).toEqual(Array(50).fill('restored'))
  })

  test('a backup never writes over a file', async () => {
    const path = await filled()
    const file = `${path}.copy`
    writeFileSync(file, 'mine')
    open(path)
    expect(await refusalOf(() => backupStore(path, file))).toContain('exists already')
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  test.skipIf(!existsSync('/proc/self'))('what keeps a copy from being made is said of the copy', async () => {
    const path = await filled()
    const said = (file: string) => refusalOf(() => backupStore(path, file))
    expect(await said('/proc/none/copy.db')).toBe(
      'The folder of the copy /proc/none/copy.db cannot be made; choose another place.',
    )
    expect(await said(`${path}/copy.db`)).toBe(
      `The copy ${path}/copy.db has no folder: a file is in its place; choose another place.`,
    )
    expect(await refusalOf(() => restoreStore(path, '/proc/none/sluice.db'))).toBe(
      'The folder of the database /proc/none/sluice.db cannot be made; choose another data directory with --data.',
    )
  })

  test('a damaged database gives no backup that looks whole', async () => {
    const path = await filled()
    open(path)
    spoil(path)
    const file = `${path}.copy`
    expect(() => backupStore(path, file)).toThrow()
    expect(existsSync(file)).toBe(false)
    expect(existsSync(`${file}.partial`)).toBe(false)
  })

  test.each<[string, string, (file: string) => void]>([
    ['damaged', 'damaged; restore a backup that is whole', spoil],
    ['newer', 'newer', (file) => edit(file, "INSERT INTO migrations VALUES (999, '9999_later', 0)")],
    ['missing', 'no backup', (file) => truncateSync(file, 0)],
    ['of another program', 'not a database', (file) => writeFileSync(file, 'x'.repeat(5000))],
    [
      'a folder',
      'no backup',
      (file) => {
        rmSync(file)
        mkdirSync(file)
      },
    ],
  ])('a backup that is %s is refused and the database kept', async (_what, reason, harm) => {
    const path = await filled()
    const file = await filled()
    harm(file)
    const before = sha(path)
    expect(await refusalOf(() => restoreStore(file, path))).toContain(reason)
    expect(sha(path)).toBe(before)
  })

  test('nothing is restored under a running server', async () => {
    const path = await filled()
    const file = `${path}.copy`
    const server = open(path)
    backupStore(path, file)
    server.journal.claim(() => {})
    expect(await refusalOf(() => restoreStore(file, path))).toContain('server is running')
    await server.close()
    restoreStore(file, path)
  })
})

test('the database, its log, lock and copies are readable by their owner alone, even in a folder open to all', async () => {
  const path = newPath()
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
  const store = open(path)
  await store.keys.issue(newKey(), ACTOR)
  backupStore(path, `${path}.copy`)
  store.journal.claim(() => {})
  const modes = ['', '-wal', '-shm', '.lock', '.copy'].map((end) => statSync(path + end).mode & 0o777)
  expect(modes).toEqual(Array(5).fill(0o600))
})

test.skipIf(process.getuid?.() !== 0)(
  'what root makes of a database is for the user whose it is, or whose folder',
  async () => {
    const [service, other] = [65_534, 65_533]
    const ownersOf = (path: string): number[] =>
      ['', '-wal', '-shm', '.lock'].flatMap((end) => statSync(path + end, { throwIfNoEntry: false })?.uid ?? [])
    const path = newPath()
    mkdirSync(dirname(path), { recursive: true })
    chownSync(dirname(path), service, service)
    const made = open(path)
    await made.keys.issue(newKey(), ACTOR)
    made.journal.claim(() => {})
    expect(ownersOf(path)).toEqual([service, service, service, service])
    const copy = newPath()
    backupStore(path, copy)
    expect(ownersOf(copy)).toEqual([0])
    await made.close()
    chownSync(path, other, other)
    restoreStore(copy, path)
    expect(ownersOf(path)).toEqual([other, service])
    rmSync(path)
    rmSync(`${path}.lock`)
    restoreStore(copy, path)
    expect(ownersOf(path)).toEqual([service, service])
  },
)

describe('the lock of the server', () => {
  /** Makes of a database what the version before the last migration had. */
  const undoLast = (path: string): void => {
    const last = MIGRATIONS.at(-1)
    if (last === undefined) throw new Error('no migrations')
    for (const [, table, column] of last.sql.matchAll(/ALTER TABLE `(\w+)` ADD `(\w+)`/g)) {
      edit(path, `ALTER TABLE ${table} DROP COLUMN ${column}`)
    }
    for (const [, table] of last.sql.matchAll(/CREATE TABLE `(\w+)`/g)) edit(path, `DROP TABLE ${table}`)
    for (const [, index] of last.sql.matchAll(/DROP INDEX `(\w+)`/g)) {
      const made = MIGRATIONS.flatMap(({ sql }) => new RegExp(`CREATE INDEX \`${index}\`[^;]*`).exec(sql) ?? [])
      edit(path, made.join(';'))
    }
    edit(path, `DELETE FROM migrations WHERE name = '${last.name}'`)
  }

  test('a second server on the same database is refused, the command line is not', async () => {
    const path = newPath()
    const server = open(path)
    server.journal.claim(() => {})
    const other = open(path)
    expect(await refusalOf(() => other.journal.claim(() => {}))).toContain('Another server is running')
    expect((await other.keys.issue(newKey(), ACTOR)).key.label).toBe('a key')
    await server.close()
    expect(other.journal.claim(() => {})).toEqual([])
  })

  test('a lock whose file is deleted is taken anew', async () => {
    const path = newPath()
    const server = open(path)
    server.journal.claim(() => {})
    server.watch(5)
    rmSync(`${path}.lock`)
    await until(() => existsSync(`${path}.lock`))
    const other = open(path)
    expect(await refusalOf(() => other.journal.claim(() => {}))).toContain('Another server is running')
    await server.probe()
    await server.close()
    expect(other.journal.claim(() => {})).toEqual([])
  })

  test('a server whose lock was deleted and taken by another takes no writes', async () => {
    const path = newPath()
    const server = open(path)
    server.journal.claim(() => {})
    rmSync(`${path}.lock`)
    const other = open(path)
    expect(other.journal.claim(() => {})).toEqual([])
    server.watch(5)
    const refused = () => {
      try {
        server.journal.write({ opened: [], progressed: [], settled: [] })
        return false
      } catch (error) {
        return String(error).includes('another server runs on it')
      }
    }
    await until(refused)
    // The other one has settled what this one had open.
    await other.close()
    await Bun.sleep(20)
    expect(refused()).toBe(true)
  })

  test('a database of an older version is not migrated under a running server, but can be copied', async () => {
    const path = await filled()
    undoLast(path)
    const before = sha(path)
    const unlock = lockServer(path)
    expect(await refusalOf(() => open(path))).toBe(
      `A server of an older version is running on ${path}; stop it first: this version changes the database when it opens it.`,
    )
    backupStore(path, `${path}.copy`)
    expect(sha(path)).toBe(before)
    unlock()
    const [now, copied] = [open(path), open(`${path}.copy`)]
    expect(copied.keys.list()).toEqual(now.keys.list())
    expect(now.keys.list()).toHaveLength(50)
    now.journal.claim(() => {})
  })

  test('an empty file is not copied as a database', async () => {
    const path = newPath()
    writeFileSync(path, '')
    expect(await refusalOf(() => backupStore(path, `${path}.copy`))).toBe(
      `The database ${path} is empty: there is nothing to copy.`,
    )
    expect(existsSync(`${path}.copy`)).toBe(false)
  })

  test('a database of an older version is migrated once by several commands that open it together', async () => {
    const path = await filled()
    undoLast(path)
    const script = `
      const { openStore } = await import(${JSON.stringify(new URL('../../src/store/sqlite/index.ts', import.meta.url).href)})
      console.write('.')
      for await (const _ of console) break
      openStore(${JSON.stringify(path)}).close()`
    const commands = Array.from({ length: 8 }, () =>
      Bun.spawn([process.execPath, '-e', script], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' }),
    )
    for (const { stdout } of commands) await stdout.getReader().read()
    for (const { stdin } of commands) {
      stdin.write('go\n')
      stdin.end()
    }
    const ends = await Promise.all(commands.map(async ({ exited, stderr }) => [await exited, await stderr.text()]))
    expect(ends).toEqual(ends.map(() => [0, '']))
    expect(open(path).keys.list()).toHaveLength(50)
  })

  test('a second server on the same database is refused by whatever link it comes', async () => {
    const path = newPath()
    open(path).journal.claim(() => {})
    symlinkSync(path, `${path}.link`)
    expect(await refusalOf(() => open(`${path}.link`).journal.claim(() => {}))).toContain(`running on ${path}`)
  })

  test.each(['the file', 'another link'])(
    'a second server is refused where the first made its database through a link to %s',
    async (to) => {
      const path = newPath()
      symlinkSync(basename(path), `${path}.link`)
      if (to === 'another link') symlinkSync(`${path}.link`, `${path}.other`)
      const link = to === 'another link' ? `${path}.other` : `${path}.link`
      open(link).journal.claim(() => {})
      for (const named of [link, path]) {
        expect(await refusalOf(() => open(named).journal.claim(() => {}))).toContain(`running on ${realpathSync(path)}`)
      }
      expect(statSync(path).mode & 0o077).toBe(0)
    },
  )

  test('a server that is killed leaves no lock behind', async () => {
    const path = newPath()
    const script = `
      import { openStore } from ${JSON.stringify(new URL('../../src/store/sqlite/index.ts', import.meta.url).pathname)}
      openStore(${JSON.stringify(path)}).journal.claim(() => {})
      console.log('locked')
      for await (const _ of Bun.stdin.stream()) {}`
    // The child ends with its standard input, however this process ends.
    const child = Bun.spawn(['bun', '-e', script], { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
    const other = open(path)
    try {
      const { value } = await child.stdout.getReader().read()
      expect(new TextDecoder().decode(value)).toContain('locked')
      expect(await refusalOf(() => other.journal.claim(() => {}))).toContain('Another server is running')
    } finally {
      child.kill('SIGKILL')
      await child.exited
    }
    expect(other.journal.claim(() => {})).toEqual([])
  })
})

describe('a file that a link leads to', () => {
  /** A file that is whole only together with its log, as a process killed within a checkpoint leaves it. */
  const halfCopied = async (): Promise<Promise<string>> => {
    const path = await filled()
    const writer = open(path)
    for (let i = 0; i < 50; i++) await writer.keys.issue(newKey({ label: 'in the log' }), ACTOR)
    const log = readFileSync(`${path}-wal`)
    await writer.close()
    spoil(path)
    writeFileSync(`${path}-wal`, log)
    return path
  }

  test('is opened and copied with its log', async () => {
    const path = await halfCopied()
    const link = join(dirname(newPath()), 'link.db')
    symlinkSync(path, link)
    backupStore(link, `${link}.copy`)
    expect(open(`${link}.copy`).keys.list()).toHaveLength(100)
    expect(open(link).keys.list()).toHaveLength(100)
  })

  test('is replaced where it is', async () => {
    const [path, copy] = [await filled('before'), await filled('after')]
    const link = join(dirname(newPath()), 'link.db')
    symlinkSync(path, link)
    restoreStore(copy, link)
    expect(open(path).keys.list()[0]?.label).toBe('after')
    expect(open(`${path}.previous`).keys.list()[0]?.label).toBe('before')
  })
})

describe('a file that is no longer at its path', () => {
  /** Resolves once trying to write has the outcome. */
  const writing = (store: SqliteStore) => async (holds: (outcome: unknown) => boolean) => {
    const attempt = async (): Promise<Promise<unknown>> => {
      try {
        await store.keys.issue(newKey(), ACTOR)
        store.journal.write({ opened: [], progressed: [], settled: [] })
        return store.probe()
      } catch (error) {
        return error
      }
    }
    await until(async () => holds(await attempt()))
  }

  test.each<[string, (path: string) => void]>([
    ['deleted', () => undefined],
    ['replaced', (path) => copyFileSync(`${path}.kept`, path)],
  ])('because it was %s takes no writes until it is back', async (_what, then) => {
    const path = newPath()
    const store = open(path)
    const unwatch = store.watch(5)
    renameSync(path, `${path}.kept`)
    then(path)
    const until = writing(store)
    await until((outcome) => String(outcome).includes('deleted or replaced'))
    expect(await refusalOf(() => store.probe())).toContain(path)
    expect(await refusalOf(() => store.journal.write({ opened: [], progressed: [], settled: [] }))).toContain(path)
    renameSync(`${path}.kept`, path)
    await until((outcome) => outcome === undefined)
    unwatch()
  })

  test.each(['-wal', '-shm'])('nor is its log takes no writes, where %s was deleted, until it is back', async (end) => {
    const path = newPath()
    const store = open(path)
    const unwatch = store.watch(5)
    const until = writing(store)
    renameSync(`${path}${end}`, `${path}.kept`)
    await until((outcome) => String(outcome).includes('log of the database'))
    expect(await refusalOf(() => store.probe())).toContain(path)
    renameSync(`${path}.kept`, `${path}${end}`)
    await until((outcome) => outcome === undefined)
    unwatch()
  })

  test('nor is its log loses nothing, once it was closed', async () => {
    const path = newPath()
    const store = open(path)
    store.watch(5)
    const until = writing(store)
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`)
    await until((outcome) => String(outcome).includes('log of the database'))
    const kept = store.keys.list().length
    await store.close()
    expect(open(path).keys.list()).toHaveLength(kept)
  })

  test('because a backup was written over it takes no writes, even once its log went into the copy', async () => {
    const path = newPath()
    const store = open(path)
    const unwatch = store.watch(5)
    backupStore(path, `${path}.copy`)
    await store.keys.issue(newKey(), ACTOR)
    copyFileSync(`${path}.copy`, path)
    const isRefused = (outcome: unknown) => String(outcome).includes('deleted or replaced')
    await writing(store)(isRefused)
    edit(path, 'PRAGMA wal_checkpoint')
    await Bun.sleep(50)
    expect(await refusalOf(() => store.probe())).toContain(path)
    expect(await refusalOf(() => store.prune(0, 1))).toContain(path)
    unwatch()
  })

  const watched = (path: string) => {
    const db = new Database(path)
    const version = db.query<{ schema_version: number }, []>('PRAGMA schema_version')
    const file = watchFile(path, () => version.get()?.schema_version ?? 0)
    return {
      holds: file.holds,
      close: () => {
        file.close()
        db.close()
      },
    }
  }

  test.each<[string, (path: string, copy: string) => void]>([
    ['a backup', (path, copy) => backupStore(path, copy)],
    ['an older copy of itself', (path, copy) => copyFileSync(path, copy)],
    ['half of its beginning', (path, copy) => writeFileSync(copy, readFileSync(path).subarray(0, 50))],
    ['something else', (_, copy) => writeFileSync(copy, 'x'.repeat(10_000))],
  ])('is told by its beginning where it was overwritten with %s', async (_what, make) => {
    const path = newPath()
    await open(path).close()
    make(path, `${path}.copy`)
    const store = open(path)
    const file = watched(path)
    expect(file.holds()).toBe(true)
    for (let i = 0; i < 200; i++) await store.keys.issue(newKey({ label: 'x'.repeat(100) }), ACTOR)
    const other = new Database(path)
    other.run('PRAGMA wal_checkpoint')
    other.close()
    expect(file.holds()).toBe(true)
    copyFileSync(`${path}.copy`, path)
    expect([file.holds(), file.holds()]).toEqual([false, false])
    file.close()
  })

  test('is not missed because other programs write to it, change its schema and clear it up', async () => {
    const path = newPath()
    const store = open(path)
    const file = watched(path)
    const other = new Database(path)
    for (const sql of [
      'CREATE TABLE theirs AS SELECT randomblob(100000) AS x',
      'PRAGMA wal_checkpoint',
      'DROP TABLE theirs',
      'VACUUM',
      'PRAGMA wal_checkpoint(TRUNCATE)',
    ]) {
      other.run(sql)
      await store.keys.issue(newKey(), ACTOR)
      expect([sql, file.holds()]).toEqual([sql, true])
    }
    file.close()
    other.close()
  })

  test('is not missed where SQLite gives free pages back', async () => {
    const path = await filled()
    edit(path, 'PRAGMA auto_vacuum = FULL; VACUUM')
    const file = watched(path)
    expect(file.holds()).toBe(true)
    const pages = statSync(path).size
    edit(path, 'DELETE FROM audit; PRAGMA wal_checkpoint(TRUNCATE)')
    expect(statSync(path).size).toBeLessThan(pages)
    expect(file.holds()).toBe(true)
    file.close()
  })
})

describe('a full disk', () => {
  const mount = (size: string): string | undefined => {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
    const folder = mkdtempSync(join(tmpdir(), 'sluice-full-'))
    if (Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).exitCode === 0) return folder
    rmSync(folder, { recursive: true })
    return undefined
  }
  const disks = [mount('1m'), mount('6m')]
  const [disk, small] = disks
  afterAll(() => {
    for (const one of disks) {
      if (one === undefined) continue
      Bun.spawnSync(['umount', '-l', one])
      rmSync(one, { recursive: true, force: true })
    }
  })

  test.skipIf(small === undefined)(
    'is never filled by the log: exchanges are refused before, end all the same, and are taken again when no reader holds it',
    async () => {
      const path = join(small ?? '', 'sluice.db')
      const store = open(path)
      const { key } = await store.keys.issue(newKey({ tokensTotal: 1e12 }), ACTOR)
      const ledger = createLedger({ store, clock: Date.now, prices: () => () => undefined })
      const reader = new Database(path, { readonly: true })
      reader.run('BEGIN')
      reader.query('SELECT count(*) FROM keys').get()
      const pair = async () => ledger.settle(await ledger.reserve(ask(key)), settlement())
      const held = await ledger.reserve(ask(key))
      let refused: unknown
      for (let i = 0; i < 2_000 && refused === undefined; i++) {
        const group = await Promise.allSettled(Array.from({ length: 20 }, pair))
        refused = group.find((one) => one.status === 'rejected')?.reason
      }
      expect(refused).toMatchObject({ code: 'service_unavailable', cause: { name: 'StoreError' } })
      expect(ledger.isStuck()).toBe(true)
      ledger.settle(held, settlement())
      await ledger.flush()
      reader.run('COMMIT')
      reader.close()
      await until(() => !ledger.isStuck())
      await pair()
      await ledger.flush()
      await store.close()
      const again = open(path)
      expect((await again.exchanges({ limit: 1_000_000 })).some((row) => row.endedAt === null)).toBe(false)
      createLedger({ store: again, clock: Date.now, prices: () => () => undefined })
    },
    120_000,
  )

  test.skipIf(disk === undefined)(
    'is named where a change or a copy finds it, and changes go on once there is room',
    async () => {
      const path = join(disk ?? '', 'sluice.db')
      const store = open(path)
      const large = newPath()
      const elsewhere = open(large)
      const many = async (of: typeof store) => {
        for (let i = 0; i < 2_000; i++) await of.keys.issue(newKey({ label: 'x'.repeat(100) }), ACTOR)
      }
      expect(await refusalOf(() => many(store))).toBe(
        `The disk of the database ${path} is full; make room and try again.`,
      )
      const kept = store.keys.list().length
      await many(elsewhere)
      const copy = join(disk ?? '', 'copy.db')
      expect(await refusalOf(() => backupStore(large, copy))).toContain(`${copy} is full`)
      expect(readdirSync(disk ?? '').filter((name) => name.startsWith('copy'))).toEqual([])
      const { id: keyId } = store.keys.list()[0] ?? { id: '' }
      store.journal.claim(() => {})
      const reserve = () => {
        for (let i = 0; i < 2_000; i++) {
          const open = { row: 0, exchangeId: `e${i}`, keyId, model: 'm', wire: 'messages', stream: false } as const
          store.journal.write({
            opened: [{ ...open, startedAt: 0, inputEstimate: 0, reserved: 0, reservedMicroUsd: 0, budgets: [] }],
            progressed: [],
            settled: [],
          })
        }
      }
      expect(await refusalOf(reserve)).toBe(`The disk of the database ${path} is full; make room and try again.`)
      Bun.spawnSync(['mount', '-o', 'remount,size=8m', disk ?? ''])
      await store.keys.issue(newKey(), ACTOR)
      expect(store.keys.list()).toHaveLength(kept + 1)
      await store.close()
      expect(open(path).keys.list()).toHaveLength(kept + 1)
    },
  )
})
