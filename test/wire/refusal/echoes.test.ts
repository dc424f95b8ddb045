// What a refusal repeats of a request, and what it lists as known, names nothing; a name in whatever marks or language does.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import { refusedIn } from '../../../src/wire/refusal/refused.ts'

const sent: JsonObject = {
  model: 'm',
  messages: [{ role: 'user', content: 'Which seed and which store?' }],
  tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', required: ['seed'] } } }],
  ...{ seed: 7, user: 'u_0000000000000000000000', store: false, verbosity: 'low', service_tier: 'flex' },
  ...{ prompt_cache_key: 'k', metadata: { user: 'n', store: 'x', seed: 'y' }, parallel_tool_calls: false },
}
const NAMES = ['seed', 'store', 'verbosity', 'service_tier', 'prompt_cache_key', 'metadata', 'parallel_tool_calls']
const named = (message: string): readonly string[] | undefined =>
  refusedIn('chat-completions', sent, { error: { message } }).named

/** As Python prints a value. */
const printed = (value: Json | undefined): string => {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return `'${value.replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, inner]) => `'${name}': ${printed(inner)}`)
      .join(', ')}}`
  return `${value}`
}

const WAYS: Record<string, (name: string) => string> = {
  'behind "got"': (name) => `This server has not got ${name}`,
  'behind "received"': (name) => `We regret having received ${name}.`,
  'as what was got': (name) => `Nothing of that name is known, got ${name}`,
  'with its value': (name) => `received ${name} (${printed(sent[name])}); remove it`,
  'in bold': (name) => `No support for **${name}** in this build`,
  'in single guillemets': (name) => `Champ inconnu ‹${name}›`,
  'in guillemets': (name) => `Le champ « ${name} » est inconnu.`,
  'in low quotes': (name) => `Unbekannt: „${name}“`,
  'in corners': (name) => `「${name}」は使えません`,
  'in an equation': (name) => `cannot honour ${name}=1 here`,
  'in a German sentence': (name) => `Das Feld ${name} wird nicht unterstützt`,
  'in a Chinese sentence': (name) => `暂不支持${name}字段`,
  'in a Russian sentence': (name) => `Параметр ${name} не поддерживается`,
  'beside all that is known': (name) =>
    `unknown field \`${name}\`, there are \`model\`, \`messages\`, \`store\`, \`seed\`, \`metadata\` and \`user\``,
  'behind all that is known': (name) => `Of model, messages, store, metadata and seed none is called ${name}.`,
  'in an error within a sentence': (name) =>
    `upstream: {"error": {"message": "no", "type": "invalid", "param": "${name}", "code": "x"}} (request id: 1)`,
  'in the same as Python prints it': (name) =>
    `Error code: 400 - {'error': {'message': "it isn't known", 'param': '${name}', 'code': None, 'seen': (True, False,)}}`,
}
describe.each(Object.entries(WAYS))('a name %s', (_, way) => {
  test.each(NAMES)('%s', (name) => {
    expect(named(way(name))).toEqual([name])
  })
})

const objects: JsonObject[] = [sent, sent.metadata as JsonObject]

test('what is printed of the request names nothing, in whatever place of the refusal it stands', () =>
  fc.assert(
    fc.property(
      fc.constantFrom(...NAMES),
      fc.constantFrom(...objects),
      fc.constantFrom(printed, (value: Json) => JSON.stringify(value)),
      fc.constantFrom('input_value=', "'input': ", 'got ', 'received ', 'value: ', 'you sent '),
      fc.boolean(),
      (name, object, print, before, first) => {
        const echo = `${before}${print(object)}`
        const refusal = `\`${name}\` is unknown here`
        expect(named(first ? `${echo}: ${refusal}` : `${refusal} (${echo})`)).toEqual([name])
      },
    ),
  ))

const VALUES = ["Unexpected role 'user'", 'role: got user', "roles are 'assistant' and 'system', received 'user'"]
test.each(VALUES)('a value beside its member is none: %s', (message) => {
  expect(named(message)).not.toEqual(['user'])
})

test('a word of the sentence is none where a place is named', () => {
  const { remedy, place } = refusedIn('chat-completions', sent, {
    error: { message: 'messages[0].content: got user text' },
  })
  expect([remedy, place?.join('.')]).toEqual([undefined, 'messages.0.content'])
})

test('words of a sentence are no names', () => {
  for (const message of [
    'The user may not ask for that',
    'Please store nothing of that',
    'no store keeps what its user says',
  ])
    expect(refusedIn('chat-completions', sent, { error: { message } })).toEqual({})
})
