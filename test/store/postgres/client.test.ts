// The client of PostgreSQL against a real server: what comes back, and what is known of a statement that failed.

import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '../../../src/store/postgres/client.ts'
import { isPostgresError, type PostgresError } from '../../../src/store/postgres/trouble.ts'
import { isBusy, isStoreError } from '../../../src/store/store.ts'
import { pgBouncerMissing, startPgBouncer } from '../../support/pgbouncer.ts'
import { postgresMissing, startPostgres, type TestDatabase, testPostgres } from '../../support/postgres.ts'
import { createProxy, through } from '../../support/proxy.ts'
import { SELF_SIGNED } from '../../support/self-signed.ts'
import { until } from '../../support/until.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const newDatabase = async (): Promise<TestDatabase> => {
  const database = await (await testPostgres()).database()
  ends.push(database.drop)
  return database
}
const clientOf = (url: string, options?: Parameters<typeof createClient>[1]): Client => {
  const client = createClient(url, options)
  ends.push(client.close)
  return client
}
const newClient = async (query = '', options?: Parameters<typeof createClient>[1]): Promise<Client> =>
  clientOf((await newDatabase()).url + query, options)

const errorOf = async (promise: Promise<unknown>): Promise<PostgresError> => {
  try {
    await promise
  } catch (error) {
    if (isPostgresError(error)) return error
    throw error
  }
  throw new Error('it did not fail')
}
const troubleOf = async (promise: Promise<unknown>) => (await errorOf(promise)).trouble
/** Of what is asked with a short deadline, so that it is tried once: again where a busy machine has not answered by then. */
const heardOf = async (ask: () => Promise<unknown>): Promise<PostgresError> => {
  const error = await errorOf(ask())
  return error.trouble === 'unknown' ? heardOf(ask) : error
}

describe.skipIf(postgresMissing !== undefined)('a client of PostgreSQL', () => {
  describe('values', () => {
    for (const query of ['', '?prepare=false'])
      test(`whole numbers are numbers, alone, summed and in arrays${query}`, async () => {
        const client = await newClient(query)
        const text = `select 5::int8 as a, count(*) as b, sum(x::int8) as c, array[1, null]::int4[] as d, array[7]::int8[] as e,
          '12'::text as f, null::int8 as g, $1::int8 as h from generate_series(1, 3) as x`
        const most = Number.MAX_SAFE_INTEGER
        expect(await client.query(text, [most])).toEqual([
          { a: 5, b: 3, c: 6, d: [1, null], e: [7], f: '12', g: null, h: most },
        ])
      })

    test('a number that would not be exact is an error, on its way in and out', async () => {
      const client = await newClient()
      await expect(client.query('select 9007199254740993::int8 as a')).rejects.toThrow('9007199254740993')
      expect(await troubleOf(client.query('select $1::int8 as a', [1.5]))).toBe('refused')
      expect(await troubleOf(client.query('select $1::int8 as a', [2 ** 60]))).toBe('refused')
    })

    test('arrays go in as arrays, with what is hard to quote', async () => {
      const client = await newClient()
      const words = ['a', '', 'b"c', "d'e", '{f,g}', '\\h', 'null', 'ü€😀']
      const [row] = await client.query('select $1::text[] as a, $2::int8[] as b, $3::bool[] as c', [
        [...words, null],
        [1, null],
        [true, false],
      ])
      expect(row).toEqual({ a: [...words, null], b: [1, null], c: [true, false] })
    })

    test('a NUL, which a text there cannot have, does not fail it', async () => {
      const client = await newClient()
      expect(await client.query('select $1::text as a, $2::text[] as b', ['x\0y', ['\0']])).toEqual([
        { a: 'x\ufffdy', b: ['\ufffd'] },
      ])
    })

    test('JSON text stays text', async () => {
      const client = await newClient()
      const json = '{"a":"\\u0000"}'
      expect(await client.query('select $1::text as a', [json])).toEqual([{ a: json }])
    })
  })

  describe('transactions', () => {
    test('are carried out whole or not at all', async () => {
      const client = await newClient()
      await client.query('create table t (a int8 primary key)')
      expect(await client.begin(async (tx) => tx.query('insert into t values (1) returning a'))).toEqual([{ a: 1 }])
      expect(
        await troubleOf(
          client.begin(async (tx) => {
            await tx.query('insert into t values (2)')
            await tx.query('insert into t values (1)')
          }),
        ),
      ).toBe('refused')
      await expect(
        client.begin(async (tx) => {
          await tx.query('insert into t values (3)')
          throw new Error('no more')
        }),
      ).rejects.toThrow('no more')
      expect(await client.query('select a from t')).toEqual([{ a: 1 }])
    })

    test('more of them than there are connections all come to their end', async () => {
      const client = await newClient('?connections=1')
      const all = Array.from({ length: 8 }, (_, i) => client.begin((tx) => tx.query('select $1::int8 as a', [i])))
      expect((await Promise.all(all)).flat()).toEqual(Array.from({ length: 8 }, (_, a) => ({ a })))
    })

    test('two in each other’s way are both carried out', async () => {
      const client = await newClient()
      await client.query('create table t (id int8 primary key, n int8 not null)')
      await client.query('insert into t values (1, 0), (2, 0)')
      const add = (ids: number[]) =>
        client.begin(async (tx) => {
          for (const id of ids) {
            await tx.query('update t set n = n + 1 where id = $1', [id])
            await tx.query('select pg_sleep(0.02)')
          }
        })
      await Promise.all([add([1, 2]), add([2, 1])])
      expect(await client.query('select n from t')).toEqual([{ n: 2 }, { n: 2 }])
    })

    test('one that could not be put in order with others is tried again', async () => {
      const { url } = await newDatabase()
      const client = clientOf(url)
      await client.query(
        `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = serializable`,
      )
      const strict = clientOf(url)
      await strict.query('create table t (n int8 not null)')
      await strict.query('insert into t values (0)')
      await Promise.all(Array.from({ length: 6 }, () => strict.query('update t set n = n + 1')))
      expect(await strict.query('select n from t')).toEqual([{ n: 6 }])
    })
  })

  describe('what is known of a failure', () => {
    test('values that are refused, and statements that are wrong', async () => {
      const client = await newClient()
      expect(await errorOf(client.query('select $1::int4 as a', [9e9]))).toMatchObject({
        trouble: 'refused',
        state: '22003',
      })
      expect(await errorOf(client.query('selec'))).toMatchObject({ trouble: 'wrong', state: '42601' })
      expect(isStoreError(await errorOf(client.query('selec')))).toBe(true)
    })

    test('nobody is there', async () => {
      const client = clientOf('postgres://nobody@127.0.0.1:1/none')
      const error = await heardOf(() => client.query('select 1', [], { deadlineMs: 200 }))
      expect(error.trouble).toBe('not-done')
      expect(isBusy(error)).toBe(true)
      expect(error.message).toContain('cannot be reached')
    })

    test('a database that is not there is named', async () => {
      const { url } = await newDatabase()
      const error = await errorOf(clientOf(`${url}_other`).query('select 1'))
      expect(error.message).toContain('_other" does not exist')
      expect(error.message).toContain('the URL of the store')
    })

    test('what stands in the way of an operator is told with what to do', async () => {
      const { url } = await newDatabase()
      const at = new URL(url)
      at.searchParams.set('invented', '1')
      const unknown = await errorOf(clientOf(at.href).query('select 1'))
      expect(unknown.message).toContain('"invented": take it out of the URL of the store')
      at.searchParams.delete('invented')
      at.searchParams.set('channel_binding', 'require')
      const bound = await errorOf(clientOf(at.href).query('select 1'))
      expect(bound.message).toMatch(/asks for channel_binding, which needs TLS: turn it on there, or take it out/)
      const role = `weak_${crypto.randomUUID().slice(0, 8)}`
      const admin = clientOf(url)
      await admin.query(`create role ${role} login`)
      at.search = ''
      at.username = role
      const weak = clientOf(at.href)
      const refused = await errorOf(weak.query('create table mine (a int)'))
      await weak.close()
      await admin.query(`drop role ${role}`)
      expect(refused.message).toMatch(/permission denied for schema public: make its user the owner/)
      const late = admin.begin(async (tx) => {
        await tx.query('set local statement_timeout = 1')
        await tx.query('select pg_sleep(30)')
      })
      expect((await errorOf(late)).message).toMatch(/due to statement timeout: set the statement_timeout of its user/)
      at.username = new URL(url).username
      at.searchParams.set('search_path', 'nowhere')
      const homeless = await errorOf(clientOf(at.href).query('create table mine (a int)'))
      expect(homeless.message).toMatch(/no schema has been selected to create in: make the first schema/)
    })

    test('who has as many connections as it may is told so, and not that nobody is there', async () => {
      const { url } = await newDatabase()
      const admin = clientOf(url, { max: 1 })
      const role = `full_${crypto.randomUUID().slice(0, 8)}`
      await admin.query(`create role ${role} login connection limit 0`)
      ends.push(() => admin.query(`drop role ${role}`))
      const at = new URL(url)
      at.username = role
      const client = clientOf(at.href)
      const error = await heardOf(() => client.query('select 1', [], { deadlineMs: 400 }))
      expect(error.message).toMatch(/too many connections for role .*: raise that limit there, or give each node/)
      expect(isBusy(error)).toBe(true)
    })

    test('a transaction that was ended for standing still is carried out anew', async () => {
      const client = await newClient()
      await client.query('create table t (a int8)')
      let tries = 0
      await client.begin(async (tx) => {
        if (tries++ === 0) await tx.query(`set local idle_in_transaction_session_timeout = 20`)
        await tx.query('insert into t values (1)')
        if (tries > 1) return
        const gone = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
          and state = 'idle in transaction'`
        while ((await client.query(gone)).length > 0);
      })
      expect(tries).toBe(2)
      expect(await client.query('select a from t')).toEqual([{ a: 1 }])
    })

    test('a connection that was ended for standing idle is as if it had never been', async () => {
      const client = await newClient('?connections=1')
      await client.query('set idle_session_timeout = 20')
      // What is asked as it ends has not begun.
      const standStill = performance.now() + 60
      while (performance.now() < standStill);
      expect(await client.query('select 1 as a')).toEqual([{ a: 1 }])
    })

    test('what may take an hour waits no longer for a server that takes no writes than anything else', async () => {
      const { url } = await newDatabase()
      const from = Bun.nanoseconds()
      const clock = spyOn(performance, 'now').mockImplementation(() => ((Bun.nanoseconds() - from) / 1e6) * 40)
      const write = clientOf(url).begin(
        async (tx) => {
          await tx.query('set transaction read only')
          await tx.query('create table t (a int8)')
        },
        { deadlineMs: 3_600_000 },
      )
      const error = await errorOf(write).finally(() => clock.mockRestore())
      expect(error.message).toContain('must lead to the primary')
    })

    test('a connection that ends while a statement runs leaves it unknown, and the next one works', async () => {
      const client = await newClient()
      const running = errorOf(client.query('select pg_sleep(30) /* this one */'))
      let ended: unknown[] = []
      while (ended.length === 0)
        ended = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where query like '%this one%' and pid <> pg_backend_pid() and state = 'active' and datname = current_database()`,
        )
      expect((await running).trouble).toBe('unknown')
      expect(await client.query('select 1 as a')).toEqual([{ a: 1 }])
    })

    test('a server that takes no writes says so, and reads go on', async () => {
      const client = await newClient()
      await client.query('create table t (a int8)')
      const write = () =>
        client.begin(
          async (tx) => {
            await tx.query('set transaction read only')
            await tx.query('insert into t values (1)')
          },
          { deadlineMs: 240 },
        )
      expect((await heardOf(write)).trouble).toBe('read-only')
      expect(await client.query('select a from t')).toEqual([])
    })

    test('a server with no connection left is waited for', async () => {
      const { url } = await newDatabase()
      const name = new URL(url).pathname.slice(1)
      const admin = clientOf(url, { max: 1 })
      await admin.query(`create role plain login`)
      ends.push(() => admin.query(`drop role plain`))
      await admin.query(`alter database ${name} connection limit 1`)
      const plain = new URL(url)
      plain.username = 'plain'
      const client = clientOf(plain.href, { max: 1 })
      const waiting = client.query('select 1 as a')
      await admin.query(`alter database ${name} connection limit -1`)
      expect(await waiting).toEqual([{ a: 1 }])
    })
  })

  describe('deadlines', () => {
    test('a statement that is not answered in time is unknown, and the next one goes another way', async () => {
      const client = await newClient('?connections=1')
      expect(await troubleOf(client.query('select pg_sleep(30)', [], { deadlineMs: 50 }))).toBe('unknown')
      expect(await client.query('select 1 as a')).toEqual([{ a: 1 }])
    })

    test('a transaction, too', async () => {
      const client = await newClient('?connections=1')
      expect(await troubleOf(client.begin((tx) => tx.query('select pg_sleep(30)'), { deadlineMs: 50 }))).toBe('unknown')
      expect(await client.query('select 1 as a')).toEqual([{ a: 1 }])
    })

    test('a network that has gone silent is got over once it is there again', async () => {
      const { url } = await newDatabase()
      const proxy = await createProxy(Number(new URL(url).port))
      ends.push(async () => proxy.close())
      const near = new URL(url)
      near.port = `${proxy.port}`
      const client = clientOf(near.href, { max: 2 })
      expect(await client.query('select 1 as a')).toEqual([{ a: 1 }])
      proxy.isDeaf = proxy.isMute = true
      expect(await troubleOf(client.query('select 1', [], { deadlineMs: 50 }))).toBe('unknown')
      proxy.isDeaf = proxy.isMute = false
      expect(await client.query('select 2 as a', [], { deadlineMs: 60_000, isRepeatable: true })).toEqual([{ a: 2 }])
    })
  })

  test('a closed client says so', async () => {
    const client = await newClient()
    await client.close()
    expect((await errorOf(client.query('select 1'))).message).toBe('The store is closed.')
  })

  test('encryption is used where the server has it, and checked where it is to be', async () => {
    const folder = join(tmpdir(), `sluice-tls-${process.pid}`)
    const certificate = `${folder}.crt`
    const key = `${folder}.key`
    writeFileSync(certificate, SELF_SIGNED.cert)
    ends.push(async () => {
      for (const path of [certificate, key]) rmSync(path, { force: true })
    })
    writeFileSync(key, SELF_SIGNED.key)
    chmodSync(key, 0o600)
    chmodSync(certificate, 0o644)
    if (process.getuid?.() === 0) chownSync(key, 65_534, 65_534)
    const server = await startPostgres(['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`])
    ends.push(server.stop)
    const { url } = await server.database()
    const isEncrypted = async (query: string, at = url): Promise<unknown> => {
      const client = createClient(at + query)
      const rows = await client
        .query('select ssl from pg_stat_ssl where pid = pg_backend_pid()', [], { deadlineMs: 2_000 })
        .finally(client.close)
      return rows[0]
    }
    expect(await isEncrypted('?sslmode=disable')).toEqual({ ssl: false })
    expect(await isEncrypted('')).toEqual({ ssl: true })
    expect(await isEncrypted('?sslmode=require')).toEqual({ ssl: true })
    const named = url.replace('127.0.0.1', 'localhost')
    const unknown =
      /certificate is not accepted: .*: name the file with the certificate of its authority by sslrootcert/
    for (const query of ['?sslmode=verify-ca', '?sslmode=verify-full', '?sslmode=verify-full&sslrootcert=system'])
      await expect(isEncrypted(query, named)).rejects.toThrow(unknown)
    const known = `&sslrootcert=${certificate}`
    const other = /certificate is not accepted: .*: call it by a name that its certificate has/
    await expect(isEncrypted(`?sslmode=verify-full${known}`)).rejects.toThrow(other)
    for (const mode of ['require', 'verify-ca'])
      expect(await isEncrypted(`?sslmode=${mode}${known}`)).toEqual({ ssl: true })
    expect(await isEncrypted(`?sslmode=verify-full${known}`, named)).toEqual({ ssl: true })
    // Found at another address, it shows the same name.
    let looks = 0
    const lookUp = async () => [looks++ === 0 ? '127.0.0.3' : '127.0.0.1']
    const following = clientOf(`${named}?sslmode=verify-full${known}`, { lookUp })
    await server.halt('immediate')
    const asked = following.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()', [], {
      isRepeatable: true,
    })
    await server.start()
    expect(await asked).toEqual([{ ssl: true }])
    expect(looks).toBeGreaterThan(1)
    await expect(isEncrypted(`?sslmode=require&sslrootcert=${import.meta.path}`)).rejects.toThrow(
      /check the files that sslrootcert/,
    )
  })

  test('of several hosts the one that takes writes is asked, whichever that is by then', async () => {
    const servers = [await startPostgres(['default_transaction_read_only=on']), await startPostgres()] as const
    for (const server of servers) ends.push(server.stop)
    const [standby, primary] = servers
    const hosts = `127.0.0.1:1,127.0.0.1:${standby.port},127.0.0.1:${primary.port}`
    const client = clientOf(`postgres://sluice@${hosts}/postgres?target_session_attrs=read-write`)
    await client.query('create table t (a int8)')
    expect(await client.query('select inet_server_port() as port')).toEqual([{ port: primary.port }])
    await clientOf(`postgres://sluice@127.0.0.1:${standby.port}/postgres`).begin(async (tx) => {
      await tx.query('set transaction read write')
      await tx.query('alter role sluice set default_transaction_read_only = off')
    })
    await primary.halt('immediate')
    await client.query('create table if not exists t (a int8)', [], { isRepeatable: true })
    expect(await client.query('select inet_server_port() as port')).toEqual([{ port: standby.port }])
  })

  test('a host that lets nobody in, or has not the database yet, is left for the next', async () => {
    const servers = [await startPostgres(), await startPostgres()] as const
    for (const server of servers) ends.push(server.stop)
    const [behind, primary] = servers
    const admin = clientOf(`postgres://sluice@127.0.0.1:${primary.port}/postgres`)
    await admin.query('create role newcomer superuser login')
    await admin.query('create database just_made')
    const hosts = `127.0.0.1:${behind.port},127.0.0.1:${primary.port}`
    for (const at of [`sluice@${hosts}/just_made`, `newcomer@${hosts}/postgres`])
      expect(await clientOf(`postgres://${at}`).query('select inet_server_port() as port')).toEqual([
        { port: primary.port },
      ])
    // Nobody has it: each was asked.
    const error = await errorOf(clientOf(`postgres://sluice@${hosts}/nowhere`).query('select 1'))
    expect(error.message).toContain('"nowhere" does not exist: check the user')
  })

  test('where its name leads is looked up anew once the server there is gone', async () => {
    const servers = [await startPostgres(), await startPostgres()] as const
    for (const server of servers) ends.push(server.stop)
    const [gone, next] = servers
    const near = createServer((from) => {
      const to = connect(next.port, '127.0.0.1')
      from.pipe(to).pipe(from)
      for (const socket of [from, to]) socket.on('error', () => from.destroy())
    })
    near.listen(gone.port, '127.0.0.2')
    ends.push(async () => void near.close())
    let leadsTo = ['127.0.0.1']
    const client = clientOf(`postgres://sluice@localhost:${gone.port}/postgres`, { lookUp: async () => leadsTo })
    expect(await client.query('select inet_server_port() as port')).toEqual([{ port: gone.port }])
    await gone.halt('immediate')
    // The first of two does not answer.
    leadsTo = ['127.0.0.1', '127.0.0.2']
    const asked = client.query('select inet_server_port() as port', [], { isRepeatable: true })
    expect(await asked).toEqual([{ port: next.port }])
  })

  /** More than a client asks before it knows whom. */
  const many = (clients: readonly Client[]) =>
    Promise.all(
      Array.from({ length: 400 }, (_, i) =>
        clients[i % clients.length]?.query(`select ${i % 4} + $1::int8 as sum`, [i]).then(([row]) => row),
      ),
    )
  const SUMS = Array.from({ length: 400 }, (_, i) => ({ sum: i + (i % 4) }))

  test('statements are prepared where the server itself is reached, by its name too', async () => {
    const { url } = await newDatabase()
    const client = clientOf(url.replace('127.0.0.1', 'localhost'), { max: 1 })
    const PREPARED = 'select count(*)::int4 as n from pg_prepared_statements'
    expect(await client.query(PREPARED)).toEqual([{ n: 0 }])
    expect(await many([client])).toEqual(SUMS)
    await until(async () => {
      expect(await many([client])).toEqual(SUMS)
      const [row] = await client.query<{ n: number }>(PREPARED)
      return (row?.n ?? 0) > 0
    })
  })

  test.skipIf(pgBouncerMissing !== undefined)('and none where a pooler mixes connections', async () => {
    const { url } = await newDatabase()
    const pooler = await startPgBouncer(Number(new URL(url).port), 2)
    ends.push(pooler.stop)
    const at = through(url, pooler)
    const clients = [clientOf(at), clientOf(at)]
    for (let round = 0; round < 3; round++) expect(await many(clients)).toEqual(SUMS)
    const strange = await errorOf(clientOf(`${at}?search_path=public`).query('select 1'))
    expect(strange.message).toMatch(/unsupported startup parameter: search_path: a pooler in front of it says so/)
  })

  test('a node shows the certificate that it was given', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'))
    const path = (name: string, text: string): string => {
      const at = join(folder, name)
      writeFileSync(at, text, { mode: 0o600 })
      if (process.getuid?.() === 0) chownSync(at, 65_534, 65_534)
      return at
    }
    chmodSync(folder, 0o755)
    ends.push(async () => rmSync(folder, { recursive: true }))
    const [certificate, key] = [path('own.crt', SELF_SIGNED.cert), path('own.key', SELF_SIGNED.key)]
    const rules = path('rules', 'hostssl all shown all trust clientcert=verify-ca\nhost all all all trust\n')
    const files = [`ssl_cert_file=${certificate}`, `ssl_key_file=${key}`, `ssl_ca_file=${certificate}`]
    const server = await startPostgres(['ssl=on', ...files, `hba_file=${rules}`])
    ends.push(server.stop)
    const { url } = await server.database()
    await clientOf(url).query('create role shown login')
    const at = new URL(url)
    at.username = 'shown'
    const ask = (query: string) =>
      clientOf(at.href + query).query('select current_user as who', [], { deadlineMs: 2_000 })
    expect((await errorOf(ask('?sslmode=require'))).message).toContain('requires a valid client certificate')
    expect(await ask(`?sslmode=require&sslcert=${certificate}&sslkey=${key}`)).toEqual([{ who: 'shown' }])
  })

  test('encryption that the server does not have is told', async () => {
    const { url } = await newDatabase()
    const client = clientOf(`${url}?sslmode=require`)
    const error = await heardOf(() => client.query('select 1', [], { deadlineMs: 400 }))
    expect(error.message).toContain('has no TLS')
  })
})

describe('the URL of a store', () => {
  const refusal = (url: string): string => {
    try {
      void createClient(url).close()
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
    return ''
  }
  test('of a private place needs no word on encryption, of a public one it does', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', '10.1.2.3', '192.168.0.9', 'db', 'db.internal', 'pg.svc'])
      expect(refusal(`postgres://a@${host}/b`)).toBe('')
    for (const host of ['db.example.com', '203.0.113.9', '[2001:db8::1]', '11.0.0.1']) {
      expect(refusal(`postgres://a@${host}/b`)).toContain('sslmode=verify-full')
      expect(refusal(`postgres://a@${host}/b?sslmode=prefer`)).toContain('sslmode=verify-full')
      expect(refusal(`postgres://a@${host}/b?sslmode=require`)).toBe('')
    }
  })

  test('that cannot be used is refused in words, without its password', () => {
    for (const url of ['sqlite:x', 'nonsense', 'mysql://a:secret@b/c']) {
      expect(refusal(url)).toContain('postgres://')
      expect(refusal(url)).not.toContain('secret')
    }
    for (const url of ['postgres://a@/b', 'postgres:///b', 'postgres://a@localhost,/b'])
      expect(refusal(url)).toContain('postgres://')
    expect(refusal('postgres://a@localhost,db.example.com/b')).toContain('sslmode=verify-full')
    expect(refusal('postgres://a@localhost/b?sslmode=maybe')).toContain('sslmode')
    expect(refusal('postgres://a@localhost/b?connections=0')).toContain('connections')
    expect(refusal('postgres://a@localhost/b?sslrootcert=/nowhere/ca')).toContain('/nowhere/ca')
    expect(refusal(`postgres://a@localhost/b?sslcert=${import.meta.path}`)).toContain('both sslcert and sslkey')
  })
})
