// The tap of a responses stream that passes through: sets the model id in every event that contains the response, reads
// usage and failures.

import { asList, filledText, isObject, type JsonObject, parseObject } from '../../ir/json.ts'
import { type Edit, splice } from '../../lib/json-splice.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { isToldError, malformedAnswer, noAnswer, openNotes, saysMore, textOf } from '../pass.ts'
import { callsInAnswer, countCalls, mostCalls } from '../tools/server-calls.ts'
import { initialResponse } from './answer.ts'
import { isCompaction, withoutCompaction } from './compaction.ts'
import { endEdits } from './cut.ts'
import { ENDED, ITEM_EVENTS } from './decode-events.ts'
import { decodeError } from './error.ts'
import { failureFrames } from './failure-frames.ts'
import { decodeUsage, usageObject } from './usage.ts'

export const tap = (options: TapOptions): Tap => {
  const modelText = JSON.stringify(options.model)
  const noted = openNotes()
  let sequence = 0
  let created = false
  let hasItems = false
  let identity: { id: string; createdAt: number } | undefined
  /** Where a compaction is asked for, all before it: an answer without one is none, and its client is told nothing of it. */
  let held: string[] | undefined = options.compacts === true ? [] : undefined

  /** An event that contains the whole response. */
  const whole = (event: string, text: string, { type, response }: JsonObject): string => {
    if (!isObject(response)) return noted.failed(malformedAnswer())
    if (identity === undefined && typeof response.id === 'string') {
      const createdAt = typeof response.created_at === 'number' ? response.created_at : options.now
      identity = { id: response.id, createdAt }
      noted.answerId = response.id
    }
    noted.serviceTier = textOf(response.service_tier) ?? noted.serviceTier
    const hasFailed = FAILED.has(event) || FAILED.has(`response.${response.status}`) || isToldError(response.error)
    const hasEnded = hasFailed || event === 'response.completed' || event === 'response.incomplete'
    // Before its end a response may tell figures that are of no answer yet.
    const usage = hasEnded ? usageObject(response) : undefined
    if (usage !== undefined) {
      noted.usage = decodeUsage(usage)
      noted.rawUsage = usage
    }
    if (hasEnded) noted.serverTools = mostCalls(noted.serverTools, callsInAnswer(response))
    if (hasFailed) {
      noted.complete = usage !== undefined
      return noted.failed(decodeError(200, response))
    }
    if (hasEnded && held !== undefined && !asList(response.output).some(isCompaction))
      return noted.failed(withoutCompaction())
    if (hasEnded) {
      noted.state = 'done'
      noted.begun = true
      // Some servers tell the whole text at the end alone.
      if (noted.output.chars === 0) for (const text of textsIn(response.output)) noted.output.add(text)
    }
    const ends = hasEnded ? endEdits(response, options.cap) : []
    const edits: Edit[] = ends.map(({ path, value }) => ({ path: ['response', ...path], value }))
    if (response.model !== undefined) edits.push({ path: ['response', 'model'], value: modelText })
    const told = ends.length === 0 ? event : 'response.incomplete'
    if (type !== told && type !== undefined) edits.push({ path: ['type'], value: JSON.stringify(told) })
    return writeFrame({ event: told, data: splice(text, edits) })
  }

  const heldBack = (passed: string, { item }: JsonObject): string => {
    if (held === undefined || noted.state === 'failed') return passed
    held.push(passed)
    if (noted.state === 'open' && !(isObject(item) && isCompaction(item))) return ''
    const all = held.join('')
    held = undefined
    return all
  }

  const see = (frame: Frame): string => {
    if (noted.state !== 'open') return ''
    const data = parseObject(frame.data)
    // The end marker of another wire, at which SDKs stop reading: not passed on.
    if (data === undefined) return frame.data === '[DONE]' ? '' : noted.failed(malformedAnswer())
    const named = typeof data.type === 'string' ? data.type : frame.event
    if (named === undefined) return noted.failed(noAnswer(data, decodeError))
    const event = named === ENDED ? endOf(data) : named
    if (event === 'error' || isToldError(data.error)) return noted.failed(decodeError(200, data))
    if (event === 'response.created') {
      // A second answer behind part of the first would say all of it again.
      if (created && hasItems) return noted.failed(malformedAnswer())
      created = true
    }
    hasItems ||= ITEM_EVENTS.has(event)
    noted.begun ||= !WHOLE.has(event) && beginsAnswer(event, data)
    if (event === 'response.output_item.done' && isObject(data.item)) countCalls([data.item], noted.serverTools)
    const isWhole = WHOLE.has(event) || isObject(data.response)
    const passed = isWhole ? whole(event, frame.data, data) : writeFrame({ event, data: frame.data })
    if (!isWhole) noted.output.add(textOf(data.delta))
    // A failure is not passed on: its number goes to the event that stands for it.
    if (passed !== '' && typeof data.sequence_number === 'number') sequence = data.sequence_number + 1
    return heldBack(passed, data)
  }

  return Object.assign(noted, {
    see,
    fail: ((why, requestId) =>
      failureFrames(why, {
        // Strict clients read no end without every member. What the server said of it may be large, and is not held for that.
        response: {
          ...initialResponse(options, {}),
          id: identity?.id ?? `resp_${requestId.replace(/[^A-Za-z0-9]/g, '')}`,
          created_at: identity?.createdAt ?? options.now,
        },
        sequence,
        started: identity !== undefined && held === undefined,
      })) satisfies Tap['fail'],
  })
}

/** What the model wrote in the items of an answer. */
const textsIn = (output: unknown): string[] =>
  asList(output).flatMap((item) => {
    if (!isObject(item)) return []
    const parts = asList(item.content).map((part) => (isObject(part) ? textOf(part.text) : undefined))
    return [...parts, textOf(item.arguments), textOf(item.input)].filter((text) => text !== undefined)
  })

/**
 * What is told of an item, or by servers that do not say of which. One that has just been added, or a part of it, may have
 * nothing in it yet.
 */
const beginsAnswer = (event: string, { item, item_id: id, output_index: at, part, delta }: JsonObject): boolean => {
  if (id === undefined && at === undefined && item === undefined) return filledText(delta) !== undefined
  if (!event.endsWith('.added')) return delta !== ''
  const added = isObject(item) ? item : part
  return isObject(added) && saysMore(added, NAMING)
}

/** What says of an item or a part only which it is. Of a thought its vendor seals what has not been thought yet. */
const NAMING: ReadonlySet<string> = new Set(['type', 'id', 'role', 'status', 'phase', 'encrypted_content'])

/** The name that clients know of an end that is named as any. */
const endOf = ({ response }: JsonObject): string =>
  isObject(response) && response.status === 'incomplete' ? 'response.incomplete' : 'response.completed'

const WHOLE = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
])

const FAILED = new Set(['response.failed', 'response.cancelled'])
