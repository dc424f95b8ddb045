// What a request must show to be let in.

import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import { hashSecret, makeSecret, randomBase62, TOKEN_PREFIX } from '../../src/keys/secret.ts'
import { ACTOR, bearer, cleanUp, DAY, NOW, newKey, open } from '../store/support.ts'

afterEach(cleanUp)

const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error.code
    throw error
  }
  return 'none'
}

describe('authenticate', () => {
  const whole = makeSecret()
  test.each([
    ['in quotes', `Bearer "${whole}"`, 'Something stands around it, such as quotes. Send it alone.'],
    ['with a sign behind it', `Bearer ${whole};`, 'Something stands around it, such as quotes. Send it alone.'],
    ['with its end missing', `Bearer ${whole.slice(0, -7)}`, 'It has 42 characters, a whole one 49. Copy it again'],
    ['with another behind it', `Bearer ${whole}${whole.slice(6)}`, 'It has 92 characters, a whole one 49'],
    ['as it was made, but unknown', `Bearer ${whole}`, 'Check that it was copied whole, or get a new one.'],
    ['of a vendor', 'Bearer sk-proj-abc', "Send one of this gateway's, which begin with sk-sl-"],
    ['that nobody filled in', 'Bearer $SLUICE_KEY', "Send one of this gateway's, which begin with sk-sl-"],
    ['for the admin API', `Bearer ${makeSecret(TOKEN_PREFIX)}`, 'It is a token for the admin API. Send a key'],
  ])('tells of a key %s what is wrong with it', async (_, authorization, advice) => {
    const { keys } = open()
    const said = (async () => keys.authenticate(new Headers({ authorization })))()
    await expect(said).rejects.toThrow(`The API key is not valid. ${advice}`)
    await expect(said).rejects.not.toThrow(authorization.slice('Bearer '.length))
  })

  test('of a known key is no promise, and neither is its refusal', async () => {
    const { keys } = open()
    const { key, secret } = await keys.issue(newKey(), ACTOR)
    expect(keys.authenticate(bearer(secret))).toBe(key)
    await keys.revoke(key.id, ACTOR)
    expect(codeOf(() => keys.authenticate(bearer(secret)))).toBe('invalid_api_key')
  })

  const other = 'sk-sl-0000000000000000000000000000000000000000000'
  test.each([
    ['nothing', {}, 'missing_api_key'],
    ['an empty x-api-key', { 'x-api-key': '' }, 'missing_api_key'],
    ['a bearer token', { authorization: 'Bearer KEY' }, 'none'],
    ['a bearer token in other capitals', { authorization: 'bEARER KEY' }, 'none'],
    ['a bearer token after several spaces', { authorization: 'Bearer   KEY' }, 'none'],
    ['an x-api-key', { 'x-api-key': 'KEY' }, 'none'],
    ['both, the bearer token right', { authorization: 'Bearer KEY', 'x-api-key': other }, 'none'],
    ['both, the x-api-key right', { authorization: `Bearer ${other}`, 'x-api-key': 'KEY' }, 'invalid_api_key'],
    ['another scheme', { authorization: 'Basic KEY' }, 'invalid_api_key'],
    [
      'another scheme beside the right x-api-key',
      { authorization: 'Basic a2V5', 'x-api-key': 'KEY' },
      'invalid_api_key',
    ],
    ['an empty Authorization beside the right x-api-key', { authorization: '', 'x-api-key': 'KEY' }, 'invalid_api_key'],
    ['a bare Bearer beside the right x-api-key', { authorization: 'Bearer', 'x-api-key': 'KEY' }, 'invalid_api_key'],
    ['the key without its scheme', { authorization: 'KEY' }, 'invalid_api_key'],
    ['two tokens', { authorization: 'Bearer KEY KEY' }, 'invalid_api_key'],
    ['a key cut short', { authorization: 'Bearer CUT' }, 'invalid_api_key'],
    ['a secret of a megabyte', { 'x-api-key': 'x'.repeat(1_000_000) }, 'invalid_api_key'],
  ])('a request with %s', async (_what, headers, code) => {
    const { keys } = open()
    const { secret } = await keys.issue(newKey(), ACTOR)
    const shown = new Headers()
    for (const [name, value] of Object.entries(headers)) {
      shown.set(name, value.replaceAll('KEY', secret).replaceAll('CUT', secret.slice(0, -1)))
    }
    expect(codeOf(() => keys.authenticate(shown))).toBe(code)
  })

  test('two Authorization headers are no usable bearer token', async () => {
    const { keys } = open()
    const { secret } = await keys.issue(newKey(), ACTOR)
    const headers = bearer(secret)
    headers.append('authorization', `Bearer ${secret}`)
    expect(codeOf(() => keys.authenticate(headers))).toBe('invalid_api_key')
  })

  test('a refusal says in one sentence or two what to do and never repeats the secret', async () => {
    const { keys } = open()
    const { key, secret } = await keys.issue(newKey(), ACTOR)
    await keys.revoke(key.id, ACTOR)
    for (const headers of [
      new Headers(),
      bearer(secret),
      bearer('sk-sl-wrong'),
      new Headers({ authorization: secret }),
    ]) {
      const error = (() => {
        try {
          return keys.authenticate(headers)
        } catch (thrown) {
          return thrown
        }
      })()
      expect(error).toBeInstanceOf(GatewayError)
      const { message, retry } = error as GatewayError
      expect(message).toMatch(/^[A-Z].*(Send|Check|Get|Copy).*\.$/)
      expect(message).not.toContain('sk-sl-')
      expect(retry).toBe(false)
    }
  })

  test('a key is in force until the millisecond it expires', async () => {
    let now = NOW
    const { keys } = open(':memory:', () => now)
    const { secret } = await keys.issue(newKey({ expiresAt: NOW + DAY }), ACTOR)
    now = NOW + DAY - 1
    expect(codeOf(() => keys.authenticate(bearer(secret)))).toBe('none')
    now = NOW + DAY
    expect(codeOf(() => keys.authenticate(bearer(secret)))).toBe('invalid_api_key')
  })

  test('after a rotation both secrets work until the grace ends, then the new one alone', async () => {
    let now = NOW
    const { keys } = open(':memory:', () => now)
    const old = await keys.issue(newKey(), ACTOR)
    const fresh = await keys.rotate(old.key.id, DAY, ACTOR)
    expect(keys.authenticate(bearer(old.secret))).toBe(keys.authenticate(bearer(fresh.secret)))
    now = NOW + DAY
    expect(codeOf(() => keys.authenticate(bearer(old.secret)))).toBe('invalid_api_key')
    expect(codeOf(() => keys.authenticate(bearer(fresh.secret)))).toBe('none')
  })

  test('a rotation without grace ends the old secret at once', async () => {
    const { keys } = open()
    const old = await keys.issue(newKey(), ACTOR)
    await keys.rotate(old.key.id, 0, ACTOR)
    expect(codeOf(() => keys.authenticate(bearer(old.secret)))).toBe('invalid_api_key')
  })

  test('a second rotation within the grace leaves the last two secrets', async () => {
    const { keys } = open()
    const first = await keys.issue(newKey(), ACTOR)
    const second = await keys.rotate(first.key.id, DAY, ACTOR)
    const third = await keys.rotate(first.key.id, DAY, ACTOR)
    const codes = [first, second, third].map(({ secret }) => codeOf(() => keys.authenticate(bearer(secret))))
    expect(codes).toEqual(['invalid_api_key', 'none', 'none'])
  })
})

describe('secrets', () => {
  test('are sk-sl- and 43 characters of base62, never the same twice', () => {
    const secrets = Array.from({ length: 500 }, makeSecret)
    for (const secret of secrets) expect(secret).toMatch(/^sk-sl-[0-9A-Za-z]{43}$/)
    expect(new Set(secrets).size).toBe(500)
  })

  test('favour no character', () => {
    const counts = new Map<string, number>()
    const length = 62 * 4_000
    for (const character of randomBase62(length)) counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(62)
    // Taking bytes modulo 62 would favour eight characters by a quarter; chance alone stays within six sigma, a tenth.
    for (const count of counts.values()) expect(Math.abs(count - 4_000)).toBeLessThan(400)
  })

  test('come at any length asked for', () =>
    fc.assert(fc.property(fc.integer({ min: 0, max: 200 }), (length) => randomBase62(length).length === length)))

  test('are hashed with SHA-256', () => {
    expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})
