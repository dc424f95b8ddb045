// An answer says the same as a stream and as a whole, whatever its client has asked for and whatever the request's encoding has
// to be undone: order and ids of its pieces included.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import type { Undo } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { hasCorpus } from '../../support/corpus.ts'
import { framesOf } from '../../support/frames.ts'
import { answerFaults, streamFaults } from '../matrix/rules.ts'
import { diceOf, framed, throws } from '../matrix/untidy/dice.ts'
import { GATHER } from './gather.ts'
import { list, object } from './told.ts'
import { askFor, PATIENCE_MS, RUNS, VENDORS } from './vendors.ts'

/** What shapes an answer, by the client's wire. The vendors call `get_weather`, `now`, `a-b` and `apply_patch`. */
const ASKED: Record<ChatWire, JsonObject[]> = {
  'chat-completions': [{}, { include_reasoning: true }, { reasoning: { effort: 'low' } }],
  responses: [
    {},
    { tools: [{ type: 'apply_patch' }, { type: 'shell' }] },
    { tools: [{ type: 'tool_search', execution: 'client' }] },
    {
      tools: [
        {
          type: 'function',
          name: 'get_weather',
          parameters: { type: 'object', properties: { a: { type: 'string', encrypted: true } } },
        },
      ],
    },
    { input: [{ type: 'compaction_trigger' }] },
  ],
  messages: [{}, { tools: [{ name: 'w.x' }] }],
}

const UNDONE: Undo[] = [
  {},
  { stop: ['o', '"q'] },
  { cap: 9 },
  { cap: 400 },
  { thinksInText: true },
  { jsonTool: 'now' },
  {
    tools: {
      get_weather: { name: 'w.x', kind: 'function' },
      now: { name: 'shell', kind: 'custom' },
      'a-b': { name: 'run', namespace: 'fs', kind: 'function' },
    },
  },
  { tools: { get_weather: { name: 'shell', kind: 'function' }, now: { name: 'tool_search', kind: 'function' } } },
]

/** Without what only one of its two forms has. */
const alike = (body: JsonObject): JsonObject => {
  const { object: _, usage, choices, completed_at: __, ...rest } = JSON.parse(JSON.stringify(body)) as JsonObject
  const { service_tier: ___, ...figures } = object(usage)
  if (choices === undefined) return { ...rest, usage: figures }
  return {
    ...rest,
    usage: figures,
    choices: list(choices).map(({ message, ...choice }) => {
      const { role: _, annotations, reasoning: __, reasoning_details: ___, ...said } = object(message)
      return { ...choice, message: { ...said, content: said.content || null, annotations: list(annotations) } }
    }),
  }
}

/** Where a text is cut, its tokens are by their lengths: those that are drawn here are none of the text's. */
const unlikely = (body: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(alike(body), (name, value) => (name === 'logprobs' ? undefined : value)))

const crossings = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.filter((vendor) => vendor !== client).map((vendor) => [client, vendor] as const),
)

describe.skipIf(!hasCorpus).each(crossings)('a client of %s and an answer of %s', (client, vendor) => {
  const wish = fc.record({ asked: fc.constantFrom(...ASKED[client]), undo: fc.constantFrom(...UNDONE) })
  test(
    'reads the same in either form',
    () =>
      fc.assert(
        fc.property(throws, wish, (numbers, { asked, undo }) => {
          const thrown = diceOf(numbers)
          const body = JSON.parse(JSON.stringify(VENDORS[vendor].answer(thrown))) as JsonObject
          const crossing = { client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor], undo: structuredClone(undo) }
          const askIn = (stream: boolean) => {
            const ask = askFor(client, stream)
            return { ...ask, id: 'AbC-d', body: { ...asked, ...ask.body } }
          }
          const tap = translateStream({ ...crossing, ask: askIn(true) })
          const text = framesOf(...framed(VENDORS[vendor].frames(body, thrown), thrown))
            .map((frame) => tap.see(frame))
            .join('')
          let whole: JsonObject
          try {
            whole = JSON.parse(
              JSON.stringify(translateResponse(body, { ...crossing, ask: askIn(false) })),
            ) as JsonObject
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError)
            expect(tap.state).toBe('failed')
            return
          }
          expect(tap.state).toBe('done')
          expect(answerFaults(client, whole)).toEqual([])
          expect(streamFaults(client, text)).toEqual([])
          const told = undo.stop === undefined ? alike : unlikely
          expect(told(GATHER[client](framesOf(text)))).toEqual(told(whole))
        }),
        // A picture alone, which on messages is said in words that are no thought.
        {
          numRuns: RUNS,
          includeErrorInReport: true,
          examples: [[[0, 4, 14], { asked: {}, undo: { thinksInText: true } }]],
        },
      ),
    PATIENCE_MS,
  )
})
