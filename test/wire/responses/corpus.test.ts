// Recorded traffic of the wire, where it is available: everything decodes, and is encoded to what clients and providers
// accept.

import { describe, expect, test } from 'bun:test'
import { fold } from '../../../src/ir/fold.ts'
import { isObject, type JsonObject } from '../../../src/ir/json.ts'
import { responses } from '../../../src/wire/responses/index.ts'
import { checkResponsesStream } from '../../support/automaton/responses.ts'
import { hasCorpus, recordings, SCHEMAS, violations } from '../../support/corpus.ts'
import { decodeAll, encodeAll, framesOf } from '../../support/frames.ts'
import { strictErrors } from './support.ts'

const schemas = SCHEMAS.responses
const ask = (body: JsonObject) => ({ model: 'vendorB-5.5', body, inputEstimate: 7, now: 1_790_000_000 })
const target = { model: 'upstream-model', maxOutput: 128_000, quirks: {} }

/** Recordings that were shortened, so that the deltas are not the whole text. */
const EDITED = /shell-container/
/** Its tool lists are never done one by one, and come only with the whole answer. */
const UNENDED = /mcp_list_tools_stream_backfills/
/** Recordings in which the provider itself breaks a rule, and which. */
const ODD: [RegExp, string][] = [
  [EDITED, 'R17'],
  [UNENDED, 'R'],
  [/ReasoningMaxPro/, 'R11'],
  [/programmatic-tool-calling/, 'R9'],
]

const all = recordings('responses').map((one) => [one.name, one] as const)
const answers = all.filter(([, { stream }]) => !stream)
const streams = all.filter(([, { stream }]) => stream)

if (!hasCorpus) test.skip('recordings: the corpus does not stand beside the repository', () => {})

describe('recorded requests', () => {
  test.each(all.filter(([, { request }]) => request !== undefined))(
    '%s is encoded to what its provider accepts',
    (_, recording) => {
      const body: JsonObject = JSON.parse(recording.request ?? '')
      if (body.model === undefined) {
        expect(() => responses.decodeRequest(body)).toThrow("'model'")
        return
      }
      const request = responses.decodeRequest(body)
      const { body: sent, dropped } = responses.encodeRequest(request, target)
      expect(dropped).toEqual([])
      expect(strictErrors(sent)).toEqual([])
      expect(responses.decodeRequest({ ...sent, model: body.model })).toEqual(request)
    },
  )
})

describe('recorded answers', () => {
  test.each(answers)('%s goes out valid and the same', (_, { response, request }) => {
    const body: JsonObject = JSON.parse(response)
    if (!Array.isArray(body.output) || body.status === 'queued') {
      expect(() => responses.decodeResponse(body)).toThrow()
      return
    }
    const answer = responses.decodeResponse(body)
    const sent = responses.encodeResponse(answer, ask(JSON.parse(request ?? '{}')))
    expect(violations(schemas.response, sent)).toEqual([])
    expect(sent.status).toBe(body.status as string)
    expect(said(sent)).toEqual(said(body))
    expect(figures(sent.usage)).toEqual(figures(body.usage))
    // What was not reported is 0 in the usage, whose members are all required.
    const usage = { cacheWrite: 0, ...answer.usage }
    expect(withoutModel(responses.decodeResponse(sent))).toEqual(withoutModel({ ...answer, usage }))
  })
})

describe('recorded streams', () => {
  test.each(streams)('%s goes out valid and the same', (name, { response, request }) => {
    const frames = framesOf(response)
    const events = decodeAll(responses.decodeEvents(), frames)
    const answer = fold(events)
    const last = JSON.parse(frames.at(-1)?.data ?? '{}').response as JsonObject
    const items = frames.map(({ data }) => JSON.parse(data)).filter(({ type }) => type === 'response.output_item.done')
    expect(answer).toEqual({ ...answer, ...ofTerminal(last) })
    const sent = framesOf(encodeAll(responses.encodeEvents(ask(JSON.parse(request ?? '{}'))), events))
    expect(checkResponsesStream(sent)).toEqual([])
    for (const frame of sent) expect(violations(schemas.event, JSON.parse(frame.data))).toEqual([])
    const end = JSON.parse(sent.at(-1)?.data ?? '{}').response as JsonObject
    if (!EDITED.test(name) && !UNENDED.test(name))
      expect(said(end)).toEqual(said({ output: items.map(({ item }) => item) }))
    expect(figures(end.usage)).toEqual(figures(last.usage))
  })

  test.each(streams)('%s keeps the rules the automaton states', (name, { response }) => {
    const frames = framesOf(response)
    const odd = ODD.find(([cases]) => cases.test(name))?.[1]
    const unnumbered = frames.every(({ data }) => JSON.parse(data).sequence_number === undefined)
    const broken = checkResponsesStream(frames).filter((rule) => !(unnumbered && rule.startsWith('R2 ')))
    expect(broken.filter((rule) => odd === undefined || !rule.startsWith(odd))).toEqual([])
  })
})

/** What a reader of the answer gets, in order: texts, refusals, calls. */
const said = (response: JsonObject): unknown[] =>
  (response.output as JsonObject[]).flatMap((item): unknown[] => {
    if (item.type === 'message') return (item.content as JsonObject[]).map((part) => part.text ?? part.refusal)
    if (item.type === 'function_call') return [[item.call_id, item.name, item.namespace, item.arguments]]
    if (item.type === 'custom_tool_call') return [[item.call_id, item.name, item.input]]
    if (item.type === 'reasoning') return []
    return [item]
  })

const figures = (usage: unknown) => {
  if (!isObject(usage)) return undefined
  const { input_tokens, output_tokens, total_tokens, input_tokens_details: details } = usage
  return { input_tokens, output_tokens, total_tokens, cached: isObject(details) ? details.cached_tokens : 0 }
}

const ofTerminal = (response: JsonObject) => {
  const { finish, usage, id } = responses.decodeResponse(response)
  return { finish, usage, id }
}

const withoutModel = (answer: ReturnType<typeof responses.decodeResponse>) => {
  const { model: _, ...rest } = answer
  return rest
}
