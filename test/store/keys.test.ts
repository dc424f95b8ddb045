// Keys as the store keeps them: changes, their audit, and what other processes see of them.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Actor, Key, KeyPatch, Keys, NewKey } from '../../src/keys/key.ts'
import { statusOf } from '../../src/keys/status.ts'
import { until } from '../support/until.ts'
import { type AnyStore, closeAll, STORES } from './stores.ts'
import { ACTOR, bearer, DAY, NOW, newKey, newPath, open as openFile } from './support.ts'

afterEach(closeAll)

/** Of a key that is not known yet the store is asked. */
const shown = async ({ keys }: AnyStore, secret: string): Promise<Key> => keys.authenticate(bearer(secret))

describe.each(STORES)('keys in %s', (_, { newPlace }) => {
  const open = async (clock?: () => number) => (await newPlace()).open(clock)

  test('an issued key is what was asked for', async () => {
    const { keys } = await open()
    const input = newKey({ label: 'ci', models: ['vendorA-*', 'vendorB-5.5'], rpm: 10, tpm: 0 })
    const { key, secret } = await keys.issue(input, ACTOR)
    expect(key).toEqual({
      ...{
        id: key.id,
        label: 'ci',
        lastFour: secret.slice(-4),
        createdAt: NOW,
        expiresAt: input.expiresAt,
        revokedAt: undefined,
      },
      ...{ tokensTotal: 1_000_000, tokensUsed: 0, models: ['vendorA-*', 'vendorB-5.5'] },
      ...{ rpm: 10, tpm: 0, concurrency: undefined },
    })
    expect(key.id).toMatch(/^key_[0-9A-Za-z]{16}$/)
    expect(keys.list()).toEqual([key])
  })

  test('however many ask at once at however many processes, an owner gets no more keys than a check lets them have', async () => {
    const place = await newPlace()
    const stores = [await place.open(), await place.open()]
    const most = (owned: readonly Key[]): void => {
      if (owned.length >= 3) throw new Error('no more')
    }
    const asked = Array.from({ length: 12 }, async (_, i) =>
      stores[i % 2]?.keys.issue(newKey({ ownerId: i % 3 === 0 ? 'mem_b' : 'mem_a' }), ACTOR, most),
    )
    const done = (await Promise.allSettled(asked)).map(({ status }) => status)
    expect(done.filter((status) => status === 'fulfilled')).toHaveLength(6)
    expect(await place.count("keys WHERE owner_id = 'mem_a'")).toBe(3)
    expect(await place.count("audit WHERE action = 'key.issue'")).toBe(6)
  })

  test('a change is checked with the key as it is, and not made where that throws', async () => {
    const place = await newPlace()
    const [here, there] = [await place.open(), await place.open()]
    const { key } = await here.keys.issue(newKey({ ownerId: 'mem_a', tokensTotal: 100 }), ACTOR)
    await there.refresh()
    const atMost = (_: readonly Key[], { tokensTotal }: Key): void => {
      if (tokensTotal + 50 > 250) throw new Error('too many')
    }
    const added = [here, there, here, there, here].map((at) => at.keys.update(key.id, { addTokens: 50 }, ACTOR, atMost))
    const done = (await Promise.allSettled(added)).filter(({ status }) => status === 'fulfilled')
    expect(done).toHaveLength(3)
    expect(await place.sum('keys', 'tokens_total')).toBe(250)
  })

  test('a patch changes its members and nothing else', async () => {
    const { keys } = await open()
    const { key } = await keys.issue(newKey({ rpm: 5 }), ACTOR)
    const before = { ...key }
    const after = await keys.update(key.id, { label: 'new', tokensTotal: 7, rpm: undefined }, ACTOR)
    expect(after).toEqual({ ...before, label: 'new', tokensTotal: 7 })
  })

  test('a key object shows later changes', async () => {
    const { keys } = await open()
    const { key, secret } = await keys.issue(newKey(), ACTOR)
    const held = await keys.authenticate(bearer(secret))
    await keys.update(key.id, { models: ['vendorB-*'] }, ACTOR)
    expect(held.models).toEqual(['vendorB-*'])
    expect(keys.get(key.id)).toBe(held)
  })

  test('a revoked key stays listed, and revoking it again keeps its first time and its one line in the audit', async () => {
    let now = NOW
    const { keys, audit } = await open(() => now)
    const { key } = await keys.issue(newKey(), ACTOR)
    await keys.revoke(key.id, ACTOR)
    now += DAY
    expect((await keys.revoke(key.id, ACTOR)).revokedAt).toBe(NOW)
    expect(keys.list()).toHaveLength(1)
    expect((await audit({ limit: 10 })).map(({ action }) => action)).toEqual(['key.revoke', 'key.issue'])
  })

  test('keys are listed as they were made, whatever was changed of them since', async () => {
    const place = await newPlace()
    let now = NOW
    const { keys } = await place.open(() => now++)
    const made: string[] = []
    for (const label of ['a', 'b', 'c', 'd']) made.push((await keys.issue(newKey({ label }), ACTOR)).key.id)
    for (const id of [made[1] ?? '', made[0] ?? '']) await keys.update(id, { label: 'changed' }, ACTOR)
    expect(keys.list().map(({ id }) => id)).toEqual(made)
    expect((await place.open()).keys.list().map(({ id }) => id)).toEqual(made)
  })

  test('a change outlives the store', async () => {
    const place = await newPlace()
    const first = await place.open()
    const { key, secret } = await first.keys.issue(newKey(), ACTOR)
    const snapshot = { ...(await first.keys.update(key.id, { concurrency: 3 }, ACTOR)) }
    await first.close()
    expect(await shown(await place.open(), secret)).toEqual(snapshot)
  })

  test.each<[string, (keys: Keys) => unknown]>([
    ['update', (keys) => keys.update('key_none', { label: 'x' }, ACTOR)],
    ['revoke', (keys) => keys.revoke('key_none', ACTOR)],
    ['rotate', (keys) => keys.rotate('key_none', 0, ACTOR)],
  ])('%s of a key that does not exist is not_found and leaves no audit', async (_name, run) => {
    const store = await open()
    await expect((async () => run(store.keys))()).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.audit({ limit: 10 })).toEqual([])
  })

  test.each<[string, Partial<NewKey> & KeyPatch]>([
    ['label', { label: ' ' }],
    ['models', { models: [] }],
    ['models', { models: [''] }],
    ['tokensTotal', { tokensTotal: -1 }],
    ['tokensTotal', { tokensTotal: 1.5 }],
    ['expiresAt', { expiresAt: Number.NaN }],
    ['rpm', { rpm: -1 }],
    ['concurrency', { concurrency: Number.POSITIVE_INFINITY }],
  ])('a wrong %s is refused when a key is issued and when it is changed', async (param, wrong) => {
    const { keys } = await open()
    const { key } = await keys.issue(newKey(), ACTOR)
    const refusal = { code: 'invalid_request', param }
    await expect((async () => keys.issue(newKey(wrong), ACTOR))()).rejects.toMatchObject(refusal)
    await expect((async () => keys.update(key.id, wrong, ACTOR))()).rejects.toMatchObject(refusal)
  })
})

describe.each(STORES)('the audit in %s', (_, { newPlace }) => {
  test('says who changed what, newest first, with what it was and became', async () => {
    const store = await (await newPlace()).open()
    const { key } = await store.keys.issue(newKey(), ACTOR)
    await store.keys.update(key.id, { label: 'b' }, { kind: 'member', id: 'mem_1' })
    await store.keys.rotate(key.id, 0, ACTOR)
    await store.keys.revoke(key.id, ACTOR)
    const rows = await store.audit({ limit: 10 })
    expect(rows.map((row) => row.action)).toEqual(['key.revoke', 'key.rotate', 'key.update', 'key.issue'])
    expect(rows[2]).toMatchObject({
      ...{ at: NOW, actor: { kind: 'member', id: 'mem_1' }, target: key.id },
      ...{ before: { label: 'a key' }, after: { label: 'b' } },
    })
    expect(rows[3]?.before).toBeNull()
    expect((await store.audit({ limit: 2, before: rows[1]?.row })).map((row) => row.action)).toEqual([
      'key.update',
      'key.issue',
    ])
    expect(await store.audit({ limit: 10, target: 'key_other' })).toEqual([])
  })
})

describe.each(STORES)('a second process on %s', (_, { newPlace }) => {
  test('issues a key that the first accepts at once', async () => {
    const place = await newPlace()
    const server = await place.open()
    const cli = await place.open()
    const { key, secret } = await cli.keys.issue(newKey(), ACTOR)
    expect((await shown(server, secret)).label).toBe('a key')
    expect(await server.refresh()).toBe(false)
    const rotated = await cli.keys.rotate(key.id, 0, ACTOR)
    expect((await shown(server, rotated.secret)).id).toBe(key.id)
    await expect(shown(server, secret)).rejects.toThrow()
  })

  test('revokes, changes and rotates keys of the first', async () => {
    const place = await newPlace()
    const server = await place.open()
    const made = await server.keys.issue(newKey(), ACTOR)
    const held = await shown(server, made.secret)
    const cli = await place.open()
    await cli.keys.update(made.key.id, { tokensTotal: 5 }, ACTOR)
    const { secret } = await cli.keys.rotate(made.key.id, 0, ACTOR)
    await server.refresh()
    expect(held.tokensTotal).toBe(5)
    await expect(shown(server, made.secret)).rejects.toThrow()
    expect(await shown(server, secret)).toBe(held)
    await cli.keys.revoke(made.key.id, ACTOR)
    await server.refresh()
    await expect(shown(server, secret)).rejects.toThrow()
  })

  test('is not missed by a server that changes a key itself before it reloads', async () => {
    const place = await newPlace()
    const server = await place.open()
    const own = await server.keys.issue(newKey(), ACTOR)
    const revoked = await server.keys.issue(newKey(), ACTOR)
    await server.refresh()
    const cli = await place.open()
    const made = await cli.keys.issue(newKey(), ACTOR)
    await cli.keys.revoke(revoked.key.id, ACTOR)
    await server.keys.update(own.key.id, { label: 'own' }, ACTOR)
    expect(await server.refresh()).toBe(true)
    expect((await shown(server, made.secret)).id).toBe(made.key.id)
    await expect(shown(server, revoked.secret)).rejects.toThrow()
    expect(server.keys.get(own.key.id)?.label).toBe('own')
  })

  test('tops a key up beside the first, and neither undoes the other', async () => {
    const place = await newPlace()
    const server = await place.open()
    const { key } = await server.keys.issue(newKey({ tokensTotal: 1_000 }), ACTOR)
    await (await place.open()).keys.update(key.id, { addTokens: 500 }, ACTOR)
    expect((await server.keys.update(key.id, { addTokens: 20 }, ACTOR)).tokensTotal).toBe(1_520)
  })

  test('is followed by a watching store on its own', async () => {
    const place = await newPlace()
    const server = await place.open()
    const unwatch = server.watch(5)
    const { key } = await (await place.open()).keys.issue(newKey(), ACTOR)
    await until(() => server.keys.get(key.id) !== undefined, 5_000)
    unwatch()
    expect(server.keys.get(key.id)?.label).toBe('a key')
  })
})

describe('a database file', () => {
  test('no secret is in the file, nor in the audit', async () => {
    const path = newPath()
    const store = openFile(path)
    const { key, secret } = await store.keys.issue(newKey(), ACTOR)
    const rotated = await store.keys.rotate(key.id, DAY, ACTOR)
    const audit = JSON.stringify(await store.audit({ limit: 10 }))
    await store.close()
    const file = readFileSync(path, 'latin1')
    for (const each of [secret, rotated.secret]) {
      expect(file).not.toContain(each.slice(6))
      expect(audit).not.toContain(each.slice(6))
    }
  })

  test('issues a key that the first accepts once it can read its file again', async () => {
    const path = newPath()
    const server = openFile(path)
    const known = await server.keys.issue(newKey(), ACTOR)
    const made = await openFile(path).keys.issue(newKey(), ACTOR)
    const db = new Database(path)
    db.run('ALTER TABLE keys RENAME TO lost')
    expect(() => server.keys.authenticate(bearer(made.secret))).toThrow('The API key is not valid')
    expect((await server.keys.authenticate(bearer(known.secret))).id).toBe(known.key.id)
    db.run('ALTER TABLE lost RENAME TO keys')
    db.close()
    expect((await server.keys.authenticate(bearer(made.secret))).id).toBe(made.key.id)
  })
})

test.each<[string, Partial<Key>]>([
  ['active', {}],
  ['exhausted', { tokensUsed: 10 }],
  ['exhausted', { tokensUsed: 11 }],
  ['expired', { expiresAt: NOW }],
  ['revoked', { revokedAt: 1, expiresAt: 0, tokensUsed: 99 }],
])('a key is %s', async (status, more) => {
  const { keys } = openFile()
  const { key } = await keys.issue(newKey({ tokensTotal: 10 }), ACTOR)
  expect(statusOf({ ...key, ...more }, NOW)).toBe(status as ReturnType<typeof statusOf>)
})

describe.each(STORES)('a top-up in %s', (_, { newPlace }) => {
  const topped = async (renews: 'month' | null, patches: KeyPatch[]) => {
    const store = await (await newPlace()).open()
    const { key } = await store.keys.issue(newKey({ tokensTotal: 1_000, renews }), ACTOR)
    for (const patch of patches) await store.keys.update(key.id, patch, ACTOR)
    const { tokensTotal } = key
    const renewed = await store.keys.renew(key.id)
    return [tokensTotal, renewed.tokensTotal, (await store.keys.renew(key.id)).tokensTotal]
  }

  test.each<[string, 'month' | null, KeyPatch[], [number, number]]>([
    ['of a quota that renews ends with its period', 'month', [{ addTokens: 500 }], [1_500, 1_000]],
    ['adds to another of the period', 'month', [{ addTokens: 500 }, { addTokens: 20 }], [1_520, 1_000]],
    ['that is to last stays', 'month', [{ addTokens: 500, lasting: true }], [1_500, 1_500]],
    [
      'that is to last leaves one that is not',
      'month',
      [{ addTokens: 7 }, { addTokens: 500, lasting: true }],
      [1_507, 1_500],
    ],
    [
      'before another total is set is part of that',
      'month',
      [{ addTokens: 500 }, { tokensTotal: 1_400 }],
      [1_400, 1_400],
    ],
    ['stays where the quota renews no more', 'month', [{ addTokens: 500 }, { renews: null }], [1_500, 1_500]],
    ['of a quota that never renews stays', null, [{ addTokens: 500 }, { renews: 'day' }], [1_500, 1_500]],
    ['with the agreement to renew is for the first period', null, [{ addTokens: 500, renews: 'day' }], [1_500, 1_000]],
  ])('%s', async (_, renews, patches, [before, after]) => {
    expect(await topped(renews, patches)).toEqual([before, after, after])
  })
})

describe.each(STORES)('a top-up with a name in %s', (_, { newPlace }) => {
  const OTHER: Actor = { kind: 'token', id: 'tok_other' }

  test('is made once, at whichever process and however often it is asked for', async () => {
    const place = await newPlace()
    const stores = [await place.open(), await place.open()]
    const [first] = stores
    const made = await first?.keys.issue(newKey({ tokensTotal: 100 }), ACTOR)
    const id = made?.key.id ?? ''
    await stores[1]?.refresh()
    const patch = { addTokens: 50, once: 'invoice 7' }
    const asked = Array.from({ length: 8 }, async (_, i) => stores[i % 2]?.keys.update(id, patch, ACTOR))
    expect((await Promise.all(asked)).map((key) => key?.tokensTotal)).toEqual(Array(8).fill(150))
    expect(await place.sum('keys', 'tokens_total')).toBe(150)
    expect(await place.count("audit WHERE action = 'key.update'")).toBe(1)
    // Whatever was changed meanwhile.
    await first?.keys.update(id, { tokensTotal: 7 }, ACTOR)
    expect((await first?.keys.update(id, patch, ACTOR))?.tokensTotal).toBe(7)
  })

  test('is another by another name, of another caller, or of another key', async () => {
    const { keys } = await (await newPlace()).open()
    const { key } = await keys.issue(newKey({ tokensTotal: 100 }), ACTOR)
    const patch = { addTokens: 50, once: 'a' }
    await keys.update(key.id, patch, ACTOR)
    await keys.update(key.id, { ...patch, once: 'b' }, ACTOR)
    await keys.update(key.id, patch, OTHER)
    await keys.update(key.id, { addTokens: 50 }, ACTOR)
    const other = await keys.issue(newKey({ tokensTotal: 100 }), ACTOR)
    expect((await keys.update(other.key.id, patch, ACTOR)).tokensTotal).toBe(150)
    expect(keys.get(key.id)?.tokensTotal).toBe(300)
  })

  test('is refused where it adds something else, and made where it was refused before', async () => {
    const { keys } = await (await newPlace()).open()
    const { key } = await keys.issue(newKey({ tokensTotal: 100 }), ACTOR)
    const no = (): void => {
      throw new Error('not now')
    }
    await expect(keys.update(key.id, { addTokens: 50, once: 'a' }, ACTOR, no)).rejects.toThrow('not now')
    await keys.update(key.id, { addTokens: 50, once: 'a' }, ACTOR)
    // What is made already needs no room.
    expect((await keys.update(key.id, { addTokens: 50, once: 'a' }, ACTOR, no)).tokensTotal).toBe(150)
    for (const patch of [{ addTokens: 51 }, { addTokens: 50, lasting: true }])
      await expect(keys.update(key.id, { ...patch, once: 'a' }, ACTOR)).rejects.toThrow('another change')
    expect(keys.get(key.id)?.tokensTotal).toBe(150)
  })
})
