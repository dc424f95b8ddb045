// How long a conversation is that a provider keeps: at once where it is remembered, else as it is written down.

import { expect, test } from 'bun:test'
import { createContinued } from '../../../src/relay/adapt/continued.ts'
import { type ClientBody, NO_BODY } from '../../../src/relay/client-body.ts'

const body = (previous?: string): ClientBody => ({
  ...NO_BODY,
  inputEstimate: 10,
  outline: previous === undefined ? {} : { previous_response_id: previous },
})

const asking = (written: Record<string, number> = {}) => {
  const asked: string[] = []
  const continued = createContinued(async (keyId, answerId) => {
    asked.push(`${keyId} ${answerId}`)
    return written[answerId]
  })
  return { asked, continued }
}

test('nobody is asked, nor waited for, where nothing is continued or it is remembered', () => {
  const { asked, continued } = asking({ a: 1 })
  const alone = body()
  expect(continued.withPrevious('k', alone)).toBe(alone)
  continued.remember('k', 'a', 500)
  expect(continued.withPrevious('k', body('a'))).toMatchObject({ inputEstimate: 510 })
  expect(asked).toEqual([])
})

test('what is written down counts, and is remembered from then on', async () => {
  const { asked, continued } = asking({ a: 700 })
  const first = continued.withPrevious('k', body('a'))
  expect(first).toBeInstanceOf(Promise)
  expect((await first).inputEstimate).toBe(710)
  expect(continued.withPrevious('k', body('a'))).toMatchObject({ inputEstimate: 710 })
  expect(asked).toEqual(['k a'])
})

test('what nobody knows counts for what it says itself, and is asked for again: it may be written later', async () => {
  const written: Record<string, number> = {}
  const { asked, continued } = asking(written)
  const sent = body('a')
  expect(await continued.withPrevious('k', sent)).toBe(sent)
  written.a = 5
  expect((await continued.withPrevious('k', sent)).inputEstimate).toBe(15)
  expect(asked).toEqual(['k a', 'k a'])
})

test('a request whose answer cannot be looked up is not let in for less', () => {
  const continued = createContinued(() => Promise.reject(new Error('away')))
  expect(continued.withPrevious('k', body('a'))).rejects.toThrow('away')
})
