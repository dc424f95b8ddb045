// Requests that vendor_b refuses with 400 on the chat-completions wire.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import { draftFaults, parameterFaults, strictFaults } from './schema.ts'
import { breaches, hasTag, isTorn, list, member, type Rule } from './table.ts'

type Seen = { body: JsonObject; messages: JsonObject[]; tools: JsonObject[] }

const callsOf = ({ tool_calls: calls }: JsonObject): JsonObject[] => list(calls)
const nameOf = ({ function: called, custom }: JsonObject): Json | undefined => member(called ?? custom, 'name')
const isName = (name: Json | undefined): boolean => /^[a-zA-Z0-9_-]{1,64}$/.test(String(name))
const isLong = (value: Json | undefined): boolean => typeof value === 'string' && value.length > 64

/** The content parts that each role may hold; other roles hold text only. */
const PARTS: { [role: string]: string[] } = {
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
}
const MEMBERS = new Set(['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'refusal', 'audio'])

const RULES: Rule<Seen>[] = [
  {
    rule: 'there is at least one message',
    source: 'docs',
    broken: ({ messages }) => [messages.length === 0 && 'none'],
  },
  {
    rule: 'messages have known members only',
    source: "reported: Additional properties are not allowed ('…' was unexpected) - 'messages.1'",
    broken: ({ messages }) =>
      messages.flatMap((message) => Object.keys(message).map((name) => !MEMBERS.has(name) && name)),
  },
  {
    rule: 'calls are directly followed by their results, and results follow calls',
    source: "reported: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
    broken: ({ messages }) =>
      messages.flatMap((message, at) => {
        const behind = messages.slice(at + 1)
        const end = behind.findIndex(({ role }) => role !== 'tool')
        const results = (end === -1 ? behind : behind.slice(0, end)).map(({ tool_call_id: id }) => String(id))
        const caller = messages.slice(0, at).findLast(({ role }) => role !== 'tool')
        const ids = callsOf(message).map(({ id }) => String(id))
        return [
          ids.length > 0 &&
            ids.toSorted().join() !== results.toSorted().join() &&
            `messages.${at}: ${ids} by ${results}`,
          message.role === 'tool' && callsOf(caller ?? {}).length === 0 && `messages.${at}: a result without a call`,
        ]
      }),
  },
  {
    rule: 'ids and names of calls are valid',
    source: 'reported: string too long … 40; string does not match pattern … 64',
    broken: ({ messages, tools }) => [
      ...messages.flatMap(callsOf).map(({ id }) => (String(id) === '' || String(id).length > 40) && `${id}`),
      ...[...tools, ...messages.flatMap(callsOf)].map((call) => !isName(nameOf(call)) && `${nameOf(call)}`),
    ],
  },
  {
    rule: 'content is present and allowed for the role',
    source: "reported: Invalid value for 'content': expected a string, got null; [] is too short",
    broken: ({ messages }) =>
      messages.flatMap((message) => {
        const { role, content, refusal } = message
        const known = PARTS[String(role)] ?? ['text']
        return [
          content === null && callsOf(message).length === 0 && !refusal && `${role} without content`,
          Array.isArray(content) && content.length === 0 && `${role} of nothing`,
          ...list(content).map(({ type }) => !known.includes(String(type)) && `${role} ${type}`),
        ]
      }),
  },
  {
    rule: 'settings of tools need tools, and a choice names one of them',
    source: "reported: 'parallel_tool_calls' is only allowed when 'tools' are specified; [] is too short - 'tools'",
    broken: ({ body, tools }) => [
      Array.isArray(body.tools) && tools.length === 0 && 'tools',
      body.tool_choice !== undefined && tools.length === 0 && 'tool_choice',
      body.parallel_tool_calls !== undefined && tools.length === 0 && 'parallel_tool_calls',
      isObject(body.tool_choice) &&
        body.tool_choice.type !== 'allowed_tools' &&
        !tools.map(nameOf).includes(nameOf(body.tool_choice)) &&
        'a choice of an unknown tool',
    ],
  },
  {
    rule: 'schemas of functions are valid',
    source: 'reported: Invalid schema for function',
    broken: ({ tools }) =>
      tools.flatMap(({ function: made }) =>
        parameterFaults(member(made, 'parameters'), member(made, 'strict') === true),
      ),
  },
  {
    rule: 'the response format is valid',
    source: 'docs: structured outputs',
    broken: ({ body: { response_format: format } }) => {
      const { name, schema, strict } = Object(member(format, 'json_schema')) as JsonObject
      if (member(format, 'type') !== 'json_schema') return []
      const faults = strict === true ? strictFaults(schema) : draftFaults(schema)
      return [!isName(name) && `${name}`, member(schema, 'type') !== 'object' && 'no object', ...faults]
    },
  },
  {
    rule: 'with json_object, the messages mention JSON',
    source: "reported: 'messages' must contain the word 'json' in some form",
    broken: ({ body, messages }) => [
      member(body.response_format, 'type') === 'json_object' &&
        !/json/i.test(JSON.stringify(messages)) &&
        'not mentioned',
    ],
  },
  {
    rule: 'settings are valid',
    source: "docs; reported: 'metadata' is only allowed when 'store' is enabled; 'stream_options' …",
    broken: ({ body }) => [
      Array.isArray(body.stop) && body.stop.length > 4 && 'stop',
      body.metadata !== undefined && body.store !== true && 'metadata',
      body.stream_options !== undefined && body.stream !== true && 'stream_options',
      isLong(body.user) && 'user',
      isLong(body.prompt_cache_key) && 'prompt_cache_key',
    ],
  },
  {
    rule: 'text is well-formed and holds no tag of the gateway',
    source: 'reported: the body is no JSON',
    broken: ({ body }) => [isTorn(body) && 'half a character', hasTag(body) && 'a tag'],
  },
]

export const chatBreaches = (body: JsonObject): string[] =>
  breaches(RULES, { body, messages: list(body.messages), tools: list(body.tools) })
