// What the gateway keeps of answers: found by its own key only, whole or not at all, within bounds, in the database as in
// memory.

import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import { ANSWER_BYTES, type AnswerStore, type Bounds, type Place } from '../../../src/ledger/kept-answers.ts'
import { createAnswersInMemory } from '../../../src/ledger/kept-in-memory.ts'
import { splice } from '../../../src/lib/json-splice.ts'
import { free } from '../../../src/lib/memory.ts'
import { createTurns } from '../../../src/lib/turns.ts'
import { createRecall, type Recall } from '../../../src/relay/adapt/recall.ts'
import { storeError } from '../../../src/store/store.ts'
import { itemsWritten, listOf } from '../../../src/wire/responses/references.ts'
import { cleanUp, open } from '../../store/support.ts'

afterEach(cleanUp)

const ROOMY: Bounds = { perKey: 10_000_000, total: 100_000_000 }

const recallOn = (
  answers: AnswerStore,
  bounds = ROOMY,
  failed: (cause: unknown) => void = () => undefined,
  found: (place: Place) => void = () => undefined,
): Recall => createRecall({ answers: () => answers, bounds: () => bounds, turns: createTurns(), failed, found })

const said = (id: string): JsonObject => ({ type: 'message', id, role: 'assistant', content: [] })
const asked = (words: string): JsonObject => ({ role: 'user', content: words })

/** An answer to a request, as a client was given it. */
const keep = (recall: Recall, key: string, name: string, more: { after?: string; words?: string } = {}) => {
  const { after, words = name } = more
  const request = { ...(after === undefined ? {} : { previous: `resp_${after}` }), input: [asked(words)] }
  return recall.open(
    key,
    request,
    words.length,
  )({ id: `resp_${name}`, status: 'completed', output: [said(`msg_${name}`)] })
}

/** The body as it goes on, its references resolved. */
const resolved = async (recall: Recall, key: string, body: JsonObject): Promise<JsonObject> =>
  JSON.parse(splice(JSON.stringify(body), await recall.edits(key, body, () => body))) as JsonObject

const referring = (...ids: string[]): JsonObject => ({ input: ids.map((id) => ({ type: 'item_reference', id })) })
const continuing = (name: string): JsonObject => ({ previous_response_id: `resp_${name}`, input: 'go on' })
const isKnown = async (recall: Recall, key: string, body: JsonObject): Promise<boolean> =>
  (await recall.edits(key, body, () => body)).length > 0

let now = 1_000_000
const STORES: [string, () => AnswerStore][] = [
  ['in the database', () => open(':memory:', () => (now += 60_000)).answers],
  ['in memory', createAnswersInMemory],
]

describe.each(STORES)('%s', (_, makeStore) => {
  describe('a reference', () => {
    test('is replaced by the item it names, even without a type, and nothing else changes', async () => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a')
      for (const reference of [{ type: 'item_reference', id: 'msg_a' }, { id: 'msg_a' }]) {
        const body = { model: 'm', input: [asked('x'), reference, asked('x')] }
        expect(await resolved(recall, 'k', body)).toEqual({
          model: 'm',
          input: [asked('x'), said('msg_a'), asked('x')],
        })
      }
    })

    test('to the same item a second time is refused, as the vendor does', async () => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a')
      await expect(resolved(recall, 'k', referring('msg_a', 'msg_b', 'msg_b', 'msg_a'))).rejects.toThrow('input.3')
    })

    test.each<[string, JsonObject]>([
      ['an id nobody has kept', referring('msg_b')],
      ['an item that only carries the id', { input: [{ ...said('msg_a'), content: [{ type: 'output_text' }] }] }],
      ['an answer nobody has kept', continuing('b')],
      ['an input of words', { input: 'msg_a' }],
      ['no input', {}],
    ])('%s stays as it is', async (_, body) => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a')
      expect(await recall.edits('k', body, () => body)).toEqual([])
    })

    test('of another key is unknown, and so are its answer and what it was asked with', async () => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a')
      expect(await isKnown(recall, 'other', referring('msg_a'))).toBe(false)
      expect(await isKnown(recall, 'other', continuing('a'))).toBe(false)
      expect(await recall.answer('other', 'resp_a')).toBeUndefined()
      expect(await recall.input('other', 'resp_a')).toBeUndefined()
      expect(await recall.forget('other', 'resp_a')).toBe(false)
      expect(await isKnown(recall, 'k', continuing('a'))).toBe(true)
    })
  })

  describe('an answer that its provider keeps', () => {
    test('is told of as it is found, so that one look serves all that is asked of it', async () => {
      const answers = makeStore()
      const found: Place[] = []
      const recall = recallOn(answers, ROOMY, undefined, (place) => void found.push(place))
      const place = { keyId: 'k', id: 'resp_there', account: 'p/one', tokens: 700 }
      await answers.place([place], ROOMY)
      await keep(recall, 'k', 'here')
      for (const name of ['there', 'here', 'nowhere'])
        expect(await isKnown(recall, 'k', continuing(name))).toBe(name === 'here')
      expect(found).toEqual([place])
      expect(await isKnown(recall, 'other', continuing('there'))).toBe(false)
      expect(found).toHaveLength(1)
    })
  })

  describe('an earlier answer', () => {
    test('is replaced by the whole conversation up to it', async () => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a')
      await keep(recall, 'k', 'b', { after: 'a' })
      await keep(recall, 'k', 'c', { after: 'a' })
      expect(await resolved(recall, 'k', { ...continuing('b'), stream: true })).toEqual({
        stream: true,
        input: [
          ...[asked('a'), said('msg_a'), asked('b'), said('msg_b')],
          { type: 'message', role: 'user', content: 'go on' },
        ],
      })
    })

    test('costs as many questions to the store after a long conversation as after a short one', async () => {
      const asked: string[] = []
      const store = new Proxy(makeStore(), {
        get(answers, name) {
          asked.push(String(name))
          return Reflect.get(answers, name)
        },
      })
      const recall = recallOn(store)
      const names = Array.from({ length: 40 }, (_, at) => `a${at}`)
      for (const [at, name] of names.entries()) await keep(recall, 'k', name, at > 0 ? { after: `a${at - 1}` } : {})
      const questions = async (run: () => Promise<unknown>): Promise<string[]> => {
        asked.length = 0
        await run()
        return asked.toSorted()
      }
      const of = (count: number) => [
        () => resolved(recall, 'k', continuing(`a${count - 1}`)),
        () => resolved(recall, 'k', referring(...names.slice(0, count).map((name) => `msg_${name}`))),
        () => recall.input('k', `resp_a${count - 1}`),
      ]
      const short: string[][] = []
      for (const run of of(2)) short.push(await questions(run))
      const long: string[][] = []
      for (const run of of(40)) long.push(await questions(run))
      expect(long).toEqual(short)
      expect(long).toEqual([
        ['conversation', 'read', 'use'],
        ['read', 'use', 'withItems'],
        ['conversation', 'read'],
      ])
      expect(await recall.input('k', 'resp_a39')).toHaveLength(79)
    })

    test('is given back as it was, with what it was asked', async () => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a')
      await keep(recall, 'k', 'b', { after: 'a' })
      const answer = { id: 'resp_b', status: 'completed', output: [said('msg_b')] }
      expect(JSON.parse((await recall.answer('k', 'resp_b')) ?? '')).toEqual(answer)
      expect(await recall.input('k', 'resp_b')).toEqual([asked('a'), said('msg_a'), asked('b')])
    })

    test('that is deleted is gone, and so is what continued it', async () => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a')
      await keep(recall, 'k', 'b', { after: 'a' })
      expect(await recall.forget('k', 'resp_a')).toBe(true)
      expect(await recall.forget('k', 'resp_a')).toBe(false)
      expect(await isKnown(recall, 'k', continuing('b'))).toBe(false)
      expect(await isKnown(recall, 'k', referring('msg_a'))).toBe(false)
      expect(await isKnown(recall, 'k', referring('msg_b'))).toBe(true)
    })

    test('is not kept where the one that it continues is forgotten meanwhile', async () => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a')
      const late = recall.open('k', { previous: 'resp_a', input: [asked('b')] }, 1)
      await recall.forget('k', 'resp_a')
      await late({ id: 'resp_b', output: [said('msg_b')] })
      expect(await recall.answer('k', 'resp_b')).toBeUndefined()
    })

    test('that refers to itself is never made', async () => {
      const recall = recallOn(makeStore())
      await keep(recall, 'k', 'a', { after: 'a' })
      expect(await isKnown(recall, 'k', continuing('a'))).toBe(false)
    })
  })

  test('any text comes back, however long and whatever its characters', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ unit: fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }), times: fc.nat(40_000) }),
          {
            maxLength: 5,
          },
        ),
        async (texts) => {
          const recall = recallOn(makeStore())
          const input: Json[] = texts.map(({ unit, times }) => asked(unit.repeat(times)))
          const output = input.map((item, at) => ({ id: `msg_${at}`, said: item }))
          await recall.open('k', { input }, JSON.stringify(input).length)({ id: 'resp_a', output })
          expect(await recall.input('k', 'resp_a')).toEqual(input)
          expect(JSON.parse((await recall.answer('k', 'resp_a')) ?? '')).toEqual({ id: 'resp_a', output })
        },
      ),
      { numRuns: 15 },
    ))

  test('an input comes back as its client wrote it, and is not read to be kept', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'grapheme', minLength: 1 }),
          fc.array(fc.record({ words: fc.string({ unit: 'grapheme' }), more: fc.jsonValue() })),
        ),
        fc.constantFrom(undefined, 2),
        fc.integer({ min: 1, max: 3_000 }),
        fc.integer({ min: 500, max: 70_000 }),
        async (input, spaces, times, pieceBytes) => {
          const recall = recallOn(makeStore())
          const long = typeof input === 'string' ? input.repeat(times) : [...input, { words: 'ខ្មែរ'.repeat(times) }]
          const text = JSON.stringify(long, undefined, spaces)
          const memory = new TextEncoder().encode(text)
          const written = itemsWritten(memory, pieceBytes)
          if (written === undefined) throw new Error('it is words or a list')
          const parse = spyOn(JSON, 'parse')
          const kept = recall.open('k', { input: written }, 1_000_000)
          // Its memory is given back as soon as its answer has begun.
          free(memory)
          await kept({ id: 'resp_a', output: [said('msg_a')] })
          // Others of this process may parse something meanwhile.
          const read = parse.mock.calls.flatMap(([one]) =>
            text.includes(one) || one.includes(text) ? [one.length] : [],
          )
          parse.mockRestore()
          expect(Math.max(0, ...read)).toBeLessThan(1_000)
          expect(await recall.input('k', 'resp_a')).toEqual(listOf(JSON.parse(text)))
        },
      ),
      { numRuns: 25 },
    ))

  describe('bounds', () => {
    const bounds = (answers: number, all = answers): Bounds => ({
      perKey: answers * (ANSWER_BYTES + 200),
      total: all * (ANSWER_BYTES + 200),
    })
    const known = async (recall: Recall, key: string, ...names: string[]): Promise<boolean[]> =>
      Promise.all(names.map(async (name) => (await recall.answer(key, `resp_${name}`)) !== undefined))

    test('the conversation used longest ago is forgotten first, all of it', async () => {
      const recall = recallOn(makeStore(), bounds(4))
      await keep(recall, 'k', 'a')
      await keep(recall, 'k', 'b')
      await keep(recall, 'k', 'b2', { after: 'b' })
      await keep(recall, 'k', 'c')
      await isKnown(recall, 'k', continuing('a'))
      await keep(recall, 'k', 'd')
      expect(await known(recall, 'k', 'a', 'b', 'b2', 'c', 'd')).toEqual([true, false, false, true, true])
    })

    test('hold for each key, and for all keys together', async () => {
      const recall = recallOn(makeStore(), bounds(3, 5))
      await keep(recall, 'quiet', 'q')
      for (const name of ['a', 'b', 'c', 'd', 'e']) await keep(recall, 'busy', name)
      expect(await known(recall, 'busy', 'a', 'b', 'c', 'd', 'e')).toEqual([false, false, true, true, true])
      expect(await known(recall, 'quiet', 'q')).toEqual([true])
      await keep(recall, 'third', 't')
      await keep(recall, 'third', 'u')
      expect(await known(recall, 'quiet', 'q')).toEqual([false])
      expect(await known(recall, 'third', 't', 'u')).toEqual([true, true])
    })

    test('an answer that is larger than them is not kept', async () => {
      const recall = recallOn(makeStore(), bounds(3))
      await keep(recall, 'k', 'a')
      await keep(recall, 'k', 'b', { words: 'b'.repeat(10_000) })
      expect(await known(recall, 'k', 'b')).toEqual([false])
    })

    test('are never exceeded, and the latest answer is always there', () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              key: fc.constantFrom('x', 'y', 'z'),
              name: fc.nat(9),
              goesOn: fc.boolean(),
              size: fc.nat(1500),
            }),
            { minLength: 1, maxLength: 40, size: 'max' },
          ),
          async (steps) => {
            const within = { perKey: 12_000, total: 25_000 }
            const recall = recallOn(makeStore(), within)
            const last = new Map<string, string>()
            const sizes = new Map<string, number>()
            for (const [at, { key, goesOn, size }] of steps.entries()) {
              const after = goesOn ? last.get(key) : undefined
              const name = `${key}${at}`
              const before = after !== undefined && (await recall.answer(key, `resp_${after}`)) !== undefined
              await keep(recall, key, name, { ...(before ? { after } : {}), words: 'w'.repeat(size) })
              sizes.set(name, ANSWER_BYTES + size)
              last.set(key, name)
            }
            const held = async (key: string): Promise<number> => {
              let sum = 0
              for (const [name, size] of sizes)
                if (name.startsWith(key) && (await recall.answer(key, `resp_${name}`)) !== undefined) sum += size
              return sum
            }
            const all = [await held('x'), await held('y'), await held('z')]
            expect(Math.max(...all)).toBeLessThanOrEqual(within.perKey)
            expect(all.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(within.total)
          },
        ),
        { numRuns: 50 },
      ))
  })

  test('where a provider keeps an answer is known for that answer and key', async () => {
    const answers = makeStore()
    const recall = recallOn(answers)
    answers.place([{ keyId: 'k', id: 'resp_p', account: 'vendor_b/second' }], ROOMY)
    expect((await recall.placeOf('k', 'resp_p'))?.place).toBe('vendor_b/second')
    expect(await recall.placeOf('other', 'resp_p')).toBeUndefined()
    expect(await isKnown(recall, 'k', continuing('p'))).toBe(false)
    expect(await recall.answer('k', 'resp_p')).toBeUndefined()
  })

  test('what such an answer came to is known with it, as it was told last, of many that are told together', async () => {
    const recall = recallOn(makeStore())
    const account = 'vendor_b/second'
    for (const keyId of ['k', 'l', 'k'])
      for (const id of ['resp_p', 'resp_q']) recall.place({ keyId, id, account, tokens: undefined })
    recall.place({ keyId: 'l', id: 'resp_q', account, tokens: 7 })
    recall.place({ keyId: 'k', id: 'resp_p', account, tokens: 5_500 })
    await recall.flush()
    const told = async (keyId: string, id: string) => (await recall.placeOf(keyId, id))?.tokens
    expect(
      await Promise.all([told('k', 'resp_p'), told('k', 'resp_q'), told('l', 'resp_p'), told('l', 'resp_q')]),
    ).toEqual([5_500, undefined, undefined, 7])
    recall.place({ keyId: 'k', id: 'resp_p', account, tokens: 6 })
    await recall.flush()
    expect(await told('k', 'resp_p')).toBe(6)
  })

  test('places count as answers do within the bounds of a key and of all', async () => {
    const recall = recallOn(makeStore(), { perKey: 3 * ANSWER_BYTES, total: 5 * ANSWER_BYTES })
    const place = async (keyId: string, ...ids: string[]): Promise<void> => {
      for (const id of ids) recall.place({ keyId, id, account: 'vendor_b/one' })
      await recall.flush()
    }
    const known = (keyId: string, ...ids: string[]): Promise<boolean[]> =>
      Promise.all(ids.map(async (id) => (await recall.placeOf(keyId, id)) !== undefined))
    await place('quiet', 'q')
    await place('busy', 'a', 'b')
    await place('busy', 'c', 'd', 'e')
    expect((await known('busy', 'a', 'b', 'c', 'd', 'e')).filter(Boolean)).toHaveLength(3)
    expect(await known('busy', 'a', 'b')).toEqual([false, false])
    expect(await known('quiet', 'q')).toEqual([true])
    await place('third', 't', 'u')
    expect(await known('third', 't', 'u')).toEqual([true, true])
    expect(await known('quiet', 'q')).toEqual([false])
  })
})

test('a store that cannot be written is told, and the answer goes out', async () => {
  const full = (): never => {
    throw storeError('The disk is full.')
  }
  const causes: unknown[] = []
  const store = { ...createAnswersInMemory(), keep: full, stage: full }
  const recall = recallOn(store, ROOMY, (cause) => causes.push(cause))
  await keep(recall, 'k', 'a')
  await keep(recall, 'k', 'b', { words: 'b'.repeat(1_000_000) })
  expect(causes.map(String)).toEqual(['StoreError: The disk is full.', 'StoreError: The disk is full.'])
})
