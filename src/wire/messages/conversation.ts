// Turns of any wire as messages the provider accepts: every call directly followed by its result, results before other
// content, one system message at most between a user's and the model's, nothing empty.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { ToolCallPart, ToolResultPart, UserPart } from '../../ir/part.ts'
import { placeOf } from '../../ir/place.ts'
import type { ChatRequest, Turn } from '../../ir/request.ts'
import { callInput } from '../call-input.ts'
import {
  encodeAssistantPart,
  encodeDocument,
  encodeImage,
  encodeOpaque,
  encodeResultPart,
  encodeText,
  encodeToolResult,
  mark,
  type PartContext,
} from './encode-parts.ts'
import { type Pairing, pair } from './pairing.ts'

type Message = { role: 'user' | 'assistant' | 'system'; content: JsonObject[] }
type Conversation = { system: JsonObject[]; messages: Message[] }

/** Throws `invalid_request` where nothing is left to answer. */
export const encodeTurns = (request: ChatRequest, context: PartContext, noMidSystem: boolean): Conversation => {
  const own = request.origin === 'messages'
  const first = request.turns.findIndex((turn) => turn.role !== 'system' && !isForeign(turn))
  // Own system messages beyond the first stand in the list, where their client put them.
  const hoisted = own ? Math.min(first === -1 ? 1 : first, 1) : first === -1 ? request.turns.length : first
  const system = request.turns.slice(0, hoisted).flatMap((turn, at) => {
    if (turn.role !== 'system') return []
    const path = context.dropped.turn(at)
    if (turn.name !== undefined) context.dropped.path(`${path}.name`)
    return systemBlocks(turn, path, context)
  })
  const writer = new Writer(pair(request.turns), own, noMidSystem, context)
  request.turns.forEach((turn, at) => {
    if (at >= hoisted || turn.role !== 'system') writer.write(turn, at)
  })
  const messages = polish(writer.end(), own)
  if (messages.length > 0) return { system, messages }
  // Instructions alone are what the model is to answer.
  if (system.length > 0) return { system: [], messages: [{ role: 'user', content: system }] }
  const list = request.origin === 'responses' ? 'input' : 'messages'
  throw invalidRequest(`'${list}' must hold at least one message with content.`, list)
}

/** Builds the list in one pass; `own`: the client spoke this wire, its order is kept wherever the provider takes it. */
class Writer {
  readonly #messages: Message[] = []
  #instructions: JsonObject[] = []
  /** Calls of the last assistant message that still lack their results. */
  #open: ToolCallPart[] = []
  /** The turn in which the first of their results stands. */
  #firstResult = Number.POSITIVE_INFINITY
  /** The turn whose results made the last message, so that the rest of it may follow in there. */
  #resultsOf = -1

  constructor(
    readonly pairing: Pairing,
    readonly own: boolean,
    readonly noMidSystem: boolean,
    readonly context: PartContext,
  ) {}

  write(turn: Turn, at: number): void {
    const path = this.context.dropped.turn(at)
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
      // It has to stand after the user's message and before the model's: it waits for either.
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
    switch (part.type) {
      case 'tool-result':
        return this.pairing.answered.has(part) ? [] : this.#orphan(part, path)
      case 'text':
        return encodeText(part, path, this.context)
      case 'image':
        return encodeImage(part, path, this.context)
      case 'document':
        return encodeDocument(part, path, this.context)
      case 'opaque':
        return encodeOpaque(part, path, this.context)
    }
  }

  #assistant(turn: Extract<Turn, { role: 'assistant' }>, at: number, path: string): void {
    if (turn.phase !== undefined) this.context.dropped.path(`${path}.phase`)
    const calls = turn.parts.filter((part) => part.type === 'tool-call')
    const blocks = turn.parts.flatMap((part, number): JsonObject[] => {
      const partPath = placeOf(part, `${path}.content.${number}`)
      if (part.type !== 'tool-call') return encodeAssistantPart(part, partPath, this.context)
      const { extras, names } = this.context
      return [
        extras.restore(partPath, {
          type: 'tool_use',
          id: this.pairing.idOf(part),
          name: names.of(part.name, part.namespace),
          input: callInput(part.kind, part.input),
          ...mark(part.cache),
        }),
      ]
    })
    if (blocks.length === 0) return
    // Results that lie further on come first: what follows them is another turn of the model.
    if (this.#firstResult < at) this.#answerCalls(-1)
    this.#instruct()
    this.#push('assistant', blocks, !this.own || this.#open.length > 0)
    for (const call of calls) {
      this.#open.push(call)
      const result = this.pairing.resultOf(call)
      if (result !== undefined) this.#firstResult = Math.min(this.#firstResult, this.pairing.turnOf(result))
    }
  }

  /** Writes the results of the open calls, in the order they came in, with a stand-in for each that never came. */
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
      const path = this.pairing.pathOf(result, (turn) => this.context.dropped.turn(turn))
      found.push({ order: this.pairing.orderOf(result), block: encodeToolResult(result, id, path, this.context) })
    }
    this.#open = []
    this.#firstResult = Number.POSITIVE_INFINITY
    found.sort((a, b) => (a.order === b.order ? 0 : a.order - b.order))
    this.#messages.push({ role: 'user', content: found.map(({ block }) => block) })
    this.#resultsOf = at
  }

  /** A result without a call, as the user's words. */
  #orphan(part: ToolResultPart, path: string): JsonObject[] {
    const content = part.parts.flatMap((inner, at) =>
      encodeResultPart(inner, placeOf(inner, `${path}.content.${at}`), this.context),
    )
    return [{ type: 'text', text: `Result of the tool call ${part.callId}:` }, ...content.filter(standsAlone)]
  }

  /** Puts the waiting instructions where a system message may stand, else in the user's words. */
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

/** Nothing of it is written here: tools that came along in the conversation, say, which stand in the list. */
const isForeign = (turn: Turn): boolean =>
  turn.parts.length > 0 && turn.parts.every((part) => part.type === 'opaque' && part.origin !== 'messages')

const systemBlocks = (turn: Extract<Turn, { role: 'system' }>, path: string, context: PartContext): JsonObject[] =>
  turn.parts.flatMap((part, at): JsonObject[] => {
    const partPath = placeOf(part, path === 'system' ? `system.${at}` : `${path}.content.${at}`)
    return part.type === 'text' ? encodeText(part, partPath, context) : encodeOpaque(part, partPath, context)
  })

/** An instruction among the user's words, marked as one. */
const asUserText = (block: JsonObject): JsonObject =>
  block.type === 'text' ? { ...block, text: `<system>\n${block.text}\n</system>` } : block

const missing = (id: string): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'The tool call was not answered.',
  is_error: true,
})

/** Kinds of a result's content that may also stand in a user's message. */
const standsAlone = ({ type }: JsonObject): boolean => type !== 'tool_reference' && type !== 'browser_state'

/** What the provider refuses in the shape of the list itself. */
const polish = (messages: Message[], own: boolean): Message[] => {
  const list = messages.flatMap((message) => {
    if (message.role !== 'assistant') return [message]
    // No message of the model may end with a thought.
    const last = message.content.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
    return last === -1 ? [] : [{ ...message, content: message.content.slice(0, last + 1) }]
  })
  const last = list.at(-1)
  const tail = last?.content.at(-1)
  if (last?.role === 'assistant' && tail?.type === 'text' && typeof tail.text === 'string') {
    // A prefill may not end in white space.
    last.content[last.content.length - 1] = { ...tail, text: tail.text.trimEnd() }
  }
  if (!own && list[0]?.role === 'assistant')
    list.unshift({ role: 'user', content: [{ type: 'text', text: '(continued)' }] })
  // Elsewhere the model's last turn is over. Here it would be the begun answer, which newer models refuse.
  if (!own && last?.role === 'assistant') list.push({ role: 'user', content: [{ type: 'text', text: '(continue)' }] })
  return own ? list : joined(list.map(asUserWhereRefused))
}

/** A system message stands between a user's and the model's, or last; elsewhere it becomes the user's words. */
const asUserWhereRefused = (message: Message, at: number, list: Message[]): Message => {
  if (message.role !== 'system') return message
  const next = list[at + 1]
  if (list[at - 1]?.role === 'user' && (next === undefined || next.role === 'assistant')) return message
  return { role: 'user', content: message.content.map(asUserText) }
}

/** Neighbours of one role as one message. */
const joined = (list: Message[]): Message[] => {
  const out: Message[] = []
  for (const message of list) {
    const last = out.at(-1)
    if (last?.role === message.role && message.role !== 'system') last.content.push(...message.content)
    else out.push(message)
  }
  return out
}

/** Whether the provider would refuse to think: by budget, the last turn of the model must then begin with a thought. */
export const endsWithoutThought = (messages: Message[]): boolean => {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const turn = messages[last]
  if (turn === undefined) return false
  const first = turn.content[0]?.type
  if (first === 'thinking' || first === 'redacted_thinking') return false
  if (last === messages.length - 1) return true
  return messages.slice(last + 1).some(({ content }) => content.some(({ type }) => type === 'tool_result'))
}
