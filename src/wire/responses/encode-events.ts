// Encodes events as a responses stream: the lifecycle events around the items, and the end.

import type { GatewayError } from '../../errors.ts'
import type { ChatEvent } from '../../ir/event.ts'
import type { JsonObject } from '../../ir/json.ts'
import { sequence } from '../../ir/sequence.ts'
import type { Usage } from '../../ir/usage.ts'
import type { Ask, EventEncoder } from '../codec.ts'
import { DECLINED, finalResponse, incompleteReason, initialResponse, needsRefusalText, responseId } from './answer.ts'
import { clientTools } from './client-tools.ts'
import { asksCompaction, compacted } from './compaction.ts'
import { failureFrames } from './failure-frames.ts'
import { type Frames, numberedFrames } from './frames.ts'
import { type ItemWriter, itemWriter } from './item-writer.ts'
import { bareId } from './names.ts'

export const encodeEvents = (ask: Ask): EventEncoder => {
  const inOrder = sequence()
  const writer = answerWriter(ask, numberedFrames())
  let over = false
  return {
    push(event) {
      if (over) return ''
      let text = ''
      for (const next of inOrder(event)) text += writer.write(next)
      if (event.type === 'finish' || event.type === 'error') over = true
      return text
    },
  }
}

/** `base`: the response before any output. */
type Answer = { base: JsonObject; items: ItemWriter }

type AnswerWriter = {
  /** The text to send for an event. Parts must not overlap. */
  write(event: ChatEvent): string
  /** The response at its end; undefined before. */
  readonly finished: JsonObject | undefined
}

export const answerWriter = ({ body, ...ask }: Ask, frames: Frames): AnswerWriter => {
  const { frame } = frames
  const shaped = asksCompaction(body) ? compacted() : undefined
  const own = clientTools(body)
  const echo = initialResponse(ask, body)
  let answer: Answer | undefined
  let finished: JsonObject | undefined
  let usage: Usage = {}

  const open = (event: ChatEvent): Answer => {
    const { id, createdAt = ask.now } = event.type === 'start' ? event : { id: ask.id ?? '' }
    const base = { ...echo, id: responseId(id), created_at: createdAt }
    return { base, items: itemWriter(frames, bareId(id), own) }
  }

  const finish = (event: Extract<ChatEvent, { type: 'finish' }>, { base, items }: Answer): string => {
    const declined = needsRefusalText(event.reason, items) ? decline(items) : ''
    const cut = incompleteReason(event.reason, items.calls) !== undefined
    const closed = items.close(cut ? 'incomplete' : 'completed')
    finished = finalResponse(base, items.output, { ...event, usage: { ...usage, ...event.usage } }, ask)
    return declined + closed + frame(`response.${String(finished.status)}`, { response: finished })
  }

  const fail = (error: GatewayError, { base, items }: Answer): string =>
    failureFrames(error, {
      response: { ...base, output: items.output },
      sequence: frames.next(),
      started: true,
    })

  const write = (event: ChatEvent): string => {
    if (event.type === 'ping') return ''
    if (event.type === 'usage') {
      usage = { ...usage, ...event.usage }
      return ''
    }
    let text = ''
    if (answer === undefined) {
      answer = open(event)
      if (event.type === 'start') usage = { ...usage, ...event.usage }
      text = frame('response.created', { response: answer.base })
      text += frame('response.in_progress', { response: answer.base })
    }
    switch (event.type) {
      case 'finish':
        return text + finish(event, answer)
      case 'error':
        return text + fail(event.error, answer)
      default:
        return text + answer.items.write(event)
    }
  }

  return {
    write: shaped === undefined ? write : (event) => shaped(event).map(write).join(''),
    get finished() {
      return finished
    },
  }
}

/** The text of a refusal without one. The item stays open. */
const decline = (items: ItemWriter): string =>
  items.write({ type: 'refusal-start', part: 0 }) + items.write({ type: 'refusal-delta', part: 0, text: DECLINED })
