// Answers with any member of theirs lost or bent: what comes of them is an answer of the client's wire or a failure.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { Json } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { hasCorpus } from '../../support/corpus.ts'
import { answerFaults, streamFaults } from '../matrix/rules.ts'
import { diceOf, throws } from '../matrix/untidy/dice.ts'
import { askFor, PATIENCE_MS, RUNS, VENDORS } from './vendors.ts'

/** `place` counts the value itself and all within it; `into` undefined loses what stands there. */
type Bend = { place: number; into: Json | undefined }

const bend: fc.Arbitrary<Bend> = fc.record({
  place: fc.nat(99_999),
  into: fc.constantFrom<(Json | undefined)[]>(
    undefined,
    null,
    '',
    'x',
    0,
    -1,
    1.5,
    true,
    [],
    {},
    [null],
    [1],
    ['x'],
    [{}],
    [[]],
    { a: 1 },
    { type: 'text' },
    { type: null },
  ),
})

const bent = (value: Json, { place, into }: Bend): Json => {
  const at = place % size(value)
  return at === 0 ? value : within(value, at - 1, into)
}

const isInner = (value: Json | undefined): value is Exclude<Json, string | number | boolean | null> =>
  typeof value === 'object' && value !== null

const size = (value: Json | undefined): number =>
  isInner(value) ? Object.values(value).reduce((sum: number, inner) => sum + size(inner), 1) : 1

const within = (value: Json, place: number, into: Json | undefined): Json => {
  if (!isInner(value)) return value
  let left = place
  const members = Object.entries(value).flatMap(([name, inner]): [string, Json | undefined][] => {
    const at = left
    left -= size(inner)
    if (at < 0 || left >= 0) return [[name, inner]]
    if (at > 0) return [[name, within(inner ?? null, at - 1, into)]]
    return into === undefined ? [] : [[name, into]]
  })
  return Array.isArray(value) ? members.map(([, inner]) => inner ?? null) : Object.fromEntries(members)
}

const bends = fc.array(bend, { minLength: 1, maxLength: 3 })
const cells = CHAT_WIRES.flatMap((client) => CHAT_WIRES.map((vendor) => [client, vendor] as const))
const options = { numRuns: 2 * RUNS, includeErrorInReport: true }

const broke = new GatewayError('upstream_error', 'It broke.')

/** Frames of which some are bent, lost or told twice. */
const bentFrames = (frames: Frame[], all: Bend[]): Frame[] =>
  all.reduce((told, one) => {
    const at = one.place % told.length
    const frame = told[at]
    if (frame === undefined || frame.data === '[DONE]') return told.toSpliced(at, 1)
    if (one.into === 'x') return told.toSpliced(at, 0, frame)
    if (one.into === '') return told.toSpliced(at, 1)
    const data = JSON.stringify(bent(JSON.parse(frame.data), { ...one, place: Math.floor(one.place / told.length) }))
    return told.with(at, one.into === 0 ? { data } : { ...frame, data })
  }, frames)

describe.skipIf(!hasCorpus).each(cells)('a client of %s and an answer of %s that is bent', (client, vendor) => {
  const open = () =>
    client === vendor
      ? CHAT_CODECS[client].tap({ model: 'gateway-model', includeUsage: true, now: 0 })
      : translateStream({
          client: CHAT_CODECS[client],
          provider: CHAT_CODECS[vendor],
          ask: askFor(client, true),
          undo: {},
        })

  const whole = (): void =>
    fc.assert(
      fc.property(throws, bends, (numbers, all) => {
        const answer: Json = JSON.parse(JSON.stringify(VENDORS[vendor].answer(diceOf(numbers))))
        const read = told(client, vendor, all.reduce(bent, answer))
        if (read !== undefined) expect(answerFaults(client, read)).toEqual([])
      }),
      options,
    )
  // One of its own wire passes as it is.
  if (client !== vendor) test('reads a whole one or is told of a failure', whole, PATIENCE_MS)

  test(
    'reads a stream of its wire, to its end or to a failure',
    () =>
      fc.assert(
        fc.property(throws, bends, (numbers, all) => {
          const thrown = diceOf(numbers)
          const frames = bentFrames(VENDORS[vendor].frames(VENDORS[vendor].answer(thrown), thrown), all)
          const tap = open()
          let text = frames.map((frame) => tap.see(frame)).join('')
          if (tap.state !== 'done') text += tap.fail(tap.error ?? broke, 'req_1')
          // What passes is the vendor's own form.
          if (client !== vendor) expect(streamFaults(client, text)).toEqual([])
        }),
        options,
      ),
    PATIENCE_MS,
  )
})

const told = (client: ChatWire, vendor: ChatWire, body: Json) => {
  try {
    const answer = translateResponse(body as { [name: string]: Json }, {
      client: CHAT_CODECS[client],
      provider: CHAT_CODECS[vendor],
      ask: askFor(client, false),
      undo: {},
    })
    return JSON.parse(JSON.stringify(answer))
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError)
    return undefined
  }
}
