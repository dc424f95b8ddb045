// An assistant message as parts, both ways, for the history of requests and for whole answers.

import { invalidRequest } from '../../errors.ts'
import {
  asList,
  asObject,
  asObjects,
  asText,
  filledText,
  isFilled,
  isObject,
  type Json,
  type JsonObject,
} from '../../ir/json.ts'
import type { AssistantPart, ContentPart, ReasoningPart, RefusalPart, Seal, ToolCallPart } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import { type Before, plainSeal, readPlacedTag, sealTag, type ThoughtMember } from '../seal.ts'
import { decodeBreakpoint } from '../turns/breakpoint.ts'
import { isPicture } from '../turns/drawn.ts'
import { piecesOf } from '../turns/pieces.ts'
import { detailSeal, detailsIn, detailText, isSealed } from './details.ts'
import { decodeContent } from './parts.ts'

/**
 * The parts of a message: thoughts, text, refusal, audio, calls. Thoughts whose tag says that they stood between texts or
 * calls are put back there. Throws `invalid_request` naming the member where a call has no name or the content has no
 * known shape. `madeId`: the id for a call that has none, by its index. `shown` collects pictures and files; without it,
 * they are refused.
 */
export const decodeAssistant = (
  message: JsonObject,
  path: string,
  madeId: (call: number) => string,
  shown?: ContentPart[],
): AssistantPart[] => {
  const parts: AssistantPart[] = []
  const later: PlacedThought[] = []
  for (const { part, before } of decodeThoughts(message)) {
    placed(part, `${path}.${thoughtPath(message)}`)
    if (before === undefined) parts.push(part)
    else later.push({ part, before })
  }
  for (const [at, part] of assistantContent(message.content, `${path}.content`).entries()) {
    if (part.type === 'text' || part.type === 'refusal') parts.push(part)
    else if (part.type === 'opaque') parts.push(...decodeOther(part.value, `${path}.content.${at}`))
    else if (shown !== undefined) shown.push(part)
    else throw invalidRequest(`'${path}.content.${at}': an assistant message holds text only.`, `${path}.content.${at}`)
  }
  if (typeof message.refusal === 'string' && message.refusal !== '')
    parts.push(placed({ type: 'refusal', text: message.refusal }, `${path}.refusal`))
  if (isFilled(message.audio)) {
    parts.push(placed({ type: 'opaque', origin: 'chat-completions', value: { audio: message.audio } }, `${path}.audio`))
  }
  const old = oldCallIn(message)
  if (old !== undefined) parts.push(decodeCall(old, `${path}.function_call`, madeId(0)))
  for (const [at, call] of asList(message.tool_calls).entries()) {
    const signature = signatureOf(asObject(call))
    if (signature !== undefined) parts.push({ type: 'reasoning', text: '', seal: signature })
    parts.push(decodeCall(call, `${path}.tool_calls.${at}`, madeId(at)))
  }
  return later.length === 0 ? parts : withThoughts(parts, later)
}

/** A thought that came after text or calls of its answer. */
type PlacedThought = { part: ReasoningPart; before: Before }

/**
 * The parts with the thoughts back in place, within a text if need be: a vendor refuses signed thoughts at any other
 * place.
 */
const withThoughts = (others: readonly AssistantPart[], later: readonly PlacedThought[]): AssistantPart[] => {
  const all = { text: 0, calls: 0 }
  for (const part of others) {
    if (part.type === 'text') all.text += part.text.length
    else if (part.type === 'tool-call') all.calls += 1
  }
  // The client may have kept less than all of the answer.
  const waiting = later.map(({ part, before }) => ({
    part,
    text: Math.min(before.text, all.text),
    calls: Math.min(before.calls, all.calls),
  }))
  const parts: AssistantPart[] = []
  const passed = { text: 0, calls: 0 }
  let next = 0
  const putDue = (): void => {
    for (let one = waiting[next]; one !== undefined; one = waiting[next]) {
      if (one.text > passed.text || one.calls > passed.calls) return
      parts.push(one.part)
      next += 1
    }
  }
  for (const part of others) {
    if (part.type === 'tool-call' || part.type === 'text') putDue()
    if (part.type !== 'text') {
      if (part.type === 'tool-call') passed.calls += 1
      parts.push(part)
      continue
    }
    const { cache, ...bare } = part
    let rest = part.text
    for (let one = waiting[next]; one !== undefined && one.calls <= passed.calls; one = waiting[next]) {
      const head = rest.slice(0, wholeCharacters(rest, one.text - passed.text))
      if (head.length === rest.length) break
      parts.push(placed({ ...bare, text: head }, placeOf(part, '')))
      passed.text += head.length
      rest = rest.slice(head.length)
      putDue()
    }
    parts.push(rest === part.text ? part : placed({ ...part, text: rest }, placeOf(part, '')))
    passed.text += rest.length
  }
  putDue()
  return parts
}

/** The length, or one more where it would end within a character: vendors refuse half a surrogate pair. */
const wholeCharacters = (text: string, length: number): number =>
  (text.charCodeAt(length) & 0xfc00) === 0xdc00 ? length + 1 : length

const assistantContent = (content: Json | undefined, path: string) => {
  const parts: (ReturnType<typeof decodeContent>[number] | RefusalPart)[] = []
  for (const part of decodeContent(content, path)) {
    const refusal = part.type === 'opaque' && part.value.type === 'refusal' ? part.value.refusal : undefined
    parts.push(typeof refusal === 'string' ? { type: 'refusal', text: refusal } : part)
  }
  return parts
}

/** Thoughts and calls that some servers write among the content; anything else stays as it is. */
const decodeOther = (value: JsonObject, path: string): AssistantPart[] => {
  const text = textIn(thoughtIn(value))
  switch (value.type) {
    // In the form of the messages wire.
    case 'tool_use':
      return [decodeCall({ ...value, ...callIn(value) }, path, path)]
    case 'thinking':
      return text === '' ? [] : [{ type: 'reasoning', text, full: true }]
    case 'reasoning':
      return text === '' ? [] : [{ type: 'reasoning', text }]
    default:
      return [{ type: 'opaque', origin: 'chat-completions', value }]
  }
}

/** The parts of an answer's content in whatever form its server writes them. What has no word for it here is left out. */
export const partsSaid = (content: Json | undefined): JsonObject[] =>
  piecesOf(content)
    .filter(isObject)
    .flatMap((piece): JsonObject[] => {
      const { type = null, text } = piece
      if (TEXTS.has(type)) return typeof text === 'string' ? [{ type: 'text', text }] : []
      return SAID.has(type) || isPicture(piece) ? [piece] : []
    })

/** In the words of the responses wire, too. */
const TEXTS = new Set<Json>(['text', 'output_text', 'input_text'])
const SAID = new Set<Json>(['refusal', 'thinking', 'reasoning', 'tool_use'])

/** A part in the form of the messages wire as this wire's call. */
export const callIn = ({ id = '', name = '', input = {} }: JsonObject): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: input },
})

/** The thought in a part of the content, or its summary. */
export const thoughtIn = ({ thinking, summary }: JsonObject): Json | undefined => thinking ?? summary

/** The member in which a message or a delta holds its plain thought. */
export const thoughtMemberIn = (message: JsonObject): ThoughtMember => {
  if (typeof message.reasoning_content === 'string' && message.reasoning_content !== '') return 'reasoning_content'
  if (typeof message.reasoning === 'string' && message.reasoning !== '') return 'reasoning'
  return Array.isArray(message.content) ? 'thinking' : 'reasoning_content'
}

/** Notes in the plain thoughts of an answer which member held them, where that is not the usual one. */
export const withThoughtMember = (parts: AssistantPart[], message: JsonObject): AssistantPart[] => {
  const name = thoughtMemberIn(message)
  if (name === 'reasoning_content') return parts
  return parts.map((part) =>
    part.type === 'reasoning' && part.full === true && part.seal === undefined
      ? { ...part, seal: plainSeal(name) }
      : part,
  )
}

/** A text, or texts in parts, as some servers write it. */
export const textIn = (value: Json | undefined): string => {
  if (typeof value === 'string') return value
  if (typeof value !== 'object') return ''
  return asObjects(piecesOf(value))
    .map(({ text }) => asText(text))
    .join('')
}

const decodeThoughts = (message: JsonObject): { part: ReasoningPart; before?: Before }[] => {
  const { list, details } = detailsIn(message)
  const text = reasoningText(message) ?? details.map((detail) => detailText(detail) ?? '').join('')
  if (details.some((detail) => taggedThoughtIn(detail) !== undefined)) {
    return details.flatMap((detail): ReturnType<typeof decodeThoughts> => {
      const tagged = taggedThoughtIn(detail)
      if (tagged !== undefined) return [tagged]
      return typeof detail.text === 'string' ? [{ part: { type: 'reasoning', text: detail.text, full: true } }] : []
    })
  }
  if (details.some(isSealed)) {
    return [{ part: { type: 'reasoning', text, full: true, seal: detailSeal(list, details) } }]
  }
  return text === '' ? [] : [{ part: { type: 'reasoning', text, full: true } }]
}

/** The member under which a client finds the thought that it sent. */
const thoughtPath = (message: JsonObject): string => {
  const name = (['reasoning_content', 'reasoning'] as const).find((one) => filledText(message[one]) !== undefined)
  return name ?? detailsIn(message).list
}

/** The plain thought of a message or a delta, under any of its names; undefined where it has none. */
export const reasoningText = (message: JsonObject): string | undefined => {
  const { reasoning_content: usual, reasoning, reasoning_text: text, thinking } = message
  const told = isObject(reasoning) ? (reasoning.content ?? reasoning.text) : reasoning
  return textIn(usual) || textIn(told) || textIn(text) || textIn(thinking) || undefined
}

/** The thought in a tag of this gateway; undefined for any other entry. */
export const taggedThoughtIn = ({ data, signature }: JsonObject): ReturnType<typeof readPlacedTag> =>
  readPlacedTag(filledText(data) ?? filledText(signature) ?? '')

/** A signature that some servers give with a call and want back with it. It is kept as a thought before the call. */
export const signatureOf = ({ extra_content: signed }: JsonObject): Seal | undefined =>
  isFilled(signed) ? { origin: 'chat-completions', value: { extra_content: signed } } : undefined

const decodeCall = (raw: Json, path: string, madeId: string): ToolCallPart => {
  const call = asObject(raw)
  const kind = callKind(call)
  const body = call[kind]
  if (!isObject(body) || typeof body.name !== 'string' || body.name === '') {
    throw invalidRequest(`'${path}' must be a tool call with a name.`, path)
  }
  const id = idText(call.id) || madeId
  const input = kind === 'custom' ? inputText(body.input) : inputText(body.arguments) || '{}'
  return placed({ type: 'tool-call', id, name: body.name, kind, input, ...decodeBreakpoint(call, path) }, path)
}

export const callKind = ({ custom, function: called }: JsonObject): ToolCallPart['kind'] =>
  isFilled(custom) || (isObject(custom) && !isFilled(called)) ? 'custom' : 'function'

/** A call in the form that `tool_calls` has replaced; some servers write the same call in both. */
export const oldCallIn = ({ function_call: called, tool_calls: calls }: JsonObject): JsonObject | undefined =>
  isFilled(called) && asList(calls).length === 0 ? { index: -1, function: called } : undefined

/** The entries of a delta's calls; some servers send one without its list. */
export const callsIn = ({ tool_calls: calls }: JsonObject): JsonObject[] => {
  if (Array.isArray(calls)) return calls.filter(isObject).filter(isClients)
  return isFilled(calls) ? [calls].filter(isClients) : []
}

/** Some list the calls of tools that they run themselves, each under its type. */
const isClients = ({ type, function: called, custom, ...call }: JsonObject): boolean =>
  typeof type !== 'string' || isObject(called) || isObject(custom) || !isObject(call[type])

/** Some servers number their calls. */
export const idText = (id: Json | undefined): string => (typeof id === 'number' ? String(id) : asText(id))

/** Arguments as text; some servers send an object or nothing. */
export const inputText = (value: Json | undefined): string => {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** The call as one of a function, where custom tools are sent as functions. */
export const asFunction = (call: ToolCallPart): ToolCallPart =>
  call.kind === 'custom' ? { ...call, kind: 'function', input: JSON.stringify({ input: call.input }) } : call

export const encodeCall = (call: ToolCallPart, id: string, name: string): JsonObject =>
  call.kind === 'custom'
    ? { id, type: 'custom', custom: { name, input: call.input } }
    : { id, type: 'function', function: { name, arguments: call.input === '' ? '{}' : call.input } }

/**
 * The members that carry an answer's thoughts to a client: the readable text, and each sealed thought as a tag from which
 * it can be restored. Where one is sealed, the others are listed too, to keep their order. `twice`: see `readsReasoning`.
 */
export const encodeThoughts = (parts: readonly AssistantPart[], twice: boolean): JsonObject => {
  const anySealed = parts.some((part) => part.type === 'reasoning' && part.seal !== undefined)
  const before: Before = { text: 0, calls: 0 }
  const details: Json[] = []
  let text = ''
  for (const part of parts) {
    if (part.type === 'text') before.text += part.text.length
    else if (part.type === 'tool-call') before.calls += 1
    else if (part.type === 'reasoning') {
      text += part.text
      if (anySealed) details.push(...encodeDetails(part, before, twice))
    }
  }
  return {
    ...(text === '' ? {} : { reasoning_content: text, ...(twice ? { reasoning: text } : {}) }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

/**
 * This wire's own details verbatim, another wire's seal as a tag, a plain thought as its text. `readable`: the text stands
 * beside its tag, for clients that read nothing but the details where there are any.
 */
export const encodeDetails = (part: ReasoningPart, before: Before, readable = false): Json[] => {
  if (part.seal === undefined) return part.text === '' ? [] : [{ type: 'reasoning.text', text: part.text }]
  const own = part.seal.origin === 'chat-completions' ? part.seal.value.reasoning_details : undefined
  if (Array.isArray(own)) return own
  const tag = sealTag(part, before)
  if (readable && part.text !== '') return [{ type: 'reasoning.text', text: part.text, signature: tag }]
  return [{ type: 'reasoning.encrypted', data: tag }]
}

/**
 * Whether the client asks for thoughts as aggregators' and some servers' clients do. They read `reasoning`, others of this
 * wire `reasoning_content`, and some of those ask in the same way: both are written.
 */
export const readsReasoning = (body: JsonObject): boolean =>
  isObject(body.reasoning) || body.include_reasoning === true || body.reasoning_format === 'parsed'
