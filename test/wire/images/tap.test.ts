// An images stream that is watched on its way: how many pictures have come, what they cost, and how it ends.

import { describe, expect, test } from 'bun:test'
import type { Frame } from '../../../src/lib/sse.ts'
import { tap } from '../../../src/wire/images/tap.ts'
import { decodeUsage } from '../../../src/wire/images/usage.ts'

const open = (images: number) => tap({ model: 'drawn-1', includeUsage: false, now: 0, images })
const frame = (data: object | string, event?: string): Frame => ({
  ...(event === undefined ? {} : { event }),
  data: typeof data === 'string' ? data : JSON.stringify(data),
})
const usage = { input_tokens: 4, output_tokens: 70, total_tokens: 74 }
const partial = frame({ type: 'image_edit.partial_image' })
const whole = frame({ type: 'image_edit.completed', usage })
const untold = frame({ type: 'image_generation.completed' })

describe('pictures', () => {
  test.each<[string, Frame[], { come: number; told: number }, string]>([
    ['nothing', [], { come: 0, told: 0 }, 'open'],
    ['the beginning of one', [partial], { come: 1, told: 0 }, 'open'],
    ['one whole', [partial, partial, whole], { come: 1, told: 1 }, 'open'],
    ['one whole and the beginning of the next', [whole, partial], { come: 2, told: 1 }, 'open'],
    ['all', [whole, partial, whole], { come: 2, told: 2 }, 'done'],
    ['all, the figures of the last', [untold, whole], { come: 2, told: 2 }, 'done'],
    ['all, named by the event alone', [frame({}, 'image_generation.completed'), whole], { come: 2, told: 2 }, 'done'],
    [
      'another event, whatever is beside it',
      [frame({ type: 'ping' }, 'image_edit.completed')],
      { come: 0, told: 0 },
      'open',
    ],
  ])('%s of two', (_, frames, pictures, state) => {
    const seen = open(2)
    for (const each of frames) seen.see(each)
    expect<unknown>(seen.pictures).toEqual(pictures)
    expect<string>(seen.state).toBe(state)
  })

  test('are billed together, by all that was told of them', () => {
    const seen = open(2)
    for (const each of [whole, whole]) seen.see(each)
    expect(seen.usage).toMatchObject({ input: 8, output: 140 })
    expect(seen.rawUsage).toEqual({ images: [usage, usage] })
  })
})

describe('a stream that ends', () => {
  test.each<[string, Frame[], string]>([
    ['after fewer pictures than were asked for', [whole], 'done'],
    ['in the midst of one', [whole, partial], 'open'],
    ['before the first', [], 'open'],
    ['by its last words alone', [whole, frame('[DONE]')], 'done'],
    ['by an error', [whole, frame({ type: 'error', error: { message: 'no' } })], 'failed'],
    ['by an error that has no type', [frame({ error: { message: 'no' } })], 'failed'],
    ['by what is no JSON', [frame('{"type":')], 'failed'],
  ])('%s', (_, frames, state) => {
    const seen = open(2)
    for (const each of frames) seen.see(each)
    seen.end?.()
    expect<string>(seen.state).toBe(state)
  })

  test('lets nothing through after that', () => {
    const seen = open(1)
    expect(seen.see(whole)).toContain('image_edit.completed')
    expect(seen.see(partial)).toBe('')
  })
})

test('a model that is named is the one that was asked for, and all else goes on as it came', () => {
  const data = '{"type":"image_edit.partial_image", "model": "vendor-x",  "b64_json":"QQ=="}'
  expect(open(1).see(frame(data))).toContain(data.replace('vendor-x', 'drawn-1'))
})

test.each<[object, object | undefined]>([
  [{ total_tokens: 42 }, { input: 0, output: 42, imageOutput: 42 }],
  [
    { total_tokens: 42, output_tokens: 0 },
    { input: 0, output: 42, imageOutput: 42 },
  ],
  [
    { total_tokens: 42, input_tokens: 2 },
    { input: 2, output: 40, imageOutput: 40 },
  ],
  [{ total_tokens: 0 }, undefined],
])('figures of %j are read as %j', (raw, usage) => {
  expect(decodeUsage(raw)).toEqual(usage)
})
