// An assistant message as parts, both ways: shared by the history of requests and by whole answers.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, ReasoningPart, RefusalPart, Seal, ToolCallPart } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import { type Before, type OpenName, openPlaced, openSeal, sealTag } from '../seal.ts'
import { detailSeal, detailsIn, detailText, isSealed } from './details.ts'
import { cacheMark, decodeContent } from './parts.ts'

/**
 * The parts of a message in reading order: thought, text, refusal, audio, calls; thoughts that this gateway has seen
 * further on stand there. Throws `invalid_request` naming the member where a call has no name or the content is of no
 * known shape. `madeId` names calls that came without an id.
 */
export const decodeAssistant = (
  message: JsonObject,
  path: string,
  madeId: (call: number) => string,
): AssistantPart[] => {
  const parts: AssistantPart[] = []
  const later: Later[] = []
  for (const { part, before } of decodeThoughts(message)) {
    placed(part, `${path}.reasoning_content`)
    if (before === undefined) parts.push(part)
    else later.push({ part, before })
  }
  for (const [at, part] of assistantContent(message.content, `${path}.content`).entries()) {
    if (part.type === 'text' || part.type === 'refusal') parts.push(part)
    else if (part.type === 'opaque') parts.push(...decodeOther(part.value, `${path}.content.${at}`))
    else throw invalidRequest(`'${path}.content.${at}': an assistant message holds text only.`, `${path}.content.${at}`)
  }
  if (typeof message.refusal === 'string' && message.refusal !== '')
    parts.push(placed({ type: 'refusal', text: message.refusal }, `${path}.refusal`))
  if (isObject(message.audio)) {
    parts.push(placed({ type: 'opaque', origin: 'chat-completions', value: { audio: message.audio } }, `${path}.audio`))
  }
  if (isObject(message.function_call))
    parts.push(decodeCall({ function: message.function_call }, `${path}.function_call`, madeId(0)))
  if (Array.isArray(message.tool_calls)) {
    for (const [at, call] of message.tool_calls.entries()) {
      const signature = isObject(call) ? signatureOf(call) : undefined
      if (signature !== undefined) parts.push({ type: 'reasoning', text: '', seal: signature })
      parts.push(decodeCall(call, `${path}.tool_calls.${at}`, madeId(at)))
    }
  }
  return later.length === 0 ? parts : woven(parts, later)
}

/** A thought that came after words or calls of its answer. */
type Later = { part: ReasoningPart; before: Before }

/** The thoughts back where they stood, words cut there: what a vendor has signed must not move among the rest. */
const woven = (said: readonly AssistantPart[], later: readonly Later[]): AssistantPart[] => {
  const all = { text: 0, calls: 0 }
  for (const part of said) {
    if (part.type === 'text') all.text += part.text.length
    else if (part.type === 'tool-call') all.calls += 1
  }
  // A client may have cut what it kept.
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
  for (const part of said) {
    if (part.type === 'tool-call' || part.type === 'text') putDue()
    if (part.type !== 'text') {
      if (part.type === 'tool-call') passed.calls += 1
      parts.push(part)
      continue
    }
    const { cache, ...bare } = part
    let rest = part.text
    for (let one = waiting[next]; one !== undefined && one.calls <= passed.calls; one = waiting[next]) {
      const head = rest.slice(0, one.text - passed.text)
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

const assistantContent = (content: Json | undefined, path: string) => {
  const parts: (ReturnType<typeof decodeContent>[number] | RefusalPart)[] = []
  for (const part of decodeContent(content, path)) {
    const refusal = part.type === 'opaque' && part.value.type === 'refusal' ? part.value.refusal : undefined
    parts.push(typeof refusal === 'string' ? { type: 'refusal', text: refusal } : part)
  }
  return parts
}

/** Thoughts that some servers write among the content; anything else stays as it is. */
const decodeOther = (value: JsonObject, path: string): AssistantPart[] => {
  const text = textIn(thoughtIn(value))
  switch (value.type) {
    // As the messages wire writes it.
    case 'tool_use':
      return [
        decodeCall({ ...value, type: 'function', function: { name: value.name, arguments: value.input } }, path, path),
      ]
    case 'thinking':
      return text === '' ? [] : [{ type: 'reasoning', text, full: true }]
    case 'reasoning':
      return text === '' ? [] : [{ type: 'reasoning', text }]
    default:
      return [{ type: 'opaque', origin: 'chat-completions', value }]
  }
}

/** What a thought among the content says: the thought itself, or it in short. */
export const thoughtIn = ({ thinking, summary }: JsonObject): Json | undefined => thinking ?? summary

/** The name by which an answer or a piece of one tells its thought in the open. */
export const openNameIn = (message: JsonObject): OpenName => {
  if (typeof message.reasoning_content === 'string' && message.reasoning_content !== '') return 'reasoning_content'
  if (typeof message.reasoning === 'string' && message.reasoning !== '') return 'reasoning'
  return Array.isArray(message.content) ? 'thinking' : 'reasoning_content'
}

/** A whole answer's thoughts, those that were told in the open under another name than most sealed with it. */
export const withOpenNames = (parts: AssistantPart[], message: JsonObject): AssistantPart[] => {
  const name = openNameIn(message)
  if (name === 'reasoning_content') return parts
  return parts.map((part) =>
    part.type === 'reasoning' && part.full === true && part.seal === undefined
      ? { ...part, seal: openSeal(name) }
      : part,
  )
}

/** A text, also where a server writes it as a list of texts. */
export const textIn = (value: Json | undefined): string => {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  return value.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

const decodeThoughts = (message: JsonObject): { part: ReasoningPart; before?: Before }[] => {
  const { list, details } = detailsIn(message)
  const text = reasoningText(message) ?? details.map((detail) => detailText(detail) ?? '').join('')
  if (details.some((detail) => openDetail(detail) !== undefined)) {
    return details.flatMap((detail): ReturnType<typeof decodeThoughts> => {
      const opened = openDetail(detail)
      if (opened !== undefined) return [opened]
      return typeof detail.text === 'string' ? [{ part: { type: 'reasoning', text: detail.text, full: true } }] : []
    })
  }
  if (details.some(isSealed)) {
    return [{ part: { type: 'reasoning', text, full: true, seal: detailSeal(list, details) } }]
  }
  return text === '' ? [] : [{ part: { type: 'reasoning', text, full: true } }]
}

/** The thought of a message or a delta under either of its names; undefined where neither says anything. */
export const reasoningText = (message: JsonObject): string | undefined => {
  const text = message.reasoning_content
  if (typeof text === 'string' && text !== '') return text
  return typeof message.reasoning === 'string' && message.reasoning !== '' ? message.reasoning : undefined
}

/** A thought this gateway had sealed into `reasoning_details`. */
export const openDetail = (detail: JsonObject): ReturnType<typeof openPlaced> =>
  typeof detail.data === 'string' ? openPlaced(detail.data) : undefined

/** What some servers sign a call with, and want back with it: a thought of its own, right before the call. */
export const signatureOf = ({ extra_content: signed }: JsonObject): Seal | undefined =>
  isObject(signed) ? { origin: 'chat-completions', value: { extra_content: signed } } : undefined

const decodeCall = (raw: Json, path: string, madeId: string): ToolCallPart => {
  const call = isObject(raw) ? raw : {}
  const kind = isObject(call.custom) ? 'custom' : 'function'
  const body = call[kind]
  if (!isObject(body) || typeof body.name !== 'string' || body.name === '') {
    throw invalidRequest(`'${path}' must be a tool call with a name.`, path)
  }
  const id = typeof call.id === 'string' && call.id !== '' ? call.id : madeId
  const input = kind === 'custom' ? inputText(body.input) : inputText(body.arguments) || '{}'
  return placed({ type: 'tool-call', id, name: body.name, kind, input, ...cacheMark(call, path) }, path)
}

/** Arguments as text, also where a server sent them as an object or not at all. */
export const inputText = (value: Json | undefined): string => {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** A call of a custom tool that was sent as a function. */
export const asFunction = (call: ToolCallPart): ToolCallPart =>
  call.kind === 'custom' ? { ...call, kind: 'function', input: JSON.stringify({ input: call.input }) } : call

export const encodeCall = (call: ToolCallPart, id: string, name: string): JsonObject =>
  call.kind === 'custom'
    ? { id, type: 'custom', custom: { name, input: call.input } }
    : { id, type: 'function', function: { name, arguments: call.input === '' ? '{}' : call.input } }

/**
 * The added members that carry an answer's thoughts to a client: the readable text, and each sealed thought as a tag
 * that brings it back whole. Where one is sealed the others stand beside it, so that their order is kept.
 */
export const encodeThoughts = (parts: readonly AssistantPart[]): JsonObject => {
  const anySealed = parts.some((part) => part.type === 'reasoning' && part.seal !== undefined)
  const before: Before = { text: 0, calls: 0 }
  const details: Json[] = []
  let text = ''
  for (const part of parts) {
    if (part.type === 'text') before.text += part.text.length
    else if (part.type === 'tool-call') before.calls += 1
    else if (part.type === 'reasoning') {
      text += part.text
      if (anySealed) details.push(...encodeDetails(part, before))
    }
  }
  return {
    ...(text === '' ? {} : { reasoning_content: text }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

/** Own details verbatim, a foreign seal as a tag, an open thought as its text. */
export const encodeDetails = (part: ReasoningPart, before: Before): Json[] => {
  if (part.seal === undefined) return part.text === '' ? [] : [{ type: 'reasoning.text', text: part.text }]
  const own = part.seal.origin === 'chat-completions' ? part.seal.value.reasoning_details : undefined
  return Array.isArray(own) ? own : [{ type: 'reasoning.encrypted', data: sealTag(part, before) }]
}
