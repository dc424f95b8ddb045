// What a key may be made of, and which member a refusal names.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import { checkKey, checkLabel } from '../../src/keys/check.ts'
import type { KeyPatch } from '../../src/keys/key.ts'
import { MOST_NETWORKS } from '../../src/lib/networks.ts'

/** The member a refusal names; undefined where there is none. */
const refused = (check: () => void): string | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.code).toBe('invalid_request')
    return error.param
  }
}
const networks = (count: number): string[] => Array.from({ length: count }, (_, last) => `192.0.2.${last}`)

describe('a key', () => {
  test.each<KeyPatch>([
    {},
    { label: 'one', models: ['*'], tokensTotal: 0, expiresAt: 0, addTokens: 0, tokensUsed: 0 },
    { rpm: null, tpm: null, concurrency: null, ips: null },
    { rpm: Number.MAX_SAFE_INTEGER, ips: ['198.51.100.4'] },
    { ips: ['198.51.100.0/24', '2001:db8::/48', '192.0.2.1'] },
    { ips: networks(MOST_NETWORKS) },
  ])('may be made of %j', (patch) => expect(refused(() => checkKey(patch))).toBeUndefined())

  test.each<[string, KeyPatch]>([
    ['label', { label: '' }],
    ['models', { models: [] }],
    ['models', { models: ['*', ' '] }],
    ['ips', { ips: [] }],
    ['ips', { ips: ['192.0.2.1', 'everywhere'] }],
    ['ips', { ips: networks(MOST_NETWORKS + 1) }],
    ...(['tokensTotal', 'addTokens', 'expiresAt', 'rpm', 'tpm', 'concurrency'] as const).flatMap((name) =>
      [-1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1].map((count): [string, KeyPatch] => [name, { [name]: count }]),
    ),
  ])('is refused for its %s where it is %j', (param, patch) => expect(refused(() => checkKey(patch))).toBe(param))
})

test('a refused network is told as it was written, and no more of it than people read', () => {
  const wrong = `10.0.0.0/33${'0'.repeat(200)}`
  expect(() => checkKey({ ips: ['10.0.0.0/8', wrong] })).toThrow(`found "${wrong.slice(0, 100)}"`)
})

test.each([
  ['key', ' ', 'The label of a key must not be empty.'],
  ['token', 'a\nb', 'The label of a token must not have line breaks or other invisible characters.'],
] as const)('the label of a %s that is %j is refused in words of its own', (of, label, words) =>
  expect(() => checkLabel(label, of)).toThrow(words),
)
