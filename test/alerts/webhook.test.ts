// What a webhook gets: a body that is documented, and a signature that the libraries of Standard Webhooks take.

import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Webhook as Verifier } from 'standardwebhooks'
import type { Alert, Receiver } from '../../src/alerts/alert.ts'
import { bodyFor } from '../../src/alerts/body.ts'
import { send } from '../../src/alerts/send.ts'
import { alertOf, startHook, webhook } from './support.ts'

const hook = startHook()
afterAll(hook.stop)

const sent = async (alert: Alert, more: Partial<Receiver> = {}) => {
  const stop = new AbortController().signal
  expect(await send(webhook('one', hook.url, more), alert, { stop, nowMs: Date.now() })).toEqual({ ok: true })
  const last = hook.requests.at(-1)
  if (last === undefined) throw new Error('nothing came')
  return { ...last, headers: Object.fromEntries(last.headers) }
}

describe('a signature', () => {
  const encoded = `whsec_${Buffer.from('a key of some bytes').toString('base64')}`

  test('is taken by the library for it, with a secret in its form', async () => {
    const { text, headers } = await sent(alertOf('alr_1', 5), { secret: encoded })
    expect(new Verifier(encoded).verify(text, headers)).toMatchObject({ id: 'alr_1', type: 'quota' })
  })

  test('is made with the text itself of any other secret', async () => {
    const { text, headers } = await sent(alertOf('alr_2'), { secret: 'plain words' })
    expect(new Verifier('plain words', { format: 'raw' }).verify(text, headers)).toMatchObject({ id: 'alr_2' })
  })

  test('is refused for another body, id or secret', async () => {
    const { text, headers } = await sent(alertOf('alr_3'), { secret: encoded })
    expect(() => new Verifier(encoded).verify(`${text} `, headers)).toThrow()
    expect(() => new Verifier(encoded).verify(text, { ...headers, 'webhook-id': 'alr_4' })).toThrow()
    expect(() => new Verifier('other', { format: 'raw' }).verify(text, headers)).toThrow()
  })

  test('is left out where there is no secret', async () => {
    const { headers } = await sent(alertOf('alr_5'), { format: 'slack', secret: undefined })
    expect(headers).not.toHaveProperty('webhook-signature')
  })
})

describe('a body', () => {
  const alert: Alert = {
    ...{ id: 'alr_1', type: 'account-resting', at: Date.UTC(2026, 0, 2, 3), more: 2 },
    items: [{ cause: 'account-resting/a/main', text: 'The account a/main is silent.', account: 'a/main', failures: 3 }],
  }

  test('of our own says what programs need', () => {
    expect(JSON.parse(bodyFor('json', alert))).toEqual({
      id: 'alr_1',
      type: 'account-resting',
      timestamp: '2026-01-02T03:00:00.000Z',
      title: 'A provider account does not answer',
      data: { items: alert.items, more: 2 },
    })
  })

  test('for Slack and for Discord has the sentences', () => {
    const lines = ['A provider account does not answer', 'The account a/main is silent.', 'And 2 more.']
    expect(JSON.parse(bodyFor('slack', alert))).toEqual({ text: lines.join('\n'), mrkdwn: false })
    expect(JSON.parse(bodyFor('discord', alert))).toEqual({
      content: lines.join('\n').replace(lines[0] ?? '', `**${lines[0]}**`),
      allowed_mentions: { parse: [] },
    })
  })

  test('calls nobody and leads nowhere by the names in it, and keeps to the length that Discord takes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '!', '@', '&', '*', '_', '`', '[', ']', 'a', ' ') }),
        (name) => {
          const named = alertOf('a', 0, `The key "${name}" ends.`)
          expect(JSON.parse(bodyFor('slack', named)).text).not.toMatch(/[<>]/)
          expect(
            JSON.parse(bodyFor('discord', named)).content.slice('**A token quota is nearly or wholly used up**'.length),
          ).not.toMatch(/(?<!\\)[<[*_`]/)
        },
      ),
    )
    const long = { ...alert, items: Array.from({ length: 20 }, () => ({ cause: 'c', text: 'x'.repeat(300) })) }
    expect(JSON.parse(bodyFor('discord', long)).content.length).toBe(2_000)
  })
})
