// Entries of the configuration: kept, changed, sealed anew; told in the audit, never what is sealed.

import { afterEach, describe, expect, test } from 'bun:test'
import type { EntryChange, EntryStore, SealedCredential, Section } from '../../src/store/entries.ts'
import { ACTOR, cleanUp, newPath, open } from './support.ts'

afterEach(cleanUp)

const change = (entries: EntryStore, section: Section, name: string, next: () => EntryChange | undefined): void =>
  entries.change([{ section, name, next }], ACTOR)

const sealed = (text: string): SealedCredential => ({ text, by: 'k1', lastFour: 'wxyz' })

describe('entries', () => {
  test('come by section in the order in which one may name another, then by age', () => {
    let now = 1
    const { entries } = open(':memory:', () => now++)
    change(entries, 'aliases', 'fast', () => ({ value: 'vendorB-5.4' }))
    change(entries, 'models', 'z', () => ({ value: { provider: 'p' } }))
    change(entries, 'models', 'a', () => ({ value: {} }))
    change(entries, 'providers', 'p', () => ({ value: { preset: 'groq' } }))
    expect(entries.list().map(({ section, name }) => `${section} ${name}`)).toEqual([
      'providers p',
      'models z',
      'models a',
      'aliases fast',
    ])
  })

  test('a change keeps the credential where it brings none', () => {
    const { entries } = open()
    change(entries, 'accounts', 'p/main', () => ({ value: { weight: 1 }, credential: sealed('s') }))
    change(entries, 'accounts', 'p/main', () => ({ value: { weight: 2 } }))
    expect(entries.list()).toMatchObject([{ value: { weight: 2 }, credential: sealed('s') }])
  })

  test('what one change throws undoes all of them', () => {
    const { entries, audit } = open()
    const failing = () => {
      throw new Error('not so')
    }
    const right = { section: 'aliases' as const, name: 'a', next: () => ({ value: 'x' }) }
    expect(() => entries.change([right, { ...right, name: 'b', next: failing }], ACTOR)).toThrow('not so')
    expect(entries.list()).toEqual([])
    expect(audit({ limit: 5 })).toEqual([])
  })

  test('the revision differs after every change, the removal of the newest and another in its place among them', () => {
    const { entries } = open()
    const seen = new Set([entries.revision()])
    const set = (name: string, value: unknown): void => {
      change(entries, 'aliases', name, () => (value === undefined ? undefined : { value }))
      expect(seen.has(entries.revision())).toBe(false)
      seen.add(entries.revision())
    }
    set('a', 'x')
    set('b', 'x')
    set('b', 'y')
    change(entries, 'aliases', 'b', () => undefined)
    set('c', 'x')
  })

  test('is the same for who looks from another process', () => {
    const path = newPath()
    const [one, other] = [open(path), open(path)]
    change(one.entries, 'aliases', 'a', () => ({ value: 'x' }))
    expect(other.entries.revision()).toBe(one.entries.revision())
    expect(other.entries.list()).toEqual(one.entries.list())
  })

  test('the audit tells each change and four characters of a credential, never what is sealed', () => {
    const { entries, audit } = open()
    change(entries, 'accounts', 'p/main', () => ({ value: { weight: 1 }, credential: sealed('SEALED-TEXT') }))
    change(entries, 'accounts', 'p/main', () => ({ value: { weight: 2 }, credential: sealed('OTHER-TEXT') }))
    entries.reseal((entry) => ({ ...sealed(`${entry.credential?.text}!`), by: 'k2' }), ACTOR)
    change(entries, 'accounts', 'p/main', () => undefined)
    const told = audit({ limit: 10 })
    expect(told.map(({ action }) => action)).toEqual([
      'account.remove',
      'account.reseal',
      'account.change',
      'account.add',
    ])
    expect(told.at(-1)).toMatchObject({ target: 'p/main', after: { value: { weight: 1 }, credential: '…wxyz' } })
    expect(JSON.stringify(told)).not.toContain('TEXT')
  })

  test('sealing anew leaves out what is not to be, and fails as a whole', () => {
    const { entries } = open()
    for (const name of ['p/a', 'p/b'])
      change(entries, 'accounts', name, () => ({ value: {}, credential: sealed(name) }))
    const failing = (entry: { name: string }) => {
      if (entry.name === 'p/b') throw new Error('not so')
      return { ...sealed('new'), by: 'k2' }
    }
    expect(() => entries.reseal(failing, ACTOR)).toThrow('not so')
    expect(entries.list().map(({ credential }) => credential?.by)).toEqual(['k1', 'k1'])
    const onlyA = (entry: { name: string }) => (entry.name === 'p/a' ? { ...sealed('new'), by: 'k2' } : undefined)
    expect(entries.reseal(onlyA, ACTOR)).toBe(1)
    expect(entries.list().map(({ credential }) => credential?.by)).toEqual(['k2', 'k1'])
  })
})
