// Turns of any wire as messages the provider accepts: every call directly followed by its result, results before other
// content, system messages only between a user's message and the model's, nothing empty.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { ToolCallPart, ToolResultPart, UserPart } from '../../ir/part.ts'
import { placeOf } from '../../ir/place.ts'
import type { ChatRequest, Turn } from '../../ir/request.ts'
import { isStepOver, type Steps } from '../../lib/steps.ts'
import { callInput } from '../tools/call-input.ts'
import { sentInput } from './argument-names.ts'
import {
  encodeAssistantPart,
  encodeContentPart,
  encodeOpaque,
  encodeText,
  encodeToolResult,
  mark,
  type PartContext,
} from './encode-parts.ts'
import { type Pairing, pair } from './pairing.ts'
import { isThought } from './reasoning.ts'

type Message = { role: 'user' | 'assistant' | 'system'; content: JsonObject[] }
type Conversation = { system: JsonObject[]; messages: Message[] }

/** Throws `invalid_request` where no message has content. */
export function* encodeTurns(request: ChatRequest, context: PartContext, noMidSystem: boolean): Steps<Conversation> {
  const own = request.origin === 'messages'
  const first = request.turns.findIndex((turn) => turn.role !== 'system' && !isForeign(turn))
  // A client of this wire has put its other system messages into the list: they stay there.
  const hoisted = own ? Math.min(first === -1 ? 1 : first, 1) : first === -1 ? request.turns.length : first
  const system = request.turns.slice(0, hoisted).flatMap((turn, at) => {
    if (turn.role !== 'system') return []
    const path = context.dropped.turnPath(at)
    if (turn.name !== undefined) context.dropped.path(`${path}.name`)
    return systemBlocks(turn, path, context)
  })
  const writer = new Writer(pair(request.turns), own, noMidSystem, context)
  yield
  for (const [at, turn] of request.turns.entries()) {
    if (at >= hoisted || turn.role !== 'system') writer.write(turn, at)
    if (isStepOver(at)) yield
  }
  yield
  const messages = accepted(writer.end(), own)
  if (messages.length > 0) return { system, messages }
  // The provider needs a message: instructions alone become the user's.
  if (system.length > 0) return { system: [], messages: [{ role: 'user', content: system }] }
  const list = context.dropped.nameOf('messages')
  throw invalidRequest(`'${list}' must hold at least one message with content.`, list)
}

/** Builds the list in one pass. `own`: the client speaks this wire, so its order is kept wherever the provider takes it. */
class Writer {
  readonly #messages: Message[] = []
  #instructions: JsonObject[] = []
  /** Calls of the last assistant message that still lack their results. */
  #open: ToolCallPart[] = []
  /** The turn that holds the first of their results. */
  #firstResult = Number.POSITIVE_INFINITY
  /** The turn whose results are the last message: its other content joins them there. */
  #resultsOf = -1

  constructor(
    readonly pairing: Pairing,
    readonly own: boolean,
    readonly noMidSystem: boolean,
    readonly context: PartContext,
  ) {}

  write(turn: Turn, at: number): void {
    const path = this.context.dropped.turnPath(at)
    if (turn.name !== undefined) this.context.dropped.path(`${path}.name`)
    switch (turn.role) {
      case 'system':
        this.#system(systemBlocks(turn, path, this.context), at)
        break
      case 'user':
        this.#user(turn, at, path)
        break
      case 'assistant':
        this.#assistant(turn, at, path)
        break
    }
  }

  end(): Message[] {
    this.#answerCalls(-1)
    this.#instruct()
    return this.#messages
  }

  #system(blocks: JsonObject[], at: number): void {
    if (blocks.length === 0) return
    if (this.noMidSystem) {
      this.#answerCalls(at)
      this.#push('user', blocks.map(asUserText), !this.own || this.#resultsOf === at)
    } else if (this.own) {
      this.#answerCalls(at)
      this.#messages.push({ role: 'system', content: blocks })
    } else {
      // A system message must stand between the user's message and the model's: it waits for one of them.
      this.#instructions.push(...blocks)
    }
  }

  #user(turn: Extract<Turn, { role: 'user' }>, at: number, path: string): void {
    this.#answerCalls(at)
    const blocks = turn.parts.flatMap((part, number) =>
      this.#userPart(part, placeOf(part, `${path}.content.${number}`)),
    )
    if (blocks.length > 0) this.#push('user', blocks, !this.own || this.#resultsOf === at)
  }

  #userPart(part: UserPart, path: string): JsonObject[] {
    if (part.type !== 'tool-result') return encodeContentPart(part, path, this.context)
    return this.pairing.answered.has(part) ? [] : this.#orphan(part, path)
  }

  #assistant(turn: Extract<Turn, { role: 'assistant' }>, at: number, path: string): void {
    if (turn.phase !== undefined) this.context.dropped.path(`${path}.phase`)
    const calls = turn.parts.filter((part) => part.type === 'tool-call')
    const blocks = turn.parts.flatMap((part, number): JsonObject[] => {
      const partPath = placeOf(part, `${path}.content.${number}`)
      if (part.type !== 'tool-call') return encodeAssistantPart(part, partPath, this.context)
      const { extras, names } = this.context
      const name = names.of(part.name, part.namespace)
      return [
        extras.restore(partPath, {
          type: 'tool_use',
          id: this.pairing.idOf(part),
          name,
          input: sentInput(callInput(part.kind, part.input), name, names.replacedArguments),
          ...mark(part.cache),
        }),
      ]
    })
    if (blocks.length === 0) return
    // Where their results come earlier than this turn, they are written first: this is another turn of the model.
    if (this.#firstResult < at) this.#answerCalls(-1)
    this.#instruct()
    this.#push('assistant', blocks, !this.own || this.#open.length > 0)
    for (const call of calls) {
      this.#open.push(call)
      const result = this.pairing.resultOf(call)
      if (result !== undefined) this.#firstResult = Math.min(this.#firstResult, this.pairing.turnOf(result))
    }
  }

  /** Writes the results of the open calls in the client's order, and an error for each that is missing. */
  #answerCalls(at: number): void {
    if (this.#open.length === 0) return
    const found: { order: number; block: JsonObject }[] = []
    for (const call of this.#open) {
      const id = this.pairing.idOf(call)
      const result = this.pairing.resultOf(call)
      if (result === undefined) {
        found.push({ order: Number.POSITIVE_INFINITY, block: missing(id) })
        continue
      }
      const path = this.pairing.pathOf(result, (turn) => this.context.dropped.turnPath(turn))
      found.push({ order: this.pairing.orderOf(result), block: encodeToolResult(result, id, path, this.context) })
    }
    this.#open = []
    this.#firstResult = Number.POSITIVE_INFINITY
    found.sort((a, b) => (a.order === b.order ? 0 : a.order - b.order))
    this.#messages.push({ role: 'user', content: found.map(({ block }) => block) })
    this.#resultsOf = at
  }

  /** A result without a call, as the user's text. */
  #orphan(part: ToolResultPart, path: string): JsonObject[] {
    const content = part.parts.flatMap((inner, at) =>
      encodeContentPart(inner, placeOf(inner, `${path}.content.${at}`), this.context),
    )
    return [{ type: 'text', text: `Result of the tool call ${part.callId}:` }, ...content.filter(standsAlone)]
  }

  /** Writes the waiting instructions as a system message where one may stand, else as the user's text. */
  #instruct(): void {
    const blocks = this.#instructions
    if (blocks.length === 0) return
    this.#instructions = []
    this.#answerCalls(-1)
    if (this.#messages.at(-1)?.role === 'user') this.#messages.push({ role: 'system', content: blocks })
    else this.#push('user', blocks.map(asUserText), true)
  }

  #push(role: 'user' | 'assistant', content: JsonObject[], merge: boolean): void {
    const last = this.#messages.at(-1)
    if (merge && last?.role === role) last.content.push(...content)
    else this.#messages.push({ role, content })
  }
}

/** Whether nothing of the turn is written, such as one of tools only: those are in the request's list. */
const isForeign = (turn: Turn): boolean =>
  turn.parts.length > 0 && turn.parts.every((part) => part.type === 'opaque' && part.origin !== 'messages')

const systemBlocks = (turn: Extract<Turn, { role: 'system' }>, path: string, context: PartContext): JsonObject[] =>
  turn.parts.flatMap((part, at): JsonObject[] => {
    const partPath = placeOf(part, path === 'system' ? `system.${at}` : `${path}.content.${at}`)
    return part.type === 'text' ? encodeText(part, partPath, context) : encodeOpaque(part, partPath, context)
  })

/** An instruction as the user's text, marked as one. */
const asUserText = (block: JsonObject): JsonObject =>
  block.type === 'text' ? { ...block, text: `<system>\n${block.text}\n</system>` } : block

const missing = (id: string): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'The tool call was not answered.',
  is_error: true,
})

/** Whether content of a result may also stand in a user's message. */
const standsAlone = ({ type }: JsonObject): boolean => type !== 'tool_reference' && type !== 'browser_state'

/** The list without what the provider refuses in its order, its beginning or its end. */
const accepted = (messages: Message[], own: boolean): Message[] => {
  const list = messages.flatMap((message) => {
    if (message.role !== 'assistant') return [message]
    // A message of the model must not end with a thought.
    const last = message.content.findLastIndex((block) => !isThought(block))
    if (last === -1) return []
    return last === message.content.length - 1
      ? [message]
      : [{ ...message, content: message.content.slice(0, last + 1) }]
  })
  const last = list.at(-1)
  const tail = last?.content.at(-1)
  if (last?.role === 'assistant' && tail?.type === 'text' && typeof tail.text === 'string') {
    // A prefill must not end with white space.
    last.content[last.content.length - 1] = { ...tail, text: tail.text.trimEnd() }
  }
  if (!own && list[0]?.role === 'assistant')
    list.unshift({ role: 'user', content: [{ type: 'text', text: '(continued)' }] })
  // On other wires the model's last turn is finished. Here it would be a prefill, which newer models refuse.
  if (!own && last?.role === 'assistant') list.push({ role: 'user', content: [{ type: 'text', text: '(continue)' }] })
  return own ? list : joined(list.map(asUserWhereRefused))
}

/** A system message may stand between a user's and the model's, or last; anywhere else it becomes the user's text. */
const asUserWhereRefused = (message: Message, at: number, list: Message[]): Message => {
  if (message.role !== 'system') return message
  const next = list[at + 1]
  if (list[at - 1]?.role === 'user' && (next === undefined || next.role === 'assistant')) return message
  return { role: 'user', content: message.content.map(asUserText) }
}

/** Messages of one role that follow one another, as one message. */
const joined = (list: Message[]): Message[] => {
  const out: Message[] = []
  for (const message of list) {
    const last = out.at(-1)
    if (last?.role === message.role && message.role !== 'system') last.content.push(...message.content)
    else out.push(message)
  }
  return out
}
