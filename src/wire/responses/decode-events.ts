// Decodes a provider's responses stream. What it leaves out (parts never announced, text never streamed, items only in the
// terminal event) is emitted when the whole item or the whole response arrives.

import type { GatewayError } from '../../errors.ts'
import type { ChatEvent, FinishReason } from '../../ir/event.ts'
import { brokenOff } from '../../ir/fold.ts'
import { asList, asText, filledText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ServerToolCalls } from '../../ir/server-tools.ts'
import type { Usage } from '../../ir/usage.ts'
import { parseBounded } from '../../lib/json-reader.ts'
import type { Frame } from '../../lib/sse.ts'
import type { EventDecoder, Undo } from '../codec.ts'
import { decodeModeration } from '../moderation.ts'
import { isToldError, malformedAnswer } from '../pass.ts'
import { given } from '../read.ts'
import { callsInAnswer, countCalls, mostCalls } from '../tools/server-calls.ts'
import { isFiltered } from '../turns/ending.ts'
import { decodeError } from './error.ts'
import { type ItemReader, itemReader } from './items.ts'
import { itemOf } from './message-reader.ts'
import { decodeUsage, usageObject } from './usage.ts'

/** What some relays write for every end, as vendor_b's realtime interface does; the response's status says which. */
export const ENDED = 'response.done'

type AnswerReader = {
  /** One event of the stream. */
  event(event: JsonObject): ChatEvent[]
  /** A whole response: all its events at once. */
  whole(response: JsonObject): ChatEvent[]
  fail(error: GatewayError): ChatEvent[]
  end(): ChatEvent[]
  readonly rawUsage: JsonObject | undefined
  readonly serviceTier: string | undefined
  /** See `Tap`. */
  readonly serverTools: ServerToolCalls
}

export const decodeEvents = (undo: Undo = {}): EventDecoder => {
  const reader = answerReader(undo)
  return {
    push(frame: Frame) {
      if (frame.data === '[DONE]') return []
      let event: unknown
      try {
        event = parseBounded(frame.data)
      } catch {
        return reader.fail(malformedAnswer())
      }
      if (!isObject(event)) return reader.fail(malformedAnswer())
      return reader.event(
        event.type === undefined && frame.event !== undefined ? { ...event, type: frame.event } : event,
      )
    },
    end: () => reader.end(),
    serverTools: reader.serverTools,
    // Usage comes with the response that ended.
    get complete() {
      return reader.rawUsage !== undefined
    },
    get rawUsage() {
      return reader.rawUsage
    },
    get serviceTier() {
      return reader.serviceTier
    },
  }
}

export const answerReader = (undo: Undo): AnswerReader => {
  let out: ChatEvent[] = []
  let id = ''
  const items = itemReader(undo, {
    answerId: () => id,
    emit: (event) => {
      if (!over) out.push(event)
    },
    // What has been told cannot be taken back.
    lost: () => fail(malformedAnswer()),
    isGapless: () => number !== undefined,
  })
  /** Of the last event; undefined once one has none, or does not follow the one before. */
  let number: number | undefined = -1
  let started = false
  let created = false
  let hasItems = false
  let over = false
  let rawUsage: JsonObject | undefined
  let serviceTier: string | undefined
  const serverTools: ServerToolCalls = {}

  const begin = (response: JsonObject | undefined): void => {
    if (started) return
    started = true
    const { model, created_at: createdAt } = response ?? {}
    id = asText(response?.id)
    out.push({
      type: 'start',
      id,
      ...(typeof model === 'string' ? { model } : {}),
      ...(typeof createdAt === 'number' ? { createdAt: Math.floor(createdAt) } : {}),
    })
  }

  const fail = (error: GatewayError): void => {
    if (over) return
    over = true
    out.push({ type: 'error', error })
  }

  const report = (response: JsonObject): Usage | undefined => {
    const usage = usageObject(response)
    if (usage !== undefined) rawUsage = usage
    return decodeUsage(usage)
  }

  /** A response that failed may have been billed. */
  const failed = (response: Json | undefined): void => {
    const usage = isObject(response) ? report(response) : undefined
    if (usage !== undefined) out.push({ type: 'usage', usage })
    fail(decodeError(200, response))
  }

  const finish = (response: JsonObject): void => {
    begin(response)
    const output = hasItems ? asList(response.output) : outputOf(response)
    items.settle(output.map((item) => (isObject(item) ? itemOf(item) : item)))
    if (over) return
    over = true
    out.push({
      type: 'finish',
      reason: reasonOf(response, items.calls, items.refused),
      usage: report(response) ?? {},
      ...(typeof response.service_tier === 'string' ? { serviceTier: response.service_tier } : {}),
      ...decodeModeration(response.moderation),
    })
  }

  const read = (told: JsonObject): void => {
    const event = isObject(told.item) ? withItem(told, itemOf(told.item)) : told
    const { response, sequence_number: at } = event
    number = typeof at === 'number' && (number === -1 || at - 1 === number) ? at : undefined
    if (isObject(response) && typeof response.service_tier === 'string') serviceTier = response.service_tier
    const itemEvent = ITEM_EVENTS.get(event.type)
    if (itemEvent !== undefined) {
      begin(undefined)
      hasItems = true
      if (event.type === 'response.output_item.done' && isObject(event.item)) countCalls([event.item], serverTools)
      itemEvent(items, items.placeOf(event), event)
      return
    }
    switch (event.type) {
      case 'response.created':
        // A second answer behind part of the first would say all of it again.
        if (created && hasItems) fail(malformedAnswer())
        else if (isObject(event.response)) begin(event.response)
        created = true
        return
      case 'response.in_progress':
      case 'response.queued':
        if (isObject(event.response)) begin(event.response)
        return
      case 'response.completed':
      case 'response.incomplete':
      case ENDED:
        if (isObject(event.response)) settle(event.response)
        else fail(malformedAnswer())
        return
      case 'response.failed':
      case 'response.cancelled':
        failed(event.response)
        return
      case 'error':
        fail(decodeError(200, event))
        return
      default:
        if (isToldError(event.error)) fail(decodeError(200, event))
    }
  }

  /** A response at its end, from a terminal event or a body. */
  const settle = (response: JsonObject): void => {
    const { status, error } = response
    Object.assign(serverTools, mostCalls(serverTools, callsInAnswer(response)))
    const isWhole = !given(status) || status === 'completed' || status === 'incomplete'
    if (isWhole && !isToldError(error)) finish(response)
    else failed(response)
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
    end: () => emit(() => fail(brokenOff())),
    serverTools,
    get rawUsage() {
      return rawUsage
    },
    get serviceTier() {
      return serviceTier
    },
  }
}

const withItem = (event: JsonObject, item: JsonObject): JsonObject => (event.item === item ? event : { ...event, item })

const text = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

/** A piece of a text; some servers wrap it. */
const said = (value: Json | undefined): string => text(isObject(value) ? value.text : value)

const index = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)

/** Handles an event that concerns one output item. */
type ItemEvent = (items: ItemReader, at: number, event: JsonObject) => void

export const ITEM_EVENTS: ReadonlyMap<Json | undefined, ItemEvent> = new Map<Json | undefined, ItemEvent>([
  [
    'response.output_item.added',
    (items, at, { item }) => {
      if (isObject(item)) items.added(at, item)
    },
  ],
  [
    'response.output_item.done',
    (items, at, { item }) => {
      if (isObject(item)) items.done(at, item)
    },
  ],
  [
    'response.content_part.added',
    (items, at, { part, content_index: content }) => {
      if (isObject(part)) items.contentAdded(at, index(content), part)
    },
  ],
  [
    'response.content_part.done',
    (items, at, { part, content_index: content }) => {
      if (isObject(part)) items.contentDone(at, index(content), part)
    },
  ],
  [
    'response.output_text.annotation.added',
    (items, at, { annotation, content_index: content, annotation_index: number }) => {
      if (isObject(annotation)) items.citation(at, index(content), annotation, number)
    },
  ],
  [
    'response.output_text.delta',
    (items, at, event) => items.textDelta(at, index(event.content_index), said(event.delta), event.logprobs),
  ],
  [
    'response.output_text.done',
    (items, at, event) => items.textDone(at, index(event.content_index), said(event.text), event.logprobs),
  ],
  [
    'response.refusal.delta',
    (items, at, event) => items.refusalDelta(at, index(event.content_index), said(event.delta)),
  ],
  [
    'response.refusal.done',
    (items, at, event) => items.refusalDone(at, index(event.content_index), said(event.refusal)),
  ],
  [
    'response.reasoning_summary_text.delta',
    (items, at, event) => items.reasoningDelta(at, false, index(event.summary_index), said(event.delta)),
  ],
  [
    'response.reasoning_summary_text.done',
    (items, at, event) => items.reasoningDone(at, false, index(event.summary_index), said(event.text)),
  ],
  [
    'response.reasoning_text.delta',
    (items, at, event) => items.reasoningDelta(at, true, index(event.content_index), said(event.delta)),
  ],
  [
    'response.reasoning_text.done',
    (items, at, event) => items.reasoningDone(at, true, index(event.content_index), said(event.text)),
  ],
  ['response.function_call_arguments.delta', (items, at, event) => items.inputDelta(at, text(event.delta))],
  ['response.function_call_arguments.done', (items, at, event) => items.inputDone(at, text(event.arguments))],
  ['response.custom_tool_call_input.delta', (items, at, event) => items.inputDelta(at, text(event.delta))],
  ['response.custom_tool_call_input.done', (items, at, event) => items.inputDone(at, text(event.input))],
])

/** Some servers leave the list empty, and have nothing but the text that clients make of it. */
const outputOf = ({ output, output_text: text }: JsonObject): Json[] => {
  const items = asList(output)
  return items.length > 0 || filledText(text) === undefined
    ? items
    : [{ type: 'message', role: 'assistant', content: text }]
}

const reasonOf = (response: JsonObject, calls: boolean, refused: boolean): FinishReason => {
  const why = isObject(response.incomplete_details) ? response.incomplete_details.reason : undefined
  if (isFiltered(why)) return 'content-filter'
  if (response.status === 'incomplete' || (typeof why === 'string' && why !== '')) return 'length'
  if (calls) return 'tool-calls'
  return refused ? 'refusal' : 'stop'
}
