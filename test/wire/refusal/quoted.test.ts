// What a refusal quotes from its request speaks for nobody but the client, wherever in the client's text it stands.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/ir/json.ts'
import { isClients, isClientsName } from '../../../src/wire/refusal/quoted.ts'

const WORDS = 'credit balance is too low'
const asked = (content: string): JsonObject => ({ model: 'm', messages: [{ role: 'user', content }] })
const isOf = (sent: JsonObject, text: string): boolean =>
  isClients(sent, text, { at: text.indexOf(WORDS), length: WORDS.length })

/** What stands on either side of the words, as long as a sentence. */
const beside = fc.stringMatching(/^[a-z ]{12,40}$/)

describe('words of a refusal are the client’s', () => {
  test('whether its text begins with them, ends with them, or has them amid others', () => {
    fc.assert(
      fc.property(beside, beside, fc.constantFrom('first', 'last', 'amid'), (before, after, place) => {
        const said = `${place === 'first' ? '' : before}${WORDS}${place === 'last' ? '' : after}`
        expect(isOf(asked(said), `Refused: >>${said}<< cannot be answered here.`)).toBe(true)
      }),
    )
  })

  test('and not where the server says them of itself, whatever the client has said of the same', () => {
    fc.assert(
      fc.property(beside, beside, (before, after) => {
        const sent = asked(`${before}|${WORDS}|${after}`)
        expect(isOf(sent, `Request refused: your ${WORDS} to go on with this account.`)).toBe(false)
      }),
    )
  })
})

test.each([
  ["Invalid schema for function 'balance': no type", true],
  ['balance: no type', true],
  ['The balance has no type', false],
])('a name that the request has for something of its own is told as one: %s', (text, isTold) => {
  const sent = { ...asked('Hi'), tools: [{ type: 'function', function: { name: 'balance' } }] }
  expect(isClientsName(sent, text, { at: text.indexOf('balance') })).toBe(isTold)
})
