// Entries of the configuration: kept, changed, sealed anew; told in the audit, never what is sealed.

import { afterEach, describe, expect, test } from 'bun:test'
import type { SealedCredential } from '../../src/store/entries.ts'
import { ACTOR, cleanUp, newPath, open } from './support.ts'

afterEach(cleanUp)

const sealed = (text: string): SealedCredential => ({ text, by: 'k1', lastFour: 'wxyz' })

describe('entries', () => {
  test('come by section in the order in which one may name another, then by age', () => {
    let now = 1
    const { entries } = open(':memory:', () => now++)
    entries.change('aliases', 'fast', () => ({ value: 'vendorB-5.4' }), ACTOR)
    entries.change('models', 'z', () => ({ value: { provider: 'p' } }), ACTOR)
    entries.change('models', 'a', () => ({ value: {} }), ACTOR)
    entries.change('providers', 'p', () => ({ value: { preset: 'groq' } }), ACTOR)
    expect(entries.list().map(({ section, name }) => `${section} ${name}`)).toEqual([
      'providers p',
      'models z',
      'models a',
      'aliases fast',
    ])
  })

  test('a change is given what there was, and keeps the credential where it brings none', () => {
    const { entries } = open()
    entries.change('accounts', 'p/main', () => ({ value: { weight: 1 }, credential: sealed('s') }), ACTOR)
    entries.change('accounts', 'p/main', (before) => ({ value: { was: before?.value } }), ACTOR)
    expect(entries.list()).toMatchObject([{ value: { was: { weight: 1 } }, credential: sealed('s') }])
  })

  test('what the change throws undoes it', () => {
    const { entries, audit } = open()
    const failing = () => {
      throw new Error('not so')
    }
    expect(() => entries.change('aliases', 'a', failing, ACTOR)).toThrow('not so')
    expect(entries.list()).toEqual([])
    expect(audit({ limit: 5 })).toEqual([])
  })

  test('the revision differs after every change, the removal of the newest and another in its place among them', () => {
    const { entries } = open()
    const seen = new Set([entries.revision()])
    const change = (name: string, value: unknown): void => {
      entries.change('aliases', name, () => (value === undefined ? undefined : { value }), ACTOR)
      expect(seen.has(entries.revision())).toBe(false)
      seen.add(entries.revision())
    }
    change('a', 'x')
    change('b', 'x')
    change('b', 'y')
    entries.change('aliases', 'b', () => undefined, ACTOR)
    change('c', 'x')
  })

  test('is the same for who looks from another process', () => {
    const path = newPath()
    const [one, other] = [open(path), open(path)]
    one.entries.change('aliases', 'a', () => ({ value: 'x' }), ACTOR)
    expect(other.entries.revision()).toBe(one.entries.revision())
    expect(other.entries.list()).toEqual(one.entries.list())
  })

  test('the audit tells each change and four characters of a credential, never what is sealed', () => {
    const { entries, audit } = open()
    entries.change('accounts', 'p/main', () => ({ value: { weight: 1 }, credential: sealed('SEALED-TEXT') }), ACTOR)
    entries.change('accounts', 'p/main', () => ({ value: { weight: 2 }, credential: sealed('OTHER-TEXT') }), ACTOR)
    entries.reseal(
      (entry) => ({ ...sealed(`${entry.credential?.text}!`), by: 'k2' }),
      () => undefined,
      ACTOR,
    )
    entries.change('accounts', 'p/main', () => undefined, ACTOR)
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
      entries.change('accounts', name, () => ({ value: {}, credential: sealed(name) }), ACTOR)
    const onlyA = (entry: { name: string }) => (entry.name === 'p/a' ? { ...sealed('new'), by: 'k2' } : undefined)
    expect(() =>
      entries.reseal(
        onlyA,
        () => {
          throw new Error('disk')
        },
        ACTOR,
      ),
    ).toThrow('disk')
    expect(entries.list().map(({ credential }) => credential?.by)).toEqual(['k1', 'k1'])
    expect(entries.reseal(onlyA, () => undefined, ACTOR)).toBe(1)
    expect(entries.list().map(({ credential }) => credential?.by)).toEqual(['k2', 'k1'])
  })
})
