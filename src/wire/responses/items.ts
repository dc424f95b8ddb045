// Decodes the items of a provider's answer, whatever of them is streamed: the rest is emitted when the item is done, or
// when the answer is.

import type { ChatEvent } from '../../ir/event.ts'
import { asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { digest } from '../../lib/digest.ts'
import type { SentTool, Undo } from '../codec.ts'
import { toolHeard } from '../tools/heard.ts'
import { type FreeText, freeText } from '../tools/undo.ts'
import { type ContentEvents, type Message, messageReader, newMessage } from './message-reader.ts'
import { lacksLetters, unstreamed } from './missing.ts'
import { argumentsText } from './output.ts'
import { type ItemKind, idOf, itemPlaces, type Places } from './places.ts'
import { decodeReasoning } from './reasoning.ts'

/**
 * `text`, also below: what has been emitted so far. `isAnswer`: a call of the JSON tool, whose arguments are the structured
 * answer. `wrapped`: for a tool of free text that was called as a function.
 */
type Call = {
  kind: 'call'
  part: number
  text: string
  isAnswer: boolean
  custom: boolean
  wrapped: FreeText | undefined
}
/** `interrupted`: its part was ended because another item began. `told`: the end of the paragraph was. */
type Thought = {
  kind: 'reasoning'
  part: number | undefined
  text: string
  summary: number
  full: boolean
  interrupted?: boolean
  told?: boolean
}
type Item = Message | Call | Thought | { kind: 'opaque' } | { kind: 'done'; was: ItemKind }

export type ItemReader = ContentEvents & {
  /** For the other methods. */
  placeOf: Places['of']
  added(at: number, item: JsonObject): void
  /** `item` undefined: its `done` event never came. */
  done(at: number, item: JsonObject | undefined): void
  /** At the end of the answer: reads those of its items that are not done, then ends whatever is still open. */
  settle(output: readonly Json[]): void
  inputDelta(at: number, text: string): void
  /** For this and the other `Done` method, the text is complete: what was not streamed of it is emitted. */
  inputDone(at: number, text: string): void
  reasoningDelta(at: number, full: boolean, index: number, text: string): void
  reasoningDone(at: number, full: boolean, index: number, text: string): void
  /** Whether the client has calls to carry out, and whether the model refused. */
  readonly calls: boolean
  readonly refused: boolean
}

/**
 * `answerId`: for making ids of calls that have none. `lost`: something was told without pieces of it that have not come.
 * `isGapless`: whether the provider has numbered its events, and none is missing.
 */
type Hears = { emit(event: ChatEvent): void; answerId(): string; lost(): void; isGapless(): boolean }

export const itemReader = (undo: Undo, { emit, answerId, lost, isGapless }: Hears): ItemReader => {
  const items = new Map<number, Item>()
  /** Items as they were announced: some servers send whole items there, and no `done` event. */
  const announced = new Map<number, JsonObject>()
  const doneIds = new Set<string>()
  /** The item whose text or thought is open. */
  let speaking: number | undefined
  let next = 0
  let calls = false

  const places = itemPlaces((at) => {
    const item = items.get(at)
    if (item === undefined) return undefined
    return item.kind === 'done' ? { kind: item.was, isDone: true } : { kind: item.kind, isDone: false }
  })

  /** Items follow one another: where one begins, what another was saying is over, unless more of it comes. */
  const speak = (at: number | undefined): void => {
    if (speaking !== at && speaking !== undefined) interrupt(items.get(speaking))
    speaking = at
  }

  const interrupt = (item: Item | undefined): void => {
    if (item?.kind === 'message') {
      messages.interrupt()
    } else if (item?.kind === 'reasoning' && item.part !== undefined && item.full) {
      // The vendor sends summaries, whose seal comes with their end and must stay with them.
      emit({ type: 'reasoning-end', part: item.part })
      item.part = undefined
      item.interrupted = true
    }
  }

  const messageAt = (at: number): Message | undefined => {
    const item = items.get(at)
    if (item?.kind === 'message') return item
    if (item !== undefined) return undefined
    const made = newMessage()
    items.set(at, made)
    return made
  }
  const begin = (at: number): number => {
    speak(at)
    return next++
  }
  const messages = messageReader({ messageAt, begin, emit, lost, isGapless })

  // Calls.

  const beginCall = (at: number, item: JsonObject): Call => {
    const name = asText(item.name)
    const custom = item.type === 'custom_tool_call'
    const heard: SentTool = { name, kind: custom ? 'custom' : 'function' }
    if (typeof item.namespace === 'string') heard.namespace = item.namespace
    const known = toolHeard(heard, undo)
    const isAnswer = known === 'answer'
    const wrapped = known !== 'answer' && known?.kind === 'custom' && !custom ? freeText() : undefined
    speak(undefined)
    const call: Call = { kind: 'call', part: next++, text: '', isAnswer, custom, wrapped }
    items.set(at, call)
    if (known === 'answer') {
      emit({ type: 'text-start', part: call.part })
      return call
    }
    calls = true
    const itemId = typeof item.id === 'string' ? { itemId: item.id } : {}
    emit({
      type: 'tool-start',
      part: call.part,
      id: asText(item.call_id) || asText(item.id) || `call_${digest(answerId())}_${call.part}`,
      ...(known ?? heard),
      ...itemId,
    })
    return call
  }

  const feed = (call: Call, text: string): void => {
    if (text === '') return
    call.text += text
    emitInput(call, call.wrapped === undefined ? text : call.wrapped.push(text))
  }

  const emitInput = ({ part, isAnswer }: Call, text: string): void => {
    if (text !== '') emit({ type: isAnswer ? 'text-delta' : 'tool-delta', part, text })
  }

  const endCall = (call: Call, item: JsonObject | undefined): void => {
    if (item !== undefined) {
      const whole = call.custom ? asText(item.input) : argumentsText(item.arguments)
      feed(call, unstreamed(whole, call.text))
      if (lacksLetters(call.text, whole)) lost()
    }
    if (call.wrapped !== undefined) {
      const { rest, cut } = call.wrapped.end()
      emitInput(call, rest)
      // A call that was cut off gets no end.
      if (cut) return
    }
    emit({ type: call.isAnswer ? 'text-end' : 'tool-end', part: call.part })
  }

  // Thoughts.

  const reasoningDelta = (at: number, full: boolean, index: number, text: string): void => {
    const item = items.get(at) ?? { kind: 'reasoning', part: undefined, text: '', summary: index, full }
    if (item.kind !== 'reasoning') return
    items.set(at, item)
    if (item.interrupted && text === '') return
    const part = begunThought(at, item, full)
    if (item.full !== full || text === '') return
    // Some servers count every delta of a thought: its paragraphs end before another begins.
    if (index > item.summary && item.text !== '' && (!full || item.told)) {
      item.text += '\n\n'
      emit({ type: 'reasoning-delta', part, text: '\n\n' })
    }
    item.summary = index
    item.told = false
    item.text += text
    emit({ type: 'reasoning-delta', part, text })
  }

  /** The part number of a thought, which is started once it is known whether it is the thought itself or a summary. */
  const begunThought = (at: number, item: Thought, full: boolean): number => {
    if (item.part !== undefined) return item.part
    item.part = begin(at)
    if (!item.interrupted) item.full = full
    emit({ type: 'reasoning-start', part: item.part, ...(item.full ? { full: true } : {}) })
    return item.part
  }

  const endThought = (at: number, item: Thought, whole: JsonObject | undefined): void => {
    const passed = item.part === undefined && !item.interrupted ? undefined : item.full ? 'full' : 'summary'
    const decoded = whole === undefined ? undefined : decodeReasoning(whole, passed)
    const rest = decoded === undefined ? '' : unstreamed(decoded.text, item.text)
    if (decoded !== undefined && !isGapless() && lacksLetters(item.text, decoded.text)) lost()
    // Without its text a seal is of no use.
    if (item.interrupted && item.part === undefined && rest === '') return
    const part = begunThought(at, item, decoded?.full === true)
    if (rest !== '') emit({ type: 'reasoning-delta', part, text: rest })
    emit({ type: 'reasoning-end', part, ...(decoded?.seal === undefined ? {} : { seal: decoded.seal }) })
  }

  // Items.

  const added = (at: number, item: JsonObject): void => {
    if (items.has(at)) return
    if (item.type !== 'reasoning') announced.set(at, item)
    switch (item.type) {
      case 'message':
        messageAt(at)
        break
      case 'function_call':
      case 'custom_tool_call':
        // Some servers tell the name with the end.
        if (asText(item.name) === '') items.set(at, { kind: 'opaque' })
        else beginCall(at, item)
        break
      case 'reasoning':
        items.set(at, { kind: 'reasoning', part: undefined, text: '', summary: 0, full: false })
        break
      default:
        items.set(at, { kind: 'opaque' })
    }
  }

  const done = (at: number, item: JsonObject | undefined): void => {
    if (item !== undefined) {
      // An item announced with an unknown type has emitted nothing yet: the type of the complete item counts.
      if (items.get(at)?.kind === 'opaque') items.delete(at)
      added(at, item)
      const id = idOf(item)
      if (id !== undefined) doneIds.add(id)
    }
    const known = items.get(at)
    if (known === undefined || known.kind === 'done') return
    switch (known.kind) {
      case 'message':
        messages.end(at, known, item ?? announced.get(at))
        break
      case 'call':
        endCall(known, item ?? announced.get(at))
        break
      case 'reasoning':
        endThought(at, known, item)
        break
      case 'opaque':
        if (isCallItem(item ?? announced.get(at))) endCall(beginCall(at, item ?? announced.get(at) ?? {}), item)
        else if (item !== undefined)
          emit({ type: 'opaque', part: next++, value: { type: 'opaque', origin: 'responses', value: item } })
        break
    }
    items.set(at, { kind: 'done', was: known.kind })
    announced.delete(at)
  }

  return {
    ...messages.events,
    placeOf: places.of,
    added,
    done,
    reasoningDelta,
    settle(output) {
      // Within the output, items are told apart by index: some servers give all of them the same id.
      const before = new Set(doneIds)
      const found = places.inOutput(output)
      output.forEach((item, index) => {
        const at = found[index]
        if (!isObject(item) || at === undefined || items.get(at)?.kind === 'done') return
        const id = idOf(item)
        if (id === undefined || !before.has(id)) done(at, item)
      })
      for (const [at, item] of items) if (item.kind !== 'done') done(at, undefined)
    },
    inputDelta(at, text) {
      const call = items.get(at)
      if (call?.kind === 'call') feed(call, text)
    },
    inputDone(at, text) {
      const call = items.get(at)
      if (call?.kind === 'call') feed(call, unstreamed(text, call.text))
    },
    reasoningDone(at, full, index, text) {
      const item = items.get(at)
      if (item !== undefined && item.kind !== 'reasoning') return
      const before = item?.text ?? ''
      const goesOn = full && before !== '' && text.startsWith(before)
      if (goesOn) reasoningDelta(at, full, item?.summary ?? index, unstreamed(text, before))
      else if (before === '' || index > (item?.summary ?? index)) reasoningDelta(at, full, index, text)
      const known = items.get(at)
      if (known?.kind === 'reasoning') known.told = true
    },
    get calls() {
      return calls
    },
    get refused() {
      return messages.refused
    },
  }
}

const isCallItem = (item: JsonObject | undefined): boolean =>
  item?.type === 'function_call' || item?.type === 'custom_tool_call'
