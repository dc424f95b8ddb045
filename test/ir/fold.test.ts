// Fold inverts unfold, however the parts of a stream overlap.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import type { ChatEvent, ChatResponse } from '../../src/ir/event.ts'
import { fold, unfold } from '../../src/ir/fold.ts'
import type { AssistantPart, Citation } from '../../src/ir/part.ts'
import { sequence } from '../../src/ir/sequence.ts'
import { chatResponse } from '../support/arbitrary/answer.ts'

/** Interleaves the parts' events; each part keeps its own order. */
const weave = (response: ChatResponse, picks: number[]): ChatEvent[] => {
  const [start, ...rest] = unfold(response)
  const finish = rest.pop()
  if (start === undefined || finish === undefined) throw new Error('an answer has a start and a finish')
  const lanes = response.parts.map((_, part) => rest.filter((event) => 'part' in event && event.part === part))
  const woven: ChatEvent[] = []
  let at = 0
  // Parts are numbered in order of their start: a lane may begin only after the one before it.
  while (lanes.some((lane) => lane.length > 0)) {
    const begun = lanes.findIndex(
      (lane, part) =>
        lane.length > 0 &&
        lane[0]?.type.endsWith('-start') &&
        lanes.slice(0, part).every((other) => !other[0]?.type.endsWith('-start')),
    )
    const able = lanes.filter((lane, part) => lane.length > 0 && (!lane[0]?.type.endsWith('-start') || part === begun))
    const lane = able[(picks[at++ % picks.length] ?? 0) % able.length]
    const event = lane?.shift()
    if (event) woven.push(event)
  }
  return [start, ...woven, finish]
}

const picks = fc.array(fc.nat(10), { minLength: 1, maxLength: 20, size: 'max' })

describe('fold', () => {
  test('inverts unfold', () =>
    fc.assert(fc.property(chatResponse, (response) => expect(fold(unfold(response))).toEqual(response))))

  test('gives the same answer however the parts overlap', () =>
    fc.assert(
      fc.property(chatResponse, picks, (response, order) => expect(fold(weave(response, order))).toEqual(response)),
    ))

  test('has the latest value of each usage count', () => {
    const { usage } = fold([
      { type: 'start', id: 'x', usage: { input: 5, output: 1 } },
      { type: 'usage', usage: { cacheRead: 2, output: 3 } },
      { type: 'finish', reason: 'stop', usage: { output: 9 } },
    ])
    expect(usage).toEqual({ input: 5, cacheRead: 2, output: 9 })
  })

  test('throws the error of a stream that failed', () => {
    const error = new GatewayError('upstream_error', 'broke')
    expect(() =>
      fold([
        { type: 'start', id: 'x' },
        { type: 'error', error },
      ]),
    ).toThrow(error)
  })

  test('throws for a stream without an end', () =>
    fc.assert(
      fc.property(chatResponse, (response) => expect(() => fold(unfold(response).slice(0, -1))).toThrow('broke off')),
    ))
})

describe('sequence', () => {
  test('puts overlapping parts one after the other and loses nothing', () =>
    fc.assert(
      fc.property(chatResponse, picks, (response, order) => {
        const push = sequence()
        const events = weave(response, order).flatMap(push)
        let open: number | undefined
        for (const event of events) {
          if (!('part' in event)) continue
          if (event.type.endsWith('-start')) {
            expect(open).toBeUndefined()
            open = event.part
          }
          expect(event.part).toBe(open ?? event.part)
          if (event.type.endsWith('-end')) open = undefined
        }
        expect(fold(events)).toEqual(response)
      }),
    ))

  const link = (url: string, start: number): Citation => ({ kind: 'url', url, start, end: start + 1 })
  /** Each text's citations, told anywhere behind its end, before the finish. */
  const lateLinks = fc.tuple(chatResponse, picks, picks).map(([response, order, places]) => {
    const events = weave(response, order)
    const cited: ChatResponse = { ...response, parts: response.parts.map((part) => ({ ...part })) }
    let at = 0
    cited.parts.forEach((part, number) => {
      if (part.type !== 'text') return
      const citation = link(`https://${number}.example`, number)
      part.citations = [citation]
      const end = events.findIndex((event) => event.type === 'text-end' && event.part === number)
      const behind = end + 1 + ((places[at++ % places.length] ?? 0) % (events.length - end - 1))
      events.splice(behind, 0, { type: 'citation', part: number, citation })
    })
    return { events, cited }
  })
  const linksIn = (response: ChatResponse): string[] =>
    response.parts.flatMap((part) =>
      part.type === 'text' ? (part.citations ?? []).flatMap((one) => (one.kind === 'url' ? [one.url] : [])) : [],
    )

  test('a citation of a text that has ended stays its own where the wire can say so', () =>
    fc.assert(
      fc.property(lateLinks, ({ events, cited }) => {
        expect(fold(events)).toEqual(cited)
        expect(fold(events.flatMap(sequence({ late: true })))).toEqual(cited)
      }),
    ))

  test('elsewhere it comes with a later text, and without its place', () =>
    fc.assert(
      fc.property(lateLinks, ({ events, cited }) => {
        const told = fold(events.flatMap(sequence()))
        expect(linksIn(told).sort()).toEqual(linksIn(cited).sort())
        const isAdded = (part: AssistantPart, at: number) => at >= cited.parts.length && part.type === 'text'
        const bare = ({ parts }: ChatResponse) =>
          parts.map((part) => {
            const { citations: _, ...rest } = part.type === 'text' ? part : { ...part, citations: [] }
            return rest
          })
        const [added, ...more] = told.parts.filter(isAdded)
        expect(more).toEqual([])
        if (added?.type === 'text') expect(added.text).toBe('')
        expect(bare(told).slice(0, cited.parts.length)).toEqual(bare(cited))
      }),
    ))

  test('one of a part that is no text is left out', () => {
    const push = sequence()
    push({ type: 'refusal-start', part: 0 })
    push({ type: 'refusal-end', part: 0 })
    const events = [
      ...push({ type: 'citation', part: 0, citation: link('https://a.example', 0) }),
      ...push({ type: 'citation', part: 7, citation: link('https://a.example', 0) }),
      ...push({ type: 'finish', reason: 'stop', usage: {} }),
    ]
    expect(events.map(({ type }) => type)).toEqual(['finish'])
  })

  test('passes the events of the open part at once', () => {
    const push = sequence()
    push({ type: 'text-start', part: 0 })
    expect(push({ type: 'text-delta', part: 0, text: 'a' })).toEqual([{ type: 'text-delta', part: 0, text: 'a' }])
  })

  test('closes nothing when the stream fails', () => {
    const push = sequence()
    const error = new GatewayError('upstream_error', 'broke')
    push({ type: 'tool-start', part: 0, id: 'a', name: 'f', kind: 'function' })
    push({ type: 'tool-start', part: 1, id: 'b', name: 'g', kind: 'function' })
    expect(push({ type: 'error', error })).toEqual([{ type: 'error', error }])
  })
})
