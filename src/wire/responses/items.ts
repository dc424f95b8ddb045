// The items of a provider's answer as events, in whatever pieces they come: what was not streamed of an item comes when
// it is done, or when the answer is.

import type { ChatEvent } from '../../ir/event.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { digest } from '../../lib/digest.ts'
import type { Undo } from '../codec.ts'
import { stringOr } from '../read.ts'
import { sentAs } from '../undo.ts'
import { argumentsText, decodeCitation, decodeCitations, decodeLogprobs } from './output.ts'
import { decodeReasoning } from './reasoning.ts'

/** `text` of each: what has been passed on so far. */
type Content = { part: number; kind: 'text' | 'refusal'; text: string; citations: number; open: boolean }
type Message = { kind: 'message'; contents: Map<number, Content> }
/** `asText`: the call stands in for structured output. */
type Call = { kind: 'call'; part: number; text: string; asText: boolean; custom: boolean }
type Thought = { kind: 'reasoning'; part: number | undefined; text: string; summary: number; full: boolean }
type Item = Message | Call | Thought | { kind: 'opaque' } | { kind: 'done' }

export type ItemReader = {
  added(at: number, item: JsonObject): void
  /** Nothing for an item whose end never came. */
  done(at: number, item: JsonObject | undefined): void
  /** The items of a whole answer that were not done before, then whatever is still open. */
  settle(output: readonly Json[]): void
  contentAdded(at: number, index: number, part: JsonObject): void
  contentDone(at: number, index: number, part: JsonObject): void
  said(at: number, index: number, kind: 'text' | 'refusal', text: string, logprobs?: Json): void
  /** The whole of what was said, of a call's input, of one part of a thought: what was not streamed of it comes now. */
  saidAll(at: number, index: number, kind: 'text' | 'refusal', text: string, logprobs?: Json): void
  cited(at: number, index: number, annotation: JsonObject): void
  input(at: number, text: string): void
  inputAll(at: number, text: string): void
  thought(at: number, full: boolean, index: number, text: string): void
  thoughtAll(at: number, full: boolean, index: number, text: string): void
  /** Whether the client has calls to carry out, and whether the model refused. */
  readonly calls: boolean
  readonly refused: boolean
}

/** Events go to `emit` as the items' pieces come in. `answerId`: what calls without an id are named by. */
export const itemReader = (undo: Undo, answerId: () => string, emit: (event: ChatEvent) => void): ItemReader => {
  const items = new Map<number, Item>()
  /** Items as they were announced: some servers say all of them there, and never that they are done. */
  const announced = new Map<number, JsonObject>()
  const doneIds = new Set<string>()
  let next = 0
  let calls = false
  let refused = false

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
    emit({ type: kind === 'text' ? 'text-start' : 'refusal-start', part: made.part })
    return made
  }

  const say = (target: Content | undefined, kind: Content['kind'], text: string, logprobs?: Json): void => {
    if (target?.kind !== kind || !target.open) return
    const told = kind === 'text' ? decodeLogprobs(logprobs) : []
    if (text === '' && told.length === 0) return
    target.text += text
    if (kind === 'refusal') emit({ type: 'refusal-delta', part: target.part, text })
    else if (told.length === 0) emit({ type: 'text-delta', part: target.part, text })
    else emit({ type: 'text-delta', part: target.part, text, logprobs: told })
  }

  /** The part as the provider gives it in the end: whatever of it was not streamed comes now. */
  const endContent = (target: Content | undefined, whole: JsonObject | undefined): void => {
    if (target?.open !== true) return
    const rest = restOf(stringOr(target.kind === 'text' ? whole?.text : whole?.refusal, ''), target.text)
    if (rest !== '') say(target, target.kind, rest, target.text === '' ? whole?.logprobs : undefined)
    if (target.kind === 'text') {
      for (const citation of decodeCitations(whole?.annotations).slice(target.citations)) {
        emit({ type: 'citation', part: target.part, citation })
      }
    }
    target.open = false
    emit({ type: target.kind === 'text' ? 'text-end' : 'refusal-end', part: target.part })
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
      emit({ type: 'text-start', part: call.part })
      return call
    }
    calls = true
    const sent = sentAs(name, undo)
    const namespace = sent?.namespace ?? (typeof item.namespace === 'string' ? item.namespace : undefined)
    const itemId = typeof item.id === 'string' ? { itemId: item.id } : {}
    emit({
      type: 'tool-start',
      part: call.part,
      id: stringOr(item.call_id, '') || stringOr(item.id, '') || `call_${digest(answerId())}_${call.part}`,
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
    emit({ type: call.asText ? 'text-delta' : 'tool-delta', part: call.part, text })
  }

  const endCall = (call: Call, item: JsonObject | undefined): void => {
    if (item !== undefined) {
      feed(call, restOf(call.custom ? stringOr(item.input, '') : argumentsText(item.arguments), call.text))
    }
    emit({ type: call.asText ? 'text-end' : 'tool-end', part: call.part })
  }

  // Thoughts.

  const thought = (at: number, full: boolean, index: number, text: string): void => {
    const item = items.get(at) ?? { kind: 'reasoning', part: undefined, text: '', summary: index, full }
    if (item.kind !== 'reasoning') return
    items.set(at, item)
    const part = numberOf(item, full)
    if (item.full !== full || text === '') return
    if (index > item.summary && item.text !== '') {
      item.text += '\n\n'
      emit({ type: 'reasoning-delta', part, text: '\n\n' })
    }
    item.summary = index
    item.text += text
    emit({ type: 'reasoning-delta', part, text })
  }

  /** The number of a thought, which starts when it is known whether it is the thought itself or a summary. */
  const numberOf = (item: Thought, full: boolean): number => {
    if (item.part !== undefined) return item.part
    item.part = next++
    item.full = full
    emit({ type: 'reasoning-start', part: item.part, ...(full ? { full } : {}) })
    return item.part
  }

  const endThought = (item: Thought, whole: JsonObject | undefined): void => {
    const passed = item.part === undefined ? undefined : item.full ? 'full' : 'summary'
    const told = whole === undefined ? undefined : decodeReasoning(whole, passed)
    const part = numberOf(item, told?.full === true)
    const rest = told === undefined ? '' : restOf(told.text, item.text)
    if (rest !== '') emit({ type: 'reasoning-delta', part, text: rest })
    emit({ type: 'reasoning-end', part, ...(told?.seal === undefined ? {} : { seal: told.seal }) })
  }

  // Items.

  const added = (at: number, item: JsonObject): void => {
    // Some servers count every item as the first, or not at all.
    const id = idOf(item)
    const isNext = id !== undefined && !doneIds.has(id)
    if (isNext && items.get(at)?.kind === 'done') items.delete(at)
    if (items.has(at)) return
    if (item.type !== 'reasoning') announced.set(at, item)
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
    if (item !== undefined) {
      // Nothing has been told yet of what was announced as something nobody knows: it is what it is in the end.
      if (items.get(at)?.kind === 'opaque') items.delete(at)
      added(at, item)
      const id = idOf(item)
      if (id !== undefined) doneIds.add(id)
    }
    const known = items.get(at)
    switch (known?.kind) {
      case 'message':
        endMessage(at, known, item ?? announced.get(at))
        break
      case 'call':
        endCall(known, item ?? announced.get(at))
        break
      case 'reasoning':
        endThought(known, item)
        break
      case 'opaque':
        if (item !== undefined)
          emit({ type: 'opaque', part: next++, value: { type: 'opaque', origin: 'responses', value: item } })
        break
      default:
        return
    }
    items.set(at, { kind: 'done' })
    announced.delete(at)
  }

  const kindOf = (part: JsonObject): Content['kind'] | undefined =>
    part.type === 'output_text' ? 'text' : part.type === 'refusal' ? 'refusal' : undefined

  return {
    added,
    done,
    thought,
    settle(output) {
      // Those of the output itself are told apart by their places: some servers give all of them one id.
      const before = new Set(doneIds)
      output.forEach((item, at) => {
        if (!isObject(item) || items.get(at)?.kind === 'done') return
        const id = idOf(item)
        if (id === undefined || !before.has(id)) done(at, item)
      })
      for (const [at, item] of items) if (item.kind !== 'done') done(at, undefined)
    },
    contentAdded(at, index, part) {
      const kind = kindOf(part)
      if (kind !== undefined) content(at, index, kind)
    },
    contentDone(at, index, part) {
      const kind = kindOf(part)
      if (kind !== undefined) endContent(content(at, index, kind), part)
    },
    said: (at, index, kind, text, logprobs) => say(content(at, index, kind), kind, text, logprobs),
    saidAll(at, index, kind, text, logprobs) {
      const target = content(at, index, kind)
      if (target !== undefined) say(target, kind, restOf(text, target.text), target.text === '' ? logprobs : undefined)
    },
    cited(at, index, annotation) {
      const target = content(at, index, 'text')
      if (target?.open !== true) return
      target.citations++
      emit({ type: 'citation', part: target.part, citation: decodeCitation(annotation) })
    },
    input(at, text) {
      const call = items.get(at)
      if (call?.kind === 'call') feed(call, text)
    },
    inputAll(at, text) {
      const call = items.get(at)
      if (call?.kind === 'call') feed(call, restOf(text, call.text))
    },
    thoughtAll(at, full, index, text) {
      const item = items.get(at)
      const untold = item === undefined || (item.kind === 'reasoning' && (item.text === '' || index > item.summary))
      if (untold) thought(at, full, index, text)
    },
    get calls() {
      return calls
    },
    get refused() {
      return refused
    },
  }
}

const idOf = ({ id }: JsonObject): string | undefined => (typeof id === 'string' && id !== '' ? id : undefined)

/** What a whole text has beyond what was streamed of it; nothing where the two disagree. */
const restOf = (whole: string, streamed: string): string =>
  whole.startsWith(streamed) ? whole.slice(streamed.length) : ''
