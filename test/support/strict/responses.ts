// What vendor_b answers with 400 on the responses wire.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import { draftFaults, parameterFaults, strictFaults } from './schema.ts'
import { breaches, hasTag, isTorn, list, member, type Rule, repeated, texts } from './table.ts'

export type Model = { reasons: boolean; efforts: string[] }
type Seen = {
  body: JsonObject
  model: Model
  items: JsonObject[]
  tools: JsonObject[]
  effort: Json | undefined
  /** Whether a thought is the vendor's own, unchanged. */
  isOwn: (thought: JsonObject) => boolean
}

const typeOf = ({ type, role }: JsonObject): string =>
  type === undefined && role !== undefined ? 'message' : String(type)
const isCall = (item: JsonObject): boolean =>
  /^(function|custom_tool|shell|local_shell|apply_patch)_call$/.test(typeOf(item))
const isOutput = (item: JsonObject): boolean => /_call_output$/.test(typeOf(item))
const idsOf = (items: JsonObject[]): string[] => items.map(({ call_id: id }) => String(id))
const partsOf = ({ content, output }: JsonObject): JsonObject[] => [...list(content), ...list(output)]
const functionsIn = (tools: JsonObject[]): JsonObject[] =>
  tools.flatMap((tool) => (tool.type === 'namespace' ? functionsIn(list(tool.tools)) : [tool]))
const named = (tools: JsonObject[]): JsonObject[] =>
  functionsIn(tools).filter(({ type }) => type === 'function' || type === 'custom')
const isName = (name: Json | undefined): boolean => /^[a-zA-Z0-9_-]{1,128}$/.test(String(name))
const formatOf = ({ body }: Seen): Json | undefined => member(body.text, 'format')
const isLong = (value: Json | undefined, most: number): boolean => typeof value === 'string' && value.length > most

/** How the id of an item begins, where it has one. */
const PREFIXES: { [type: string]: string } = {
  message: 'msg_',
  reasoning: 'rs_',
  function_call: 'fc_',
  custom_tool_call: 'ctc_',
}

/** By who speaks. */
const PARTS: { [role: string]: string[] } = {
  assistant: ['output_text', 'refusal'],
  user: ['input_text', 'input_image', 'input_file'],
  system: ['input_text'],
  developer: ['input_text'],
}

const RULES: Rule<Seen>[] = [
  { rule: 'there is at least one item', source: 'docs', broken: ({ items }) => [items.length === 0 && 'none'] },
  {
    rule: 'ids of items are valid',
    source: "reported: Expected an ID that begins with 'msg'; string too long … 64; Duplicate item found with id",
    broken: ({ items }) => [
      ...items.map(
        (item) => item.id !== undefined && !String(item.id).startsWith(PREFIXES[typeOf(item)] ?? '') && `${item.id}`,
      ),
      ...items.map(({ id = 'a' }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(String(id)) && `${id}`),
      ...repeated(items.map(({ id }) => id)),
    ],
  },
  {
    rule: 'ids of calls are valid',
    source: "reported: Invalid 'input[n].call_id': string too long … 64",
    broken: ({ items }) =>
      idsOf(items.filter((item) => isCall(item) || isOutput(item))).map((id) => (id === '' || id.length > 64) && id),
  },
  {
    rule: 'calls have their outputs',
    source: 'reported: No tool output found for function call; No tool call found for function call output',
    broken: ({ items }) => {
      const calls = idsOf(items.filter(isCall))
      const outputs = idsOf(items.filter(isOutput))
      return [...calls.map((id) => !outputs.includes(id) && id), ...outputs.map((id) => !calls.includes(id) && id)]
    },
  },
  {
    rule: 'a thought is followed by what it led to',
    source: "reported: Item 'rs_…' of type 'reasoning' was provided without its required following item",
    broken: ({ items }) =>
      items.map((item, at) => {
        const next = items.slice(at + 1).find(({ type }) => type !== 'reasoning')
        const isLed = next !== undefined && (isCall(next) || next.role === 'assistant' || /_call$/.test(typeOf(next)))
        return item.type === 'reasoning' && !isLed && `${item.id}`
      }),
  },
  {
    rule: 'thoughts come back sealed and unchanged',
    source: 'reported: The encrypted content … could not be verified; Item with id … not found',
    broken: ({ items, isOwn }) =>
      items.map((item) => item.type === 'reasoning' && !isOwn(item) && JSON.stringify(item)),
  },
  {
    rule: 'only models that reason take thoughts',
    source:
      'reported: Reasoning input items can only be provided to a reasoning model; Encrypted content is not supported',
    broken: ({ body, items, model }) => [
      !model.reasons && items.some(({ type }) => type === 'reasoning') && 'a thought',
      !model.reasons && texts(body.include).includes('reasoning.encrypted_content') && 'the wish for one',
      !model.reasons && body.reasoning !== undefined && 'how to think',
    ],
  },
  {
    rule: 'the model supports the effort',
    source: "reported: Unsupported value: 'minimal' is not supported with the … model",
    broken: ({ effort, model }) => [effort !== undefined && !model.efforts.includes(String(effort)) && `${effort}`],
  },
  {
    rule: 'a model that reasons takes no sampling parameters',
    source: "reported: Unsupported parameter: 'temperature' is not supported with this model",
    broken: ({ body: { temperature = 1, top_p: top = 1 }, effort = 'none' }) => [
      effort !== 'none' && temperature !== 1 && 'temperature',
      effort !== 'none' && top !== 1 && 'top_p',
    ],
  },
  {
    rule: 'settings are within their ranges',
    source: 'docs; reported: integer below minimum value … 16',
    broken: ({ body: { temperature = 1, top_p: top = 1, max_output_tokens: cap = 16 } }) => [
      (Number(temperature) < 0 || Number(temperature) > 2) && 'temperature',
      (Number(top) < 0 || Number(top) > 1) && 'top_p',
      Number(cap) < 16 && 'max_output_tokens',
    ],
  },
  {
    rule: 'content is allowed for the role',
    source: "reported: Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'",
    broken: ({ items }) =>
      items.flatMap((item) => [
        ...list(item.content).map(
          ({ type }) =>
            item.role !== undefined && !PARTS[String(item.role)]?.includes(String(type)) && `${item.role} ${type}`,
        ),
        typeOf(item) === 'message' && Array.isArray(item.content) && item.content.length === 0 && 'nothing',
      ]),
  },
  {
    rule: 'images and files are valid',
    source: 'reported: Expected a base64-encoded data URL with an image MIME type; files need their names',
    broken: ({ items }) =>
      items
        .flatMap(partsOf)
        .flatMap(({ type, image_url: url, file_data: data, filename }) => [
          type === 'input_image' &&
            !/^(https?:|data:image\/(png|jpe?g|gif|webp);base64,)/.test(String(url)) &&
            String(url),
          data !== undefined && (!/^data:[^;,]+;base64,/.test(String(data)) || !filename) && 'a file',
        ]),
  },
  {
    rule: 'names are valid',
    source: "reported: Invalid 'input[n].name': string does not match pattern; string too long … 128",
    broken: ({ items, tools }) =>
      [...named(tools), ...items.filter(({ type }) => /^(function|custom_tool)_call$/.test(String(type)))].map(
        ({ name }) => !isName(name) && `${name}`,
      ),
  },
  {
    rule: 'schemas of functions are valid',
    source: "reported: Invalid schema for function; array schema missing items; 'required' is required to be supplied",
    broken: ({ tools }) =>
      functionsIn(tools).flatMap(({ type, parameters, strict }) =>
        type === 'function' ? parameterFaults(parameters, strict === true) : [],
      ),
  },
  {
    rule: 'a choice names one of the tools',
    source: "reported: Tool choice 'function' not found in 'tools' parameter",
    broken: ({ body: { tool_choice: choice }, tools }) => {
      const wanted = isObject(choice) ? (choice.type === 'allowed_tools' ? list(choice.tools) : [choice]) : []
      const there = named(tools).map(({ type, name }) => `${type} ${name}`)
      return [
        choice === 'required' && tools.length === 0 && 'no tools',
        ...wanted.map(({ type, name }) => name !== undefined && !there.includes(`${type} ${name}`) && `${name}`),
      ]
    },
  },
  {
    rule: 'the response format is valid',
    source: 'docs: structured outputs',
    broken: (seen) => {
      const { type, name, schema, strict } = Object(formatOf(seen)) as JsonObject
      if (type !== 'json_schema') return []
      const faults = strict === true ? strictFaults(schema) : draftFaults(schema)
      return [
        !/^[a-zA-Z0-9_-]{1,64}$/.test(String(name)) && `${name}`,
        member(schema, 'type') !== 'object' && 'no object',
        ...faults,
      ]
    },
  },
  {
    rule: 'with json_object, the input mentions JSON',
    source: "reported: Response input messages must contain the word 'json' in some form",
    broken: (seen) => {
      const said = JSON.stringify(seen.items.filter((item) => typeOf(item) === 'message'))
      return [member(formatOf(seen), 'type') === 'json_object' && !/json/i.test(said) && 'unsaid']
    },
  },
  {
    rule: 'identifiers and labels are short enough',
    source: 'docs',
    broken: ({ body: { user, prompt_cache_key: key, metadata } }) => [
      isLong(user, 64) && 'user',
      isLong(key, 64) && 'prompt_cache_key',
      ...Object.entries(Object(metadata) as JsonObject).map(
        ([name, text]) => (isLong(name, 64) || isLong(text, 512)) && name,
      ),
    ],
  },
  {
    rule: 'text is well-formed and holds no tag of the gateway',
    source: 'reported: the body is no JSON',
    broken: ({ body }) => [isTorn(body) && 'half a character', hasTag(body) && 'a tag'],
  },
]

export const responsesBreaches = (body: JsonObject, model: Model, isOwn: Seen['isOwn']): string[] =>
  breaches(RULES, {
    body,
    model,
    items: typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : list(body.input),
    tools: list(body.tools),
    effort: member(body.reasoning, 'effort'),
    isOwn,
  })
