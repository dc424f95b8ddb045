// Continues the conversation from every recorded answer, with a client of each wire and each vendor: the vendors accept the
// requests, which contain the text, the calls and the vendor's own sealed thoughts unchanged.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import type { ChatResponse } from '../../src/ir/event.ts'
import { fold } from '../../src/ir/fold.ts'
import { isObject, type JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { CHAT_CODECS } from '../../src/wire/index.ts'
import { compileSchemas, hasCorpus, type Recording, recordings, SCHEMAS, violations } from '../support/corpus.ts'
import { decodeAll, framesOf } from '../support/frames.ts'

compileSchemas()

/** Items of answers may be sent back on the responses wire with members that its request type does not have. */
const ACCEPTED: Record<ChatWire, string> = {
  messages: SCHEMAS.messages.request,
  'chat-completions': SCHEMAS['chat-completions'].request,
  responses: 'OpenAIResponseCreateParams',
}

/** The vendor's answer; undefined where it failed. */
const answerIn = ({ wire, stream, response }: Recording): ChatResponse | undefined => {
  const codec = CHAT_CODECS[wire as ChatWire]
  try {
    if (!stream) return codec.decodeResponse(JSON.parse(response))
    return fold(decodeAll(codec.decodeEvents(), framesOf(response)))
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Calls that a client of the responses wire answers with items of their own, and the content of those. */
const OWN_CALLS = new Map<string, JsonObject>([
  ['local_shell_call', { output: 'done' }],
  ['shell_call', { output: [{ stdout: 'done', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] }],
  ['apply_patch_call', { status: 'completed', output: 'done' }],
])

/** The client's next request: its question, the answer as it received it, a result for each call, and a message. */
const goOn = (client: ChatWire, answer: JsonObject): JsonObject => {
  switch (client) {
    case 'messages': {
      const content = list(answer.content)
      const results = content
        .filter(({ type }) => type === 'tool_use')
        .map(({ id = '' }) => ({ type: 'tool_result', tool_use_id: id, content: 'done' }))
      const said = content.length === 0 ? [] : [{ role: 'assistant', content }]
      const next = { role: 'user', content: [...results, { type: 'text', text: 'Go on.' }] }
      return { model: 'm', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello.' }, ...said, next] }
    }
    case 'chat-completions': {
      const message = list(answer.choices)[0]?.message
      const said = isObject(message) ? message : {}
      const results = list(said.tool_calls).map(({ id = '' }) => ({ role: 'tool', tool_call_id: id, content: 'done' }))
      const messages = [{ role: 'user', content: 'Hello.' }, said, ...results, { role: 'user', content: 'Go on.' }]
      return { model: 'm', messages }
    }
    case 'responses': {
      const items = list(answer.output)
      const results = items
        .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
        .map(({ type, call_id = '' }) => ({ type: `${type}_output`, call_id, output: 'done' }))
      const ran = items
        .filter((item) => OWN_CALLS.has(String(item.type)) && !isObject(item.environment))
        .map(({ type, call_id = '' }) => ({
          type: `${type}_output`,
          id: call_id,
          call_id,
          ...OWN_CALLS.get(String(type)),
        }))
      const input = [
        { role: 'user', content: 'Hello.' },
        ...items,
        ...results,
        ...ran,
        { role: 'user', content: 'Go on.' },
      ]
      return { model: 'm', input }
    }
  }
}

/** The vendor's request; undefined where the gateway refuses it, as only the answer's own vendor can read it. */
const crossed = (client: ChatWire, to: ChatWire, asked: JsonObject): JsonObject | undefined => {
  try {
    const request = CHAT_CODECS[client].decodeRequest(structuredClone(asked))
    return CHAT_CODECS[to].encodeRequest(request, { model: 'upstream', maxOutput: 64_000, quirks: {} }).body
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return undefined
    throw error
  }
}

/** Without plain-text thoughts, which compatible servers use and the vendor's type does not have. */
const withoutThoughts = (body: JsonObject): JsonObject => ({
  ...body,
  ...('messages' in body ? { messages: list(body.messages).map(withoutOpen) } : {}),
})

const withoutOpen = ({ reasoning_content: _, reasoning_details: __, ...message }: JsonObject): JsonObject => message

/** The ids of calls that the client ran, which every model must get. */
const ranIn = ({ input }: JsonObject): string[] =>
  list(input).flatMap(({ type, call_id, environment }) =>
    OWN_CALLS.has(String(type)) && !isObject(environment) ? [quoted(String(call_id))] : [],
  )

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The opaque strings of the answer's thoughts. */
const sealsIn = (answer: ChatResponse): string[] =>
  answer.parts.flatMap((part) => {
    const value = part.type === 'reasoning' ? part.seal?.value : undefined
    const seals = [value?.signature, value?.data, value?.encrypted_content]
    return seals.filter((seal): seal is string => typeof seal === 'string' && seal !== '')
  })

// The thoughts of a refused answer are not sent back, nor is a thought without the item that followed it.
const returns = ({ finish, parts }: ChatResponse): boolean =>
  finish !== 'refusal' && !parts.some(({ type }) => type === 'opaque')

describe.skipIf(!hasCorpus).each(CHAT_WIRES.flatMap((from) => CHAT_WIRES.map((client) => [from, client] as const)))(
  'an answer of %s from which a client of %s continues',
  (from, client) => {
    const held = recordings(from).flatMap((recording): [string, ChatResponse, JsonObject][] => {
      const answer = recording.status === 200 ? answerIn(recording) : undefined
      if (answer === undefined) return []
      const verbatim = client === from && !recording.stream
      const ask = { model: 'm', body: {}, inputEstimate: 1, now: 1_790_000_000 }
      const body = verbatim ? JSON.parse(recording.response) : CHAT_CODECS[client].encodeResponse(answer, ask)
      return [[recording.name, answer, goOn(client, body)]]
    })
    const vendors = CHAT_WIRES.filter((to) => to !== client || from !== client)

    test.each(held)('%s', (_, answer, asked) => {
      for (const to of vendors) {
        const body = crossed(client, to, asked)
        if (body === undefined) continue
        expect(violations(ACCEPTED[to], from === to ? withoutThoughts(body) : body)).toEqual([])
        const sent = JSON.stringify(body)
        if (client === 'responses' && from === client) for (const said of ranIn(asked)) expect(sent).toContain(said)
        for (const part of answer.parts) if (part.type === 'text') expect(sent).toContain(quoted(part.text.trim()))
        for (const seal of sealsIn(answer)) {
          if (to !== from) expect(sent).not.toContain(quoted(seal))
          else if (returns(answer)) expect(sent).toContain(quoted(seal))
        }
      }
    })
  },
)
