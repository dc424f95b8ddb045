// Entries of the configuration: kept, changed, sealed anew; told in the audit, never what is sealed.

import { afterEach, describe, expect, test } from 'bun:test'
import type { EntryChange, EntryStore, SealedCredential, Section } from '../../src/store/entries.ts'
import { closeAll, STORES } from './stores.ts'
import { ACTOR } from './support.ts'

afterEach(closeAll)

const change = (
  entries: EntryStore,
  section: Section,
  name: string,
  next: () => EntryChange | undefined,
): Promise<void> => entries.change([{ section, name, next }], ACTOR)

const sealed = (text: string): SealedCredential => ({ text, by: 'k1', lastFour: 'wxyz' })

describe.each(STORES)('entries in %s', (_, { newPlace }) => {
  const open = async (clock?: () => number) => (await newPlace()).open(clock)

  test('come by section in the order in which one may name another, then by age', async () => {
    let now = 1
    const { entries } = await open(() => now++)
    await change(entries, 'aliases', 'fast', () => ({ value: 'vendorB-5.4' }))
    await change(entries, 'models', 'z', () => ({ value: { provider: 'p' } }))
    await change(entries, 'models', 'a', () => ({ value: {} }))
    await change(entries, 'providers', 'p', () => ({ value: { preset: 'groq' } }))
    expect((await entries.list()).map(({ section, name }) => `${section} ${name}`)).toEqual([
      'providers p',
      'models z',
      'models a',
      'aliases fast',
    ])
  })

  test('those that one change made come by the bytes of their names', async () => {
    const { entries } = await open()
    const names = ['b', 'a', 'B', '_', 'á', 'a-b', 'ab', '1']
    const all = names.map((name) => ({ section: 'aliases' as const, name, next: () => ({ value: 'x' }) }))
    await entries.change(all, ACTOR)
    expect((await entries.list()).map(({ name }) => name)).toEqual(['1', 'B', '_', 'a', 'a-b', 'ab', 'b', 'á'])
  })

  test('a change keeps the credential where it brings none', async () => {
    const { entries } = await open()
    await change(entries, 'accounts', 'p/main', () => ({ value: { weight: 1 }, credential: sealed('s') }))
    await change(entries, 'accounts', 'p/main', () => ({ value: { weight: 2 } }))
    expect(await entries.list()).toMatchObject([{ value: { weight: 2 }, credential: sealed('s') }])
  })

  test('what one change throws undoes all of them', async () => {
    const { entries, audit } = await open()
    const failing = () => {
      throw new Error('not so')
    }
    const right = { section: 'aliases' as const, name: 'a', next: () => ({ value: 'x' }) }
    await expect(entries.change([right, { ...right, name: 'b', next: failing }], ACTOR)).rejects.toThrow('not so')
    expect(await entries.list()).toEqual([])
    expect(await audit({ limit: 5 })).toEqual([])
  })

  test('the revision differs after every change, the removal of the newest and another in its place among them', async () => {
    const { entries } = await open()
    const seen = new Set([await entries.revision()])
    const set = async (name: string, value: unknown): Promise<void> => {
      await change(entries, 'aliases', name, () => (value === undefined ? undefined : { value }))
      expect(seen.has(await entries.revision())).toBe(false)
      seen.add(await entries.revision())
    }
    await set('a', 'x')
    await set('b', 'x')
    await set('b', 'y')
    await change(entries, 'aliases', 'b', () => undefined)
    await set('c', 'x')
  })

  test('is the same for who looks from another process', async () => {
    const place = await newPlace()
    const [one, other] = [await place.open(), await place.open()]
    await change(one.entries, 'aliases', 'a', () => ({ value: 'x' }))
    expect(await other.entries.revision()).toBe(await one.entries.revision())
    expect(await other.entries.list()).toEqual(await one.entries.list())
  })

  test('the audit tells each change and four characters of a credential, never what is sealed', async () => {
    const { entries, audit } = await open()
    await change(entries, 'accounts', 'p/main', () => ({ value: { weight: 1 }, credential: sealed('SEALED-TEXT') }))
    await change(entries, 'accounts', 'p/main', () => ({ value: { weight: 2 }, credential: sealed('OTHER-TEXT') }))
    await entries.reseal((entry) => ({ ...sealed(`${entry.credential?.text}!`), by: 'k2' }), ACTOR)
    await change(entries, 'accounts', 'p/main', () => undefined)
    const told = await audit({ limit: 10 })
    expect(told.map(({ action }) => action)).toEqual([
      'account.remove',
      'account.reseal',
      'account.change',
      'account.add',
    ])
    expect(told.at(-1)).toMatchObject({ target: 'p/main', after: { value: { weight: 1 }, credential: '…wxyz' } })
    expect(JSON.stringify(told)).not.toContain('TEXT')
  })

  test('sealing anew leaves out what is not to be, and fails as a whole', async () => {
    const { entries } = await open()
    for (const name of ['p/a', 'p/b'])
      await change(entries, 'accounts', name, () => ({ value: {}, credential: sealed(name) }))
    const failing = (entry: { name: string }) => {
      if (entry.name === 'p/b') throw new Error('not so')
      return { ...sealed('new'), by: 'k2' }
    }
    await expect(entries.reseal(failing, ACTOR)).rejects.toThrow('not so')
    expect((await entries.list()).map(({ credential }) => credential?.by)).toEqual(['k1', 'k1'])
    const onlyA = (entry: { name: string }) => (entry.name === 'p/a' ? { ...sealed('new'), by: 'k2' } : undefined)
    expect(await entries.reseal(onlyA, ACTOR)).toBe(1)
    expect((await entries.list()).map(({ credential }) => credential?.by)).toEqual(['k2', 'k1'])
  })
})
