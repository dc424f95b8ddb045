// Keys as the store keeps them: changes, their audit, and what other processes see of them.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Key, KeyPatch, NewKey } from '../../src/keys/key.ts'
import { statusOf } from '../../src/keys/status.ts'
import { ACTOR, bearer, cleanUp, DAY, NOW, newKey, newPath, open } from './support.ts'

afterEach(cleanUp)

describe('keys', () => {
  test('an issued key is what was asked for', () => {
    const { keys } = open()
    const input = newKey({ label: 'ci', models: ['vendorA-*', 'vendorB-5.5'], rpm: 10, tpm: 0 })
    const { key, secret } = keys.issue(input, ACTOR)
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

  test('a patch changes its members and nothing else', () => {
    const { keys } = open()
    const { key } = keys.issue(newKey({ rpm: 5 }), ACTOR)
    const before = { ...key }
    const after = keys.update(key.id, { label: 'new', tokensTotal: 7, rpm: undefined }, ACTOR)
    expect(after).toEqual({ ...before, label: 'new', tokensTotal: 7 })
  })

  test('a key object shows later changes', () => {
    const { keys } = open()
    const { key, secret } = keys.issue(newKey(), ACTOR)
    const held = keys.authenticate(bearer(secret))
    keys.update(key.id, { models: ['vendorB-*'] }, ACTOR)
    expect(held.models).toEqual(['vendorB-*'])
    expect(keys.get(key.id)).toBe(held)
  })

  test('a revoked key stays listed, and revoking it again keeps its first time and its one line in the audit', () => {
    let now = NOW
    const { keys, audit } = open(':memory:', () => now)
    const { key } = keys.issue(newKey(), ACTOR)
    keys.revoke(key.id, ACTOR)
    now += DAY
    expect(keys.revoke(key.id, ACTOR).revokedAt).toBe(NOW)
    expect(keys.list()).toHaveLength(1)
    expect(audit({ limit: 10 }).map(({ action }) => action)).toEqual(['key.revoke', 'key.issue'])
  })

  test('a change outlives the store', () => {
    const path = newPath()
    const first = open(path)
    const { key, secret } = first.keys.issue(newKey(), ACTOR)
    const snapshot = { ...first.keys.update(key.id, { concurrency: 3 }, ACTOR) }
    first.close()
    const second = open(path)
    expect(second.keys.authenticate(bearer(secret))).toEqual(snapshot)
  })

  test('no secret is in the file, nor in the audit', () => {
    const path = newPath()
    const store = open(path)
    const { key, secret } = store.keys.issue(newKey(), ACTOR)
    const rotated = store.keys.rotate(key.id, DAY, ACTOR)
    const audit = JSON.stringify(store.audit({ limit: 10 }))
    store.close()
    const file = readFileSync(path, 'latin1')
    for (const each of [secret, rotated.secret]) {
      expect(file).not.toContain(each.slice(6))
      expect(audit).not.toContain(each.slice(6))
    }
  })

  test.each<[string, (keys: ReturnType<typeof open>['keys']) => unknown]>([
    ['update', (keys) => keys.update('key_none', { label: 'x' }, ACTOR)],
    ['revoke', (keys) => keys.revoke('key_none', ACTOR)],
    ['rotate', (keys) => keys.rotate('key_none', 0, ACTOR)],
  ])('%s of a key that does not exist is not_found and leaves no audit', (_name, run) => {
    const store = open()
    expect(() => run(store.keys)).toThrow(expect.objectContaining({ code: 'not_found' }))
    expect(store.audit({ limit: 10 })).toEqual([])
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
  ])('a wrong %s is refused when a key is issued and when it is changed', (param, wrong) => {
    const { keys } = open()
    const { key } = keys.issue(newKey(), ACTOR)
    const refusal = expect.objectContaining({ code: 'invalid_request', param })
    expect(() => keys.issue(newKey(wrong), ACTOR)).toThrow(refusal)
    expect(() => keys.update(key.id, wrong, ACTOR)).toThrow(refusal)
  })
})

describe('audit', () => {
  test('says who changed what, newest first, with what it was and became', () => {
    const store = open()
    const { key } = store.keys.issue(newKey(), ACTOR)
    store.keys.update(key.id, { label: 'b' }, { kind: 'member', id: 'mem_1' })
    store.keys.rotate(key.id, 0, ACTOR)
    store.keys.revoke(key.id, ACTOR)
    const rows = store.audit({ limit: 10 })
    expect(rows.map((row) => row.action)).toEqual(['key.revoke', 'key.rotate', 'key.update', 'key.issue'])
    expect(rows[2]).toMatchObject({
      ...{ at: NOW, actor: { kind: 'member', id: 'mem_1' }, target: key.id },
      ...{ before: { label: 'a key' }, after: { label: 'b' } },
    })
    expect(rows[3]?.before).toBeNull()
    expect(store.audit({ limit: 2, before: rows[1]?.row }).map((row) => row.action)).toEqual([
      'key.update',
      'key.issue',
    ])
    expect(store.audit({ limit: 10, target: 'key_other' })).toEqual([])
  })
})

describe('a second process', () => {
  test('issues a key that the first accepts at once', () => {
    const path = newPath()
    const server = open(path)
    const cli = open(path)
    const { key, secret } = cli.keys.issue(newKey(), ACTOR)
    expect(server.keys.authenticate(bearer(secret)).label).toBe('a key')
    expect(server.refresh()).toBe(false)
    const rotated = cli.keys.rotate(key.id, 0, ACTOR)
    expect(server.keys.authenticate(bearer(rotated.secret)).id).toBe(key.id)
    expect(() => server.keys.authenticate(bearer(secret))).toThrow()
  })

  test('issues a key that the first accepts once it can read its file again', () => {
    const path = newPath()
    const server = open(path)
    const known = server.keys.issue(newKey(), ACTOR)
    const made = open(path).keys.issue(newKey(), ACTOR)
    const db = new Database(path)
    db.run('ALTER TABLE keys RENAME TO lost')
    expect(() => server.keys.authenticate(bearer(made.secret))).toThrow('The API key is not valid')
    expect(server.keys.authenticate(bearer(known.secret)).id).toBe(known.key.id)
    db.run('ALTER TABLE lost RENAME TO keys')
    db.close()
    expect(server.keys.authenticate(bearer(made.secret)).id).toBe(made.key.id)
  })

  test('revokes, changes and rotates keys of the first', () => {
    const path = newPath()
    const server = open(path)
    const made = server.keys.issue(newKey(), ACTOR)
    const held = server.keys.authenticate(bearer(made.secret))
    const cli = open(path)
    cli.keys.update(made.key.id, { tokensTotal: 5 }, ACTOR)
    const { secret } = cli.keys.rotate(made.key.id, 0, ACTOR)
    server.refresh()
    expect(held.tokensTotal).toBe(5)
    expect(() => server.keys.authenticate(bearer(made.secret))).toThrow()
    expect(server.keys.authenticate(bearer(secret))).toBe(held)
    cli.keys.revoke(made.key.id, ACTOR)
    server.refresh()
    expect(() => server.keys.authenticate(bearer(secret))).toThrow()
  })

  test('is not missed by a server that changes a key itself before it reloads', () => {
    const path = newPath()
    const server = open(path)
    server.journal.claim(() => undefined)
    const own = server.keys.issue(newKey(), ACTOR)
    const revoked = server.keys.issue(newKey(), ACTOR)
    server.refresh()
    const cli = open(path)
    const made = cli.keys.issue(newKey(), ACTOR)
    cli.keys.revoke(revoked.key.id, ACTOR)
    server.keys.update(own.key.id, { label: 'own' }, ACTOR)
    expect(server.refresh()).toBe(true)
    expect(server.keys.authenticate(bearer(made.secret)).id).toBe(made.key.id)
    expect(() => server.keys.authenticate(bearer(revoked.secret))).toThrow()
    expect(server.keys.get(own.key.id)?.label).toBe('own')
  })

  test('tops a key up beside the first, and neither undoes the other', () => {
    const path = newPath()
    const server = open(path)
    const { key } = server.keys.issue(newKey({ tokensTotal: 1_000 }), ACTOR)
    open(path).keys.update(key.id, { addTokens: 500 }, ACTOR)
    expect(server.keys.update(key.id, { addTokens: 20 }, ACTOR).tokensTotal).toBe(1_520)
  })

  test('is followed by a watching store on its own', async () => {
    const path = newPath()
    const server = open(path)
    const unwatch = server.watch(5)
    const { key } = open(path).keys.issue(newKey(), ACTOR)
    const deadline = Date.now() + 5_000
    while (server.keys.get(key.id) === undefined && Date.now() < deadline) await new Promise(setImmediate)
    unwatch()
    expect(server.keys.get(key.id)?.label).toBe('a key')
  })
})

test.each<[string, Partial<Key>]>([
  ['active', {}],
  ['exhausted', { tokensUsed: 10 }],
  ['exhausted', { tokensUsed: 11 }],
  ['expired', { expiresAt: NOW }],
  ['revoked', { revokedAt: 1, expiresAt: 0, tokensUsed: 99 }],
])('a key is %s', (status, more) => {
  const { keys } = open()
  const { key } = keys.issue(newKey({ tokensTotal: 10 }), ACTOR)
  expect(statusOf({ ...key, ...more }, NOW)).toBe(status as ReturnType<typeof statusOf>)
})

describe('a top-up', () => {
  const topped = (renews: 'month' | null, patches: KeyPatch[]) => {
    const store = open()
    const { key } = store.keys.issue(newKey({ tokensTotal: 1_000, renews }), ACTOR)
    for (const patch of patches) store.keys.update(key.id, patch, ACTOR)
    const { tokensTotal } = key
    const renewed = store.keys.renew(key.id)
    return [tokensTotal, renewed.tokensTotal, store.keys.renew(key.id).tokensTotal]
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
  ])('%s', (_, renews, patches, [before, after]) => {
    expect(topped(renews, patches)).toEqual([before, after, after])
  })
})
