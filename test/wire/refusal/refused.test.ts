// What a refusal is about is known by what was sent, in whatever words a server puts it.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { placesOf, removeMembers, valueAt } from '../../../src/wire/refusal/member-path.ts'
import { lacksIn, refusedIn } from '../../../src/wire/refusal/refused.ts'
import { WISHES } from '../../../src/wire/refusal/wishes.ts'

const said = (message: string, more: JsonObject = {}): JsonObject => ({ error: { message, ...more } })

/** How servers say that they take no member of that name, its path in the notation of each. */
const UNKNOWN: Record<string, (path: string, name: string) => JsonObject> = {
  'a param with a code': (path) => said('No.', { param: path, code: 'unsupported_parameter' }),
  'a quoted name': (_, name) => said(`Unsupported parameter: '${name}' is not supported with this model.`),
  'a list in brackets': (_, name) => said(`This server does not support parameters: ['${name}'], for model=x.`),
  'a list in backticks': (_, name) => said(`Validation: Unsupported parameter(s): \`${name}\``),
  'a list of faults': (path) => ({
    detail: [{ type: 'extra_forbidden', loc: ['body', ...path.split('.')], msg: 'Extra inputs are not permitted' }],
  }),
  'faults as Python prints them': (path) =>
    said(
      `1 validation error:\n  {'type': 'extra_forbidden', 'loc': (${['body', ...path.split('.')].map((step) => (/^\d+$/.test(step) ? step : `'${step}'`)).join(', ')}), 'msg': 'Extra inputs are not permitted', 'input': 'x'}`,
    ),
  'older faults': (path) => ({ detail: `body -> ${path.replaceAll('.', ' -> ')}\n  extra fields not permitted` }),
  'a path before a colon': (path) => said(`${path}: Extra inputs are not permitted`),
  'a pointer': (path) =>
    said(`Validation error at #/${path.replaceAll('.', '/')}: must NOT have additional properties`),
  'a schema’s fault': (path) => {
    const steps = path.split('.')
    return {
      errors: [
        {
          instancePath: steps
            .slice(0, -1)
            .map((step) => `/${step}`)
            .join(''),
          keyword: 'additionalProperties',
          params: { additionalProperty: steps.at(-1) ?? '' },
          message: 'must NOT have additional properties',
        },
      ],
    }
  },
  'issues with keys': (path) => {
    const steps: Json[] = path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    return { error: { issues: [{ code: 'unrecognized_keys', keys: [steps.at(-1) ?? ''], path: steps.slice(0, -1) }] } }
  },
  'an unknown field among known ones': (_, name) =>
    said(
      `Failed to deserialize the JSON body: unknown field \`${name}\`, expected one of \`model\`, \`messages\`, \`stop\``,
    ),
  'a field of a decoder': (_, name) => said(`json: unknown field "${name}"`),
  'a name at a path': (path, name) =>
    said(
      `Invalid JSON payload received. Unknown name "${name}"${path.includes('.') ? ` at '${path.split('.').slice(0, -1).join('.')}'` : ''}: Cannot find field.`,
    ),
  'a chain of references': (_, name) =>
    said(
      `Unrecognized field "${name}" (class com.acme.ChatRequest), not marked as ignorable (through reference chain: com.acme.ChatRequest["${name}"])`,
    ),
  'a property': (path) => said(`property '${path}' is unsupported`),
  'a relay’s quotation': (_, name) =>
    said('Provider returned error', { metadata: { raw: JSON.stringify(said(`Unknown parameter: '${name}'.`)) } }),
  'faults by the member’s name': (_, name) => ({ [name]: ['This is not allowed: unexpected field.'] }),
  'a list of properties': (_, name) => ({ message: [`property ${name} should not exist`], error: 'Unknown field' }),
  'members of a message of violations': (path) => ({
    details: [{ violations: [{ fieldPath: path, message: 'unknown field' }] }],
  }),
  'a list of invalid parameters': (path) => ({ detail: 'Unknown fields.', 'invalid-params': [{ name: path }] }),
  'an argument': (_, name) => said(`Unrecognized request argument supplied: ${name}`),
}

const picture = (holder: JsonObject): JsonObject => ({
  role: 'user',
  content: [{ type: 'text', text: 'Look.' }, holder],
})
const BODIES: Record<ChatWire, JsonObject> = {
  'chat-completions': {
    model: 'm',
    messages: [
      picture({ type: 'image_url', image_url: { url: 'data:,', detail: 'original' } }),
      { role: 'user', name: 'ann', content: 'Hi' },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' }, strict: true } }],
    ...{
      temperature: 0.3,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.1,
      seed: 7,
      stop: ['x'],
      user: 'ann',
    },
    ...{ metadata: { a: 'b' }, parallel_tool_calls: true, service_tier: 'flex', store: true, verbosity: 'low' },
    ...{
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      safety_identifier: 'z',
      prediction: { type: 'content' },
    },
  },
  responses: {
    model: 'm',
    input: [picture({ type: 'input_image', image_url: 'data:,', detail: 'original' })],
    tools: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: true }],
    ...{
      temperature: 0.3,
      top_p: 0.9,
      metadata: { a: 'b' },
      parallel_tool_calls: true,
      service_tier: 'flex',
      store: true,
    },
    ...{
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      safety_identifier: 'z',
      user: 'ann',
      truncation: 'auto',
    },
    text: { verbosity: 'low' },
  },
  messages: {
    model: 'm',
    max_tokens: 90,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    ...{
      temperature: 0.3,
      top_p: 0.9,
      top_k: 4,
      service_tier: 'auto',
      stop_sequences: ['x'],
      metadata: { user_id: 'ann' },
    },
  },
}

/** Members that are simply left out, with a place where each stands. */
const leftOut = CHAT_WIRES.flatMap((wire) =>
  WISHES[wire]
    .filter(({ remedy, named, when }) => remedy === undefined && named === undefined && when === undefined)
    .flatMap(({ path }) =>
      placesOf(BODIES[wire], path)
        .slice(0, 1)
        .map((place) => [wire, path, place.join('.')] as const),
    ),
)

describe.each(Object.entries(UNKNOWN))('in %s', (_, refusal) => {
  test.each(leftOut)('%s: %s is left out', (wire, path, place) => {
    const name = path.slice(path.lastIndexOf('.') + 1)
    const { remedy, named } = refusedIn(wire, BODIES[wire], refusal(place, name))
    expect([remedy as string | undefined, named]).toEqual(['without-members', [path]])
  })
})

const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }
const AGENT = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: 'Nothing.' },
  ],
  tools: [
    { type: 'function', function: { name: 'look' } },
    { type: 'custom', custom: { name: 'patch' } },
  ],
}
const schema = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } }

test.each<[string, ChatWire, JsonObject, JsonObject, string | undefined, string[]?]>([
  [
    'no text beside calls',
    'chat-completions',
    AGENT,
    said("Invalid type for 'messages[1].content': null"),
    'no-null-content',
  ],
  [
    'the same, of a list of faults',
    'chat-completions',
    AGENT,
    {
      detail: [
        { loc: ['body', 'messages', 1, 'AssistantMessage', 'content', 'str'], msg: 'Input should be a valid string' },
      ],
    },
    'no-null-content',
  ],
  ['a tool by its index', 'chat-completions', AGENT, said('tools[1].type: unsupported'), 'functions-only'],
  ...[
    'messages.2.tool_call_id 太短',
    'messages[2].tool_call_id: 形式が違います',
    '$.messages[1].tool_calls[0].id trop court',
  ].map((message): [string, ChatWire, JsonObject, JsonObject, string] => [
    `a call’s id by its place (${message})`,
    'chat-completions',
    AGENT,
    said(message),
    'short-call-ids',
  ]),
  ...['reasoning_details', 'thinking_blocks'].map((name): [string, ChatWire, JsonObject, JsonObject, string] => [
    `what another server has signed, in ${name}`,
    'chat-completions',
    {
      ...AGENT,
      messages: [{ role: 'assistant', content: 'Hm.', [name]: [{ type: 'x', data: 'y' }] }, AGENT.messages[0] ?? null],
    },
    {
      error: {
        message: 'Provider returned error',
        metadata: { raw: '{"error":{"message":"Corrupted signature: not valid here"}}' },
      },
    },
    'no-reasoning',
  ]),
  ...[
    said("Missing required parameter: 'input[0].content'.", { param: 'input[0].content' }),
    said('input.0: no such item'),
    said('Expected another type', { param: 'input[0].type' }),
  ].map((error): [string, ChatWire, JsonObject, JsonObject, string] => [
    `an item that adds tools (${JSON.stringify(error)})`,
    'responses',
    {
      model: 'm',
      input: [
        { type: 'additional_tools', role: 'developer', tools: [] },
        { role: 'user', content: 'Hi' },
      ],
    },
    error,
    'chat-wire',
  ]),
  [
    'a thought sealed elsewhere',
    'responses',
    {
      model: 'm',
      input: [
        { type: 'reasoning', summary: [], encrypted_content: 'gA' },
        { role: 'user', content: 'Hi' },
      ],
    },
    said('The encrypted thoughts cannot be read and are not supported here'),
    'no-reasoning',
  ],
  [
    'a tool by what it lacks',
    'chat-completions',
    AGENT,
    said("missing required key 'function' in tool 1"),
    'functions-only',
  ],
  [
    'a tool by its type',
    'chat-completions',
    AGENT,
    said('unknown variant `custom`, expected `function`'),
    'functions-only',
  ],
  [
    'a tool, in other words',
    'chat-completions',
    AGENT,
    said('Only function tools can be used here.'),
    'functions-only',
  ],
  [
    'a tool on the newer wire',
    'responses',
    { model: 'm', input: 'Hi', tools: [{ type: 'custom', name: 'patch' }] },
    said("1 tool has an unknown type 'custom'"),
    'chat-wire',
  ],
  [
    'a forced tool',
    'chat-completions',
    { ...AGENT, tools: [], tool_choice: 'required' },
    said('`tool_choice` only supports `auto`'),
    'no-forced-tools',
  ],
  [
    'a form of the answer',
    'chat-completions',
    { model: 'm', messages: [], response_format: schema },
    said("'response_format.type' must be 'text'", { param: 'response_format' }),
    'output-by-tool',
  ],
  [
    'a form of the answer, by its value',
    'responses',
    { model: 'm', input: 'Hi', text: { format: { ...schema.json_schema, type: 'json_schema' } } },
    said("'json_schema' cannot be used"),
    'output-by-tool',
  ],
  [
    'a schema that is wrong',
    'chat-completions',
    { model: 'm', messages: [], response_format: schema },
    said("Invalid schema for response_format 'a': In context=(), 'required' is missing", { param: 'response_format' }),
    undefined,
  ],
  [
    'a user that is a person',
    'messages',
    { model: 'm', metadata: { user_id: 'ann@example.test' }, messages: [] },
    said('metadata.user_id: looks like an e-mail address'),
    'hashed-user',
  ],
  [
    'a message in its short form',
    'responses',
    { model: 'm', input: [{ role: 'assistant', content: 'Hi' }] },
    said("input[0]: missing field 'type'"),
    'long-messages',
  ],
  [
    'a cap above what there is',
    'chat-completions',
    { model: 'm', max_tokens: 32_000, messages: [] },
    said('max_tokens must be less than or equal to 8192, got 32000'),
    'lower-cap',
    ['8192'],
  ],
  [
    'a cap out of a range',
    'chat-completions',
    { model: 'm', max_completion_tokens: 32_000, messages: [] },
    said('max_completion_tokens must be at least 1 and at most 4096'),
    'lower-cap',
    ['4096'],
  ],
  [
    'a cap below the least',
    'responses',
    { model: 'm', max_output_tokens: 17, input: 'Hi' },
    said("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 20, but got 17 instead."),
    'higher-cap',
    ['20'],
  ],
  [
    'an effort, with those that there are',
    'responses',
    { model: 'm', input: 'Hi', reasoning: { effort: 'minimal' } },
    said("reasoning.effort: Input should be 'low', 'medium' or 'high'"),
    'other-effort',
    ['low', 'medium', 'high'],
  ],
  [
    'an effort as such',
    'chat-completions',
    { model: 'm', messages: [], reasoning_effort: 'low' },
    said("x doesn't support `reasoning_effort`"),
    'other-effort',
    [],
  ],
  [
    'one of two settings that exclude one another',
    'messages',
    { model: 'm', messages: [], temperature: 0.2, top_p: 0.9 },
    said('`temperature` and `top_p` cannot both be given for this model'),
    'without-members',
    ['top_p'],
  ],
])('%s is asked for in its other form', (...[, wire, sent, error, remedy, named]) => {
  const refused = refusedIn(wire, sent, error)
  expect(refused.remedy as string | undefined).toBe(remedy)
  if (named !== undefined) expect(refused.named).toEqual(named)
})

test.each<[string, JsonObject, JsonObject, string | undefined]>([
  ['what decides on the answer', { tools: [{ type: 'function' }] }, said("Unknown parameter: 'tools'"), 'tools'],
  ['a value out of its range', { temperature: 3 }, said('temperature must be between 0 and 2'), 'temperature'],
  ['another member of that name', { user: 'u' }, said('messages.0.user: Extra inputs are not permitted'), 'messages.0'],
  ['a word like any other', { user: 'u', store: true }, said('no store keeps what the user says'), undefined],
  ['the model', {}, said("model 'm' is retired"), undefined],
  ['what was not sent', {}, said("Unsupported parameter: 'top_k'"), undefined],
  ['a role', { user: 'u' }, said("Unexpected role 'user'"), undefined],
])('%s is not left out', (_, more, error, place) => {
  const sent = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...more }
  const refused = refusedIn('chat-completions', sent, error)
  expect(refused.remedy).toBeUndefined()
  expect(refused.place?.join('.')).toBe(place)
})

test.each<[string, JsonObject]>([
  ['messages.0.content.0.image.source.base64.data: Bytes do not match the declared media type of the image', {}],
  ['messages.0.content.0.source.data: the image is no valid base64', {}],
  ['The image has a format that is none of ours', { param: 'messages.0.content.0.source.media_type' }],
])('a picture is told as one where its own source is named: %s', (message, more) => {
  const source = { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' }
  const sent = { model: 'm', messages: [{ role: 'user', content: [{ type: 'image', source }] }] }
  expect(refusedIn('messages', sent, said(message, more)).pictures).toBe('wrong')
})

test.each<[string, ChatWire, string, JsonObject, string]>([
  ['a member', 'chat-completions', 'Not permitted, field: messages[1].reasoning', { reasoning: 'x' }, 'reasoning'],
  ['beside its turn', 'chat-completions', "'messages.1': 'reasoning' is unknown", { reasoning: 'x' }, 'reasoning'],
  ['a list', 'chat-completions', 'messages.1.reasoning_details: no', { reasoning_details: [] }, 'reasoning_details'],
  ['a block', 'messages', 'messages.1.content.0: no change', { content: [{ type: 'thinking' }] }, 'content.0'],
])('a thought that is refused by its place is left out: %s', (_, wire, message, more, place) => {
  const model = { role: 'assistant', content: 'Hi', ...more }
  const refused = refusedIn(wire, { model: 'm', messages: [{ role: 'user', content: 'Hi' }, model] }, said(message))
  expect([refused.remedy, refused.place?.join('.')]).toEqual(['no-reasoning', `messages.1.${place}`])
})

test('a schema that is refused without a name is told as one of the tools', () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const sent = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools }
  const refused = refusedIn('chat-completions', sent, said('Self-referring JSON schemas are not supported yet'))
  expect(refused).toEqual({ place: ['tools'] })
})

test('a name in a text that the client sent, and that the refusal quotes, names no member', () => {
  const content = "Why do I read: unknown parameter 'seed', is that my fault?"
  const sent = { model: 'm', messages: [{ role: 'user', content }], seed: 1 }
  expect(refusedIn('chat-completions', sent, said(`The input was not understood: ${content}`))).toEqual({})
  // Who asks about a refusal may be refused for the same.
  const own = 'Why do I read: Unknown parameter: seed'
  const asked = { model: 'm', messages: [{ role: 'user', content: own }], seed: 1 }
  const { named } = refusedIn('chat-completions', asked, said(own))
  expect(named).toEqual(['seed'])
})

test('whatever a refusal says, it is read in time, and names only what was sent', () =>
  fc.assert(
    fc.property(fc.constantFrom(...CHAT_WIRES), fc.anything(), fc.string({ maxLength: 400 }), (wire, error, text) => {
      for (const body of [error, said(text), { detail: text }]) {
        const { place, remedy } = refusedIn(wire, BODIES[wire], body)
        if (place !== undefined) expect(valueAt(BODIES[wire], place)).toBeDefined()
        if (remedy !== undefined) expect(place).toBeDefined()
      }
    }),
  ))

test.each([
  'a.',
  "'",
  'x[0]',
  '"a',
  ' -> ',
  'tools ',
  "{'loc': (",
  'value: ',
  '{',
  '{"a":[',
  "\\'",
  "{'\\'",
  'a, ',
  "'a', ",
])('a long refusal of %j is read at once', (piece) => {
  const text = piece.repeat(100_000)
  expect(() => refusedIn('chat-completions', BODIES['chat-completions'], said(text))).not.toThrow()
})

test.each([
  'The system encountered an unexpected error during processing. Try your request again.',
  'System error, please try again',
  'An internal system error occurred',
  'Your request was rejected by the safety system',
  'System memory exhausted, cannot allocate',
  'OSError: Operation not supported by file system',
  'The system is currently unavailable',
  'Our systems do not support this at the moment: the billing system is down.',
])('a server’s own system is no system that asks: %s', (message) => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]
  expect(lacksIn('chat-completions', { model: 'm', messages }, said(message))).toEqual({})
})

test.each([
  'upstream stream ended unexpectedly without a final message',
  'SSE stream disconnected',
  'stream idle timeout',
  'stream terminated by upstream',
  'User: arn:aws:sts::1:assumed-role/app/node is not authorized to perform: bedrock:InvokeModel',
  'litellm.APIConnectionError: is not authorized to assume role',
  'The caller does not have permission: role roles/aiplatform.user missing',
  'Your role does not permit this action',
  'Missing scopes: model.request. Check that you have the correct role in your organization, and no restricted API key.',
])('neither a stream that broke nor a role of an account is the request’s: %s', (message) => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]
  expect(lacksIn('chat-completions', { model: 'm', messages, stream: true }, said(message))).toEqual({})
})

test('what is removed is gone, whatever the body, and nothing else is', () =>
  fc.assert(
    fc.property(fc.constantFrom(...leftOut), ([wire, path]) => {
      const body: JsonObject = structuredClone(BODIES[wire])
      const before = Object.keys(body)
      expect(removeMembers(body, path).length).toBeGreaterThan(0)
      expect(placesOf(body, path)).toEqual([])
      const [outer] = path.split('.')
      expect(before.filter((name) => !(name in body)).every((name) => name === outer)).toBe(true)
    }),
  ))

test('what holds what was asked for is known by its own name', () => {
  const sent = {
    model: 'm',
    max_tokens: 9,
    messages: [],
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
  }
  for (const error of [said('#: the key [output_config] is unknown'), said('No.', { param: 'output_config' })])
    expect(refusedIn('messages', sent, error)).toMatchObject({
      remedy: 'other-effort',
      place: ['output_config', 'effort'],
    })
})

test.each<[JsonObject, unknown]>([
  [{ input: 'hi' }, undefined],
  [{ input: [{ type: 'message', role: 'user', content: 'hi' }] }, undefined],
  [{ input: [{ type: 'reasoning', summary: [] }], previous_response_id: 'r1' }, undefined],
  [{ input: [{ type: 'reasoning', summary: [] }], conversation: 'c1' }, undefined],
  [{ input: [{ role: 'system', content: 'hi' }] }, ['input']],
])('whether a user has asked is known of what came whole: %j', (sent, place) => {
  const words = 'This conversation has no turn of the user.'
  expect(refusedIn('responses', { model: 'm', ...sent }, said(words)).place).toEqual(place as never)
})

test.each<[string, unknown]>([
  ['Tool use is not supported here.', ['tools']],
  ['This model doesn’t support tool calls.', ['tools']],
  ['The output of a tool call exceeds 10 MB.', ['tools']],
  ['A user message after tool outputs is not supported.', ['messages', 3]],
  ['Each tool call must have its tool output.', ['messages', 3]],
])('what is said of tools as such is not of their order: %s', (words, place) => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'seen' },
    { role: 'user', content: 'And?' },
  ]
  const sent = { model: 'm', messages, tools: [{ type: 'function', function: { name: 'look' } }] }
  expect(refusedIn('chat-completions', sent, said(words)).place).toEqual(place as never)
})

test.each<[string, unknown]>([
  ['Only base64 or URLs.', 'wrong'],
  ['This is not valid base64.', 'wrong'],
  ['The audio is not valid base64.', undefined],
  ['input_audio.data: no base64', undefined],
  ['file_data must be base64.', undefined],
])('what is written as pictures are is one where nothing else is spoken of: %s', (words, pictures) => {
  const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]
  const sent = { model: 'm', messages: [{ role: 'user', content }] }
  expect(refusedIn('chat-completions', sent, said(words)).pictures).toBe(pictures as never)
})

test('what is refused is not what it is refused beside', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'The' },
  ]
  const sent = { model: 'm', messages, tools: [{ type: 'function', function: { name: 'look' } }] }
  const words = 'No `assistant` turn may be the last while `tools` are given.'
  expect(refusedIn('chat-completions', sent, said(words)).place).toEqual(['messages', 1])
  expect(refusedIn('chat-completions', sent, said('Wrong when `tools` are given.')).place).toEqual(['tools'])
})
