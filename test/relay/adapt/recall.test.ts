// What the gateway keeps of translated answers: found by its own key only, whole or not at all, within bounds.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/ir/json.ts'
import { splice } from '../../../src/lib/json-splice.ts'
import { createRecall, type Recall } from '../../../src/relay/adapt/recall.ts'
import type { Remembered } from '../../../src/wire/responses/references.ts'

const said = (id: string): JsonObject => ({ type: 'message', id, role: 'assistant', content: [] })
const turn = (name: string, previous?: string): Remembered => ({
  id: `resp_${name}`,
  ...(previous === undefined ? {} : { previous: `resp_${previous}` }),
  input: [{ role: 'user', content: name }],
  output: [said(`msg_${name}`)],
})

/** The body as it goes on, its references resolved. */
const resolved = (recall: Recall, key: string, body: JsonObject): JsonObject =>
  JSON.parse(
    splice(
      JSON.stringify(body),
      recall.edits(key, () => body),
    ),
  ) as JsonObject

const referring = (...ids: string[]): JsonObject => ({ input: ids.map((id) => ({ type: 'item_reference', id })) })

describe('a reference', () => {
  test('is replaced by the item it names, even without a type, and nothing else changes', () => {
    const recall = createRecall()
    recall.keep('k', turn('a'), 10)
    const other = { role: 'user', content: 'x' }
    for (const reference of [{ type: 'item_reference', id: 'msg_a' }, { id: 'msg_a' }]) {
      const body = { model: 'm', input: [other, reference, other] }
      expect(resolved(recall, 'k', body)).toEqual({ model: 'm', input: [other, said('msg_a'), other] })
    }
  })

  test('to the same item a second time is refused, as the vendor does', () => {
    const recall = createRecall()
    recall.keep('k', turn('a'), 10)
    expect(() => resolved(recall, 'k', referring('msg_a', 'msg_b', 'msg_b', 'msg_a'))).toThrow('input.3')
  })

  test.each<[string, JsonObject]>([
    ['an id nobody has kept', referring('msg_b')],
    ['an item that only carries the id', { input: [{ ...said('msg_a'), content: [{ type: 'output_text' }] }] }],
    ['an answer nobody has kept', { previous_response_id: 'resp_b', input: 'x' }],
    ['an input of words', { input: 'msg_a' }],
    ['no input', {}],
  ])('%s stays as it is', (_, body) => {
    const recall = createRecall()
    recall.keep('k', turn('a'), 10)
    expect(recall.edits('k', () => body)).toEqual([])
  })

  test('of another key is unknown', () => {
    const recall = createRecall()
    recall.keep('k', turn('a'), 10)
    expect(recall.edits('other', () => referring('msg_a'))).toEqual([])
    expect(recall.edits('other', () => ({ previous_response_id: 'resp_a', input: 'x' }))).toEqual([])
  })
})

describe('an earlier answer', () => {
  test('is replaced by the whole conversation up to it', () => {
    const recall = createRecall()
    recall.keep('k', turn('a'), 10)
    recall.keep('k', turn('b', 'a'), 10)
    const body = { previous_response_id: 'resp_b', input: 'go on', stream: true }
    expect(resolved(recall, 'k', body)).toEqual({
      stream: true,
      input: [
        { role: 'user', content: 'a' },
        said('msg_a'),
        { role: 'user', content: 'b' },
        said('msg_b'),
        { type: 'message', role: 'user', content: 'go on' },
      ],
    })
  })

  test('is unknown if the beginning of its conversation is forgotten', () => {
    const recall = createRecall({ overhead: 0, maxKeySize: 100 })
    recall.keep('k', turn('a'), 60)
    recall.keep('k', turn('b', 'a'), 60)
    expect(recall.edits('k', () => ({ previous_response_id: 'resp_b', input: 'x' }))).toEqual([])
    expect(recall.edits('k', () => referring('msg_b'))).toHaveLength(1)
  })

  test('that refers to itself does not loop', () => {
    const recall = createRecall()
    recall.keep('k', turn('a', 'b'), 10)
    recall.keep('k', turn('b', 'a'), 10)
    expect(recall.edits('k', () => ({ previous_response_id: 'resp_b', input: 'x' }))).toEqual([])
  })
})

describe('the cache', () => {
  test('evicts what was used least recently', () => {
    const recall = createRecall({ overhead: 0, maxKeySize: 100 })
    recall.keep('k', turn('a'), 40)
    recall.keep('k', turn('b'), 40)
    recall.edits('k', () => referring('msg_a'))
    recall.keep('k', turn('c'), 40)
    expect(['a', 'b', 'c'].map((name) => recall.edits('k', () => referring(`msg_${name}`)).length)).toEqual([1, 0, 1])
  })

  test('counts an overhead for each short answer', () => {
    const recall = createRecall({ maxKeySize: 20_000 })
    for (let at = 0; at < 100; at++) recall.keep('k', turn(`a${at}`), 10)
    const kept = Array.from({ length: 100 }, (_, at) => recall.edits('k', () => referring(`msg_a${at}`)).length)
    expect(kept.indexOf(1)).toBeGreaterThan(60)
    expect(kept.at(-1)).toBe(1)
  })

  test('bounds each key, and all keys together', () => {
    const recall = createRecall({ overhead: 0, maxKeySize: 100, maxTotalSize: 150 })
    recall.keep('quiet', turn('a'), 50)
    for (let more = 0; more < 20; more++) recall.keep('busy', turn(`b${more}`), 50)
    expect(recall.edits('quiet', () => referring('msg_a'))).toHaveLength(1)
    recall.keep('third', turn('c'), 50)
    expect(recall.edits('busy', () => referring('msg_b18'))).toEqual([])
    expect(recall.edits('busy', () => referring('msg_b19'))).toHaveLength(1)
    expect(recall.edits('third', () => referring('msg_c'))).toHaveLength(1)
  })

  test('does not take an answer that is larger than its bound', () => {
    const recall = createRecall({ overhead: 0, maxKeySize: 100 })
    recall.keep('k', turn('a'), 40)
    recall.keep('k', turn('b'), 101)
    expect(['a', 'b'].map((name) => recall.edits('k', () => referring(`msg_${name}`)).length)).toEqual([1, 0])
  })

  test('never exceeds its bounds and always holds the latest answer', () => {
    const step = fc.record({
      key: fc.constantFrom('x', 'y', 'z'),
      name: fc.nat(9),
      size: fc.integer({ min: 1, max: 100 }),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), (steps) => {
        const recall = createRecall({ overhead: 0, maxKeySize: 100, maxTotalSize: 220 })
        const sizes = new Map<string, number>()
        for (const { key, name, size } of steps) {
          recall.keep(key, turn(`${key}${name}`), size)
          sizes.set(`${key}${name}`, size)
          expect(recall.edits(key, () => referring(`msg_${key}${name}`))).toHaveLength(1)
        }
        const held = (key: string): number =>
          [...sizes].reduce(
            (sum, [name, size]) => sum + (recall.edits(key, () => referring(`msg_${name}`)).length > 0 ? size : 0),
            0,
          )
        const all = ['x', 'y', 'z'].map(held)
        expect(Math.max(...all)).toBeLessThanOrEqual(100)
        expect(all.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(220)
      }),
    )
  })
})
