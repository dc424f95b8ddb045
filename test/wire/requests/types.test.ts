// Values of the types that clients send: integers that no number holds, null, and every branch of the published types.

import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { GatewayError } from '../../../src/errors.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { withExact } from '../../../src/lib/json-exact.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { removeMembers } from '../../../src/wire/refusal/member-path.ts'
import { hasCorpus, SCHEMAS, schema, violations } from '../../support/corpus.ts'
import { schemaWalk } from '../../support/schema-walk.ts'
import { cross, HI } from './support.ts'

describe('integers larger than a number', () => {
  const input = '{"id":12345678901234567890,"deep":[{"n":-9007199254740993}]}'
  const texts: Record<ChatWire, string> = {
    messages: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":${input}}]}],"tools":[{"name":"f","input_schema":{"type":"object","default":${input}}}]}`,
    'chat-completions': `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":${JSON.stringify(input)}}}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","default":${input}}}}]}`,
    responses: `{"model":"m","input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"t","name":"f","arguments":${JSON.stringify(input)}}],"tools":[{"type":"function","name":"f","parameters":{"type":"object","default":${input}}}]}`,
  }
  const crossings = (Object.keys(texts) as ChatWire[]).flatMap((from) =>
    (Object.keys(texts) as ChatWire[]).filter((to) => to !== from).map((to): [ChatWire, ChatWire] => [from, to]),
  )
  test.each(crossings)('stay as they were written: %s → %s', (from, to) => {
    const body = JSON.stringify(cross(from, to, withExact(texts[from], JSON.parse(texts[from]))).body)
    for (const digits of ['12345678901234567890', '-9007199254740993']) expect(body.split(digits)).toHaveLength(3)
  })
})

// The same holds for a body that passes.
describe('a member may be null, and is refused with a wrong type', () => {
  const WRONG = {
    text: [5],
    flag: ['x'],
    number: ['x'],
    count: [0, 1.5, 'x'],
    list: ['x', {}],
    object: ['x', []],
    choice: [5],
  }
  const KINDS: Record<ChatWire, Partial<Record<keyof typeof WRONG, string>>> = {
    'chat-completions': {
      text: 'reasoning_effort verbosity user prompt_cache_key service_tier',
      flag: 'stream parallel_tool_calls logprobs',
      number: 'temperature top_p top_k frequency_penalty presence_penalty seed top_logprobs',
      count: 'max_tokens max_completion_tokens n',
      list: 'tools functions',
      object: 'stream_options response_format metadata',
      choice: 'stop tool_choice function_call',
    },
    responses: {
      text: 'instructions previous_response_id user prompt_cache_key service_tier',
      flag: 'stream parallel_tool_calls store background',
      number: 'temperature top_p top_logprobs',
      count: 'max_output_tokens',
      list: 'tools include',
      object: 'text reasoning metadata',
      choice: 'tool_choice',
    },
    messages: {
      text: 'service_tier',
      flag: 'stream',
      number: 'temperature top_p top_k',
      list: 'stop_sequences tools',
      object: 'tool_choice thinking output_config metadata',
      choice: 'system',
    },
  }
  test.each(CHAT_WIRES)('%s', (wire) => {
    const taken = (name: string, value: unknown): boolean =>
      Value.Check(CHAT_CODECS[wire].requestSchema, { ...HI[wire], [name]: value })
    for (const [kind, names] of Object.entries(KINDS[wire]))
      for (const name of names.split(' ')) {
        const wrong = WRONG[kind as keyof typeof WRONG].filter((value) => taken(name, value))
        expect([name, taken(name, null), wrong]).toEqual([name, true, []])
      }
  })
})

/** Without what the vendor takes though its published types lack it. */
const asPublished = (body: JsonObject): JsonObject => {
  const copy = structuredClone(body)
  removeMembers(copy, 'tools.*.filters.blocked_domains')
  return copy
}

// Whatever the published types allow is either translated to a request that the other vendor accepts, or refused.
describe.skipIf(!hasCorpus)('every branch of the published types', () => {
  test.each(
    CHAT_WIRES.flatMap((from) => CHAT_WIRES.filter((to) => to !== from).map((to): [ChatWire, ChatWire] => [from, to])),
  )(
    '%s → %s',
    (from, to) => {
      const walk = schemaWalk(schema(SCHEMAS[from].request))
      const wrong: unknown[] = []
      let carried = 0
      for (const [member, type] of walk.members()) {
        if (member === 'model' || member === 'stream') continue
        for (const value of walk.variants(type, member)) {
          try {
            const request = CHAT_CODECS[from].decodeRequest({ ...HI[from], [member]: value })
            const { body } = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 64_000, quirks: {} })
            if (violations(SCHEMAS[to].request, asPublished(body)).length > 0) wrong.push({ member, value, body })
            carried++
          } catch (error) {
            if (!(error instanceof GatewayError) || error.code !== 'invalid_request' || error.param === undefined)
              wrong.push({ member, value, error })
          }
        }
      }
      expect(wrong.slice(0, 3)).toEqual([])
      expect(carried).toBeGreaterThan(100)
    },
    120_000,
  )
})
