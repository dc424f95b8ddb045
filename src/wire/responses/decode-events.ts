// A provider's responses stream as events. What a stream leaves out (parts never announced, texts never streamed,
// items only in the terminal event) is made up for when the item, or the whole response, comes.

import { GatewayError } from '../../errors.ts'
import type { ChatEvent, FinishReason } from '../../ir/event.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Frame } from '../../lib/sse.ts'
import type { EventDecoder, Undo } from '../codec.ts'
import { decodeError } from './error.ts'
import { argumentsText, decodeCitation, decodeCitations, decodeLogprobs } from './output.ts'
import { stringOr } from './read.ts'
import { decodeReasoning } from './reasoning.ts'
import { decodeUsage } from './usage.ts'

/** `text` of each: what has been passed on so far. */
type Content = { part: number; kind: 'text' | 'refusal'; text: string; citations: number; open: boolean }
type Message = { kind: 'message'; contents: Map<number, Content> }
/** `asText`: the call stands in for structured output. */
type Call = { kind: 'call'; part: number; text: string; asText: boolean; custom: boolean }
type Thought = { kind: 'reasoning'; part: number | undefined; text: string; summary: number; full: boolean }
type Item = Message | Call | Thought | { kind: 'opaque' } | { kind: 'done' }

export type AnswerReader = {
  /** One event of the stream. */
  event(event: JsonObject): ChatEvent[]
  /** A whole response: all its events at once. */
  whole(response: JsonObject): ChatEvent[]
  fail(error: GatewayError): ChatEvent[]
  end(): ChatEvent[]
}

const broken = (message: string) => new GatewayError('upstream_error', message)

export const decodeEvents = (undo: Undo = {}): EventDecoder => {
  const reader = answerReader(undo)
  return {
    push(frame: Frame) {
      if (frame.data === '[DONE]') return []
      let event: unknown
      try {
        event = JSON.parse(frame.data)
      } catch {
        return reader.fail(broken('The answer of the provider could not be read. Try again.'))
      }
      return isObject(event) ? reader.event(event) : []
    },
    end: () => reader.end(),
  }
}

export const answerReader = (undo: Undo): AnswerReader => {
  const items = new Map<number, Item>()
  const doneIds = new Set<string>()
  let out: ChatEvent[] = []
  let next = 0
  let started = false
  let over = false
  let latest = 0
  let calls = false
  let refused = false

  const begin = (response: JsonObject | undefined): void => {
    if (started) return
    started = true
    const { id, model, created_at: createdAt } = response ?? {}
    out.push({
      type: 'start',
      id: stringOr(id, ''),
      ...(typeof model === 'string' ? { model } : {}),
      ...(typeof createdAt === 'number' ? { createdAt: Math.floor(createdAt) } : {}),
    })
  }

  const fail = (error: GatewayError): void => {
    if (over) return
    over = true
    out.push({ type: 'error', error })
  }

  const placeOf = (event: JsonObject): number => {
    if (typeof event.output_index === 'number') latest = event.output_index
    return latest
  }

  // Messages.

  const message = (at: number): Message | undefined => {
    const item = items.get(at)
    if (item?.kind === 'message') return item
    if (item !== undefined) return undefined
    const made: Message = { kind: 'message', contents: new Map() }
    items.set(at, made)
    return made
  }

  const content = (at: number, index: number, kind: Content['kind']): Content | undefined => {
    const owner = message(at)
    const known = owner?.contents.get(index)
    if (owner === undefined || known !== undefined) return known
    const made: Content = { part: next++, kind, text: '', citations: 0, open: true }
    owner.contents.set(index, made)
    if (kind === 'refusal') refused = true
    out.push({ type: kind === 'text' ? 'text-start' : 'refusal-start', part: made.part })
    return made
  }

  const say = (target: Content | undefined, kind: Content['kind'], text: string, logprobs?: Json): void => {
    if (target?.kind !== kind || !target.open) return
    const told = kind === 'text' ? decodeLogprobs(logprobs) : []
    if (text === '' && told.length === 0) return
    target.text += text
    if (kind === 'refusal') out.push({ type: 'refusal-delta', part: target.part, text })
    else if (told.length === 0) out.push({ type: 'text-delta', part: target.part, text })
    else out.push({ type: 'text-delta', part: target.part, text, logprobs: told })
  }

  /** The part as the provider gives it in the end: whatever of it was not streamed comes now. */
  const endContent = (target: Content | undefined, whole: JsonObject | undefined): void => {
    if (target?.open !== true) return
    const rest = restOf(stringOr(target.kind === 'text' ? whole?.text : whole?.refusal, ''), target.text)
    if (rest !== '') say(target, target.kind, rest, target.text === '' ? whole?.logprobs : undefined)
    if (target.kind === 'text') {
      for (const citation of decodeCitations(whole?.annotations).slice(target.citations)) {
        out.push({ type: 'citation', part: target.part, citation })
      }
    }
    target.open = false
    out.push({ type: target.kind === 'text' ? 'text-end' : 'refusal-end', part: target.part })
  }

  const endMessage = (at: number, owner: Message, whole: JsonObject | undefined): void => {
    const parts = Array.isArray(whole?.content) ? whole.content : []
    parts.forEach((part, index) => {
      if (!isObject(part)) return
      if (part.type === 'output_text') endContent(content(at, index, 'text'), part)
      else if (part.type === 'refusal') endContent(content(at, index, 'refusal'), part)
    })
    for (const target of owner.contents.values()) endContent(target, undefined)
  }

  // Calls.

  const beginCall = (at: number, item: JsonObject): Call => {
    const name = stringOr(item.name, '')
    const custom = item.type === 'custom_tool_call'
    const asText = name !== '' && name === undo.jsonTool
    const call: Call = { kind: 'call', part: next++, text: '', asText, custom }
    items.set(at, call)
    if (asText) {
      out.push({ type: 'text-start', part: call.part })
      return call
    }
    calls = true
    const sent = undo.tools?.[name]
    const namespace = sent?.namespace ?? (typeof item.namespace === 'string' ? item.namespace : undefined)
    const itemId = typeof item.id === 'string' ? { itemId: item.id } : {}
    out.push({
      type: 'tool-start',
      part: call.part,
      id: stringOr(item.call_id, stringOr(item.id, `call_${call.part}`)),
      name: sent?.name ?? name,
      kind: custom ? 'custom' : 'function',
      ...(namespace === undefined ? {} : { namespace }),
      ...itemId,
    })
    return call
  }

  const feed = (call: Call, text: string): void => {
    if (text === '') return
    call.text += text
    out.push({ type: call.asText ? 'text-delta' : 'tool-delta', part: call.part, text })
  }

  const endCall = (call: Call, item: JsonObject | undefined): void => {
    if (item !== undefined) {
      feed(call, restOf(call.custom ? stringOr(item.input, '') : argumentsText(item.arguments), call.text))
    }
    out.push({ type: call.asText ? 'text-end' : 'tool-end', part: call.part })
  }

  // Thoughts.

  const think = (at: number, full: boolean, index: number, text: string): void => {
    const item = items.get(at) ?? { kind: 'reasoning', part: undefined, text: '', summary: index, full }
    if (item.kind !== 'reasoning') return
    items.set(at, item)
    const part = thought(item, full)
    if (item.full !== full || text === '') return
    if (index > item.summary && item.text !== '') {
      item.text += '\n\n'
      out.push({ type: 'reasoning-delta', part, text: '\n\n' })
    }
    item.summary = index
    item.text += text
    out.push({ type: 'reasoning-delta', part, text })
  }

  /** The number of a thought, which starts when it is known whether it is the thought itself or a summary. */
  const thought = (item: Thought, full: boolean): number => {
    if (item.part !== undefined) return item.part
    item.part = next++
    item.full = full
    out.push({ type: 'reasoning-start', part: item.part, ...(full ? { full } : {}) })
    return item.part
  }

  const endThought = (item: Thought, whole: JsonObject | undefined): void => {
    const told = whole === undefined ? undefined : decodeReasoning(whole)
    const part = thought(item, told?.full === true)
    const rest = told === undefined || (told.full === true) !== item.full ? '' : restOf(told.text, item.text)
    if (rest !== '') out.push({ type: 'reasoning-delta', part, text: rest })
    out.push({ type: 'reasoning-end', part, ...(told?.seal === undefined ? {} : { seal: told.seal }) })
  }

  // Items.

  const added = (at: number, item: JsonObject): void => {
    if (items.has(at)) return
    switch (item.type) {
      case 'message':
        message(at)
        break
      case 'function_call':
      case 'custom_tool_call':
        beginCall(at, item)
        break
      case 'reasoning':
        items.set(at, { kind: 'reasoning', part: undefined, text: '', summary: 0, full: false })
        break
      default:
        items.set(at, { kind: 'opaque' })
    }
  }

  const done = (at: number, item: JsonObject | undefined): void => {
    if (item !== undefined && typeof item.id === 'string') doneIds.add(item.id)
    if (item !== undefined) added(at, item)
    const known = items.get(at)
    switch (known?.kind) {
      case 'message':
        endMessage(at, known, item)
        break
      case 'call':
        endCall(known, item)
        break
      case 'reasoning':
        endThought(known, item)
        break
      case 'opaque':
        if (item !== undefined)
          out.push({ type: 'opaque', part: next++, value: { type: 'opaque', origin: 'responses', value: item } })
        break
      default:
        return
    }
    items.set(at, { kind: 'done' })
  }

  const finish = (response: JsonObject): void => {
    begin(response)
    const output = Array.isArray(response.output) ? response.output : []
    output.forEach((item, at) => {
      if (!isObject(item) || items.get(at)?.kind === 'done') return
      if (typeof item.id === 'string' && doneIds.has(item.id)) return
      done(at, item)
    })
    for (const [at, item] of items) if (item.kind !== 'done') done(at, undefined)
    over = true
    out.push({
      type: 'finish',
      reason: reasonOf(response, calls, refused),
      usage: decodeUsage(response.usage) ?? {},
      ...(typeof response.service_tier === 'string' ? { serviceTier: response.service_tier } : {}),
    })
  }

  const indexOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)

  const text = (value: Json | undefined): string =>
    typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

  const read = (event: JsonObject): void => {
    switch (event.type) {
      case 'response.output_text.delta':
        begin(undefined)
        say(content(placeOf(event), indexOf(event.content_index), 'text'), 'text', text(event.delta), event.logprobs)
        return
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta': {
        const call = items.get(placeOf(event))
        if (call?.kind === 'call') feed(call, text(event.delta))
        return
      }
      case 'response.reasoning_summary_text.delta':
        begin(undefined)
        think(placeOf(event), false, indexOf(event.summary_index), text(event.delta))
        return
      case 'response.reasoning_text.delta':
        begin(undefined)
        think(placeOf(event), true, indexOf(event.content_index), text(event.delta))
        return
      case 'response.refusal.delta':
        begin(undefined)
        say(content(placeOf(event), indexOf(event.content_index), 'refusal'), 'refusal', text(event.delta))
        return
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        if (isObject(event.response)) begin(event.response)
        return
      case 'response.output_item.added':
        begin(undefined)
        if (isObject(event.item)) added(placeOf(event), event.item)
        return
      case 'response.output_item.done':
        begin(undefined)
        if (isObject(event.item)) done(placeOf(event), event.item)
        return
      case 'response.content_part.added':
      case 'response.content_part.done': {
        begin(undefined)
        if (!isObject(event.part)) return
        const kind = event.part.type === 'output_text' ? 'text' : event.part.type === 'refusal' ? 'refusal' : undefined
        if (kind === undefined) return
        const target = content(placeOf(event), indexOf(event.content_index), kind)
        if (event.type === 'response.content_part.done') endContent(target, event.part)
        return
      }
      case 'response.output_text.annotation.added': {
        const target = content(placeOf(event), indexOf(event.content_index), 'text')
        if (!isObject(event.annotation) || target?.open !== true) return
        target.citations++
        out.push({ type: 'citation', part: target.part, citation: decodeCitation(event.annotation) })
        return
      }
      case 'response.completed':
      case 'response.incomplete':
        if (isObject(event.response)) settle(event.response)
        else fail(broken('The answer of the provider could not be read. Try again.'))
        return
      case 'response.failed':
      case 'response.cancelled':
        fail(decodeError(200, event.response))
        return
      case 'error':
        fail(decodeError(200, event))
        return
      default:
        if (isObject(event.error)) fail(decodeError(200, event))
    }
  }

  /** A response that is over, by whatever event or body it came. */
  const settle = (response: JsonObject): void => {
    const { status } = response
    if (isObject(response.error)) fail(decodeError(200, response))
    else if (status === undefined || status === null || status === 'completed' || status === 'incomplete')
      finish(response)
    else fail(broken('The provider could not answer the request. Try again.'))
  }

  const emit = (act: () => void): ChatEvent[] => {
    if (over) return []
    out = []
    act()
    return out
  }

  return {
    event: (event) => emit(() => read(event)),
    whole: (response) => emit(() => settle(response)),
    fail: (error) => emit(() => fail(error)),
    end: () => emit(() => fail(broken('The answer of the provider broke off before its end. Try again.'))),
  }
}

/** What a whole text has beyond what was streamed of it; nothing where the two disagree. */
const restOf = (whole: string, streamed: string): string =>
  whole.startsWith(streamed) ? whole.slice(streamed.length) : ''

const reasonOf = (response: JsonObject, calls: boolean, refused: boolean): FinishReason => {
  const why = isObject(response.incomplete_details) ? response.incomplete_details.reason : undefined
  if (why === 'content_filter') return 'content-filter'
  if (response.status === 'incomplete' || (typeof why === 'string' && why !== '')) return 'length'
  if (calls) return 'tool-calls'
  return refused ? 'refusal' : 'stop'
}
