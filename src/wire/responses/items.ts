// Decodes the items of a provider's answer, whatever of them is streamed: the rest is emitted when the item is done, or
// when the answer is.

import type { ChatEvent } from '../../ir/event.ts'
import { asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { behindThought } from '../../ir/tagged-thoughts.ts'
import { digest } from '../../lib/digest.ts'
import type { SentTool, Undo } from '../codec.ts'
import { toolHeard } from '../tools/heard.ts'
import { type FreeText, freeText } from '../tools/undo.ts'
import { piecesOf } from '../turns/pieces.ts'
import { argumentsText, decodeCitation, decodeCitations, decodeLogprobs } from './output.ts'
import { type ItemKind, idOf, itemPlaces, type Places } from './places.ts'
import { decodeReasoning } from './reasoning.ts'

/**
 * `text`, also below: what has been emitted so far. `waiting`: more of it, or its end, is yet to come, but no part is open:
 * it has only been announced, or another item has begun.
 */
type Content = {
  at: number
  part: number | undefined
  kind: 'text' | 'refusal'
  text: string
  /** How long each piece of it was. */
  lengths: number[]
  /** Those that have been told, written as JSON. */
  citations: string[]
  state: 'waiting' | 'open' | 'over'
}
/** `untold`: the contents whose whole text has not been told; `told`: those that may end yet all the same, by their texts. */
type Message = {
  kind: 'message'
  contents: Map<number, Content>
  untold: Set<Content>
  told: Map<string, Content>
}
/**
 * `isAnswer`: a call of the JSON tool, whose arguments are the structured answer. `wrapped`: for a tool of free text that was
 * called as a function.
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

export type ItemReader = {
  /** For the other methods. */
  placeOf: Places['of']
  added(at: number, item: JsonObject): void
  /** `item` undefined: its `done` event never came. */
  done(at: number, item: JsonObject | undefined): void
  /** At the end of the answer: reads those of its items that are not done, then ends whatever is still open. */
  settle(output: readonly Json[]): void
  contentAdded(at: number, index: number, part: JsonObject): void
  contentDone(at: number, index: number, part: JsonObject): void
  textDelta(at: number, index: number, text: string, logprobs: Json | undefined): void
  /** For this and the other `Done` methods, the text is complete: what was not streamed of it is emitted. */
  textDone(at: number, index: number, text: string, logprobs: Json | undefined): void
  refusalDelta(at: number, index: number, text: string): void
  refusalDone(at: number, index: number, text: string): void
  /** `number`: which of its text's annotations it is. */
  citation(at: number, index: number, annotation: JsonObject, number: Json | undefined): void
  inputDelta(at: number, text: string): void
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
  /** The contents of that item that are open. */
  const open = new Set<Content>()
  let next = 0
  let calls = false
  let refused = false

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
      for (const target of open) closeContent(target, 'waiting')
    } else if (item?.kind === 'reasoning' && item.part !== undefined && item.full) {
      // The vendor sends summaries, whose seal comes with their end and must stay with them.
      emit({ type: 'reasoning-end', part: item.part })
      item.part = undefined
      item.interrupted = true
    }
  }

  // Messages.

  const message = (at: number): Message | undefined => {
    const item = items.get(at)
    if (item?.kind === 'message') return item
    if (item !== undefined) return undefined
    const made: Message = { kind: 'message', contents: new Map(), untold: new Set(), told: new Map() }
    items.set(at, made)
    return made
  }

  /**
   * Some servers count the contents of all items, or every delta: at a new index, a delta goes on with what is open, and
   * so does a `whole` text that begins like that.
   */
  const content = (at: number, index: number, kind: Content['kind'], whole?: string): Content | undefined => {
    const owner = message(at)
    const known = owner?.contents.get(index)
    if (owner === undefined || known !== undefined) return known
    for (const target of owner.untold) {
      if (target.kind === kind && (whole === undefined || whole.startsWith(target.text))) return target
    }
    return begunContent(at, index, kind)
  }

  /** The same for a part that ends, whose whole text may have been told at another index. */
  const endingContent = (at: number, index: number, kind: Content['kind'], whole: string): Content | undefined => {
    const owner = message(at)
    const told = owner?.contents.has(index) === false ? owner.told.get(whole) : undefined
    return told?.kind === kind ? told : content(at, index, kind, whole)
  }

  const begunContent = (at: number, index: number, kind: Content['kind']): Content | undefined => {
    const owner = message(at)
    const known = owner?.contents.get(index)
    if (owner === undefined || known !== undefined) return known
    const made: Content = { at, part: undefined, kind, text: '', lengths: [], citations: [], state: 'waiting' }
    owner.contents.set(index, made)
    owner.untold.add(made)
    if (kind === 'refusal') refused = true
    return made
  }

  const openContent = (target: Content): number => {
    if (target.state === 'open' && target.part !== undefined) return target.part
    speak(target.at)
    target.part = next++
    target.state = 'open'
    open.add(target)
    emit({ type: target.kind === 'text' ? 'text-start' : 'refusal-start', part: target.part })
    return target.part
  }

  const closeContent = (target: Content, state: 'waiting' | 'over'): void => {
    target.state = state
    open.delete(target)
    if (target.part !== undefined)
      emit({ type: target.kind === 'text' ? 'text-end' : 'refusal-end', part: target.part })
  }

  const addText = (target: Content | undefined, kind: Content['kind'], text: string, logprobs?: Json): void => {
    if (target?.kind !== kind || target.state === 'over') return
    const decoded = kind === 'text' ? decodeLogprobs(logprobs) : []
    if (text === '' && decoded.length === 0) return
    const part = openContent(target)
    target.text += text
    target.lengths.push(text.length)
    if (kind === 'refusal') emit({ type: 'refusal-delta', part, text })
    else if (decoded.length === 0) emit({ type: 'text-delta', part, text })
    else emit({ type: 'text-delta', part, text, logprobs: decoded })
  }

  /** The whole text of a content part, whose end may yet come. */
  const tellWhole = (target: Content | undefined, kind: Content['kind'], text: string, logprobs?: Json): void => {
    if (target === undefined) return
    addText(target, kind, unstreamed(text, target.text), target.text === '' ? logprobs : undefined)
    const owner = message(target.at)
    if (!owner?.untold.delete(target)) return
    owner.told.set(target.text, target)
    if (!isGapless() && lacksText(target, text)) lost()
  }

  /** Ends a content part. `whole`: the provider's complete part, of which the rest that was not streamed is emitted. */
  const endContent = (target: Content | undefined, whole: JsonObject | undefined): void => {
    if (target?.state === 'over') tellCitations(target, whole)
    if (target === undefined || target.state === 'over') return
    const owner = message(target.at)
    const text = whole === undefined ? '' : wholeText(whole)
    const rest = unstreamed(text, target.text)
    if (rest !== '') addText(target, target.kind, rest, target.text === '' ? whole?.logprobs : undefined)
    if (target.part === undefined) openContent(target)
    if (owner?.untold.delete(target) && !isGapless() && lacksText(target, text)) lost()
    owner?.told.delete(target.text)
    if (target.state !== 'open') {
      target.state = 'over'
      return
    }
    tellCitations(target, whole)
    closeContent(target, 'over')
  }

  /** Those of a whole part that have not been told. */
  const tellCitations = (target: Content, whole: JsonObject | undefined): void => {
    const { kind, part, citations: told } = target
    if (kind !== 'text' || part === undefined) return
    const all = decodeCitations(whole?.annotations)
    if (all.length <= told.length) return
    const known = new Map<string, number>()
    for (const one of told) known.set(one, (known.get(one) ?? 0) + 1)
    const missing = all.filter((citation) => {
      const one = JSON.stringify(citation)
      const left = known.get(one) ?? 0
      known.set(one, left - 1)
      return left <= 0
    })
    // Some servers tell less of a link before its text has ended than there.
    for (const citation of missing.slice(told.length - all.length)) {
      told.push(JSON.stringify(citation))
      emit({ type: 'citation', part, citation })
    }
  }

  const endMessage = (at: number, owner: Message, whole: JsonObject | undefined): void => {
    const parts = piecesOf(whole?.content)
    const told = [...owner.contents.keys()].sort((a, b) => a - b)
    parts.forEach((part, nth) => {
      if (!isObject(part)) return
      const index = told.length === parts.length ? (told[nth] ?? nth) : nth
      const kind = contentKind(part)
      if (kind !== undefined) endContent(endingContent(at, index, kind, wholeText(part)), part)
    })
    for (const target of owner.contents.values()) endContent(target, undefined)
  }

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
    speak(at)
    item.part = next++
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
        message(at)
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
        endMessage(at, known, item ?? announced.get(at))
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
    contentAdded(at, index, part) {
      const kind = contentKind(part)
      if (kind !== undefined) begunContent(at, index, kind)
    },
    contentDone(at, index, part) {
      const kind = contentKind(part)
      if (kind !== undefined) endContent(endingContent(at, index, kind, wholeText(part)), part)
    },
    textDelta: (at, index, text, logprobs) => addText(content(at, index, 'text'), 'text', text, logprobs),
    textDone: (at, index, text, logprobs) => tellWhole(content(at, index, 'text', text), 'text', text, logprobs),
    refusalDelta: (at, index, text) => addText(content(at, index, 'refusal'), 'refusal', text),
    refusalDone: (at, index, text) => tellWhole(content(at, index, 'refusal', text), 'refusal', text),
    citation(at, index, annotation, number) {
      const target = content(at, index, 'text')
      if (target === undefined) return
      // The end of its part has told it.
      if (target.state === 'over' && typeof number === 'number' && number < target.citations.length) return
      const citation = decodeCitation(annotation)
      target.citations.push(JSON.stringify(citation))
      emit({ type: 'citation', part: target.part ?? openContent(target), citation })
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
      return refused
    },
  }
}

const isCallItem = (item: JsonObject | undefined): boolean =>
  item?.type === 'function_call' || item?.type === 'custom_tool_call'

const contentKind = ({ type }: JsonObject): Content['kind'] | undefined =>
  type === 'output_text' || type === 'text' ? 'text' : type === 'refusal' ? 'refusal' : undefined

const wholeText = ({ type, text, refusal }: JsonObject): string => asText(type === 'refusal' ? refusal : text)

/** The rest of a whole text after what was streamed of it; '' where the two disagree. */
const unstreamed = (whole: string, streamed: string): string =>
  whole.startsWith(streamed) ? whole.slice(streamed.length) : ''

/**
 * Whether pieces of the whole are missing in what was streamed of it, between others. Servers that write a text anew at its end
 * change more than that, the white space around it, or put a thought before it that they have told apart.
 */
const lacksText = ({ text, lengths }: Content, written: string): boolean => {
  if (written.startsWith(text)) return false
  const whole = behindThought(written).trim()
  if (text.trim().length >= whole.length) return false
  const [first, last] = [text.length - text.trimStart().length, text.trimEnd().length]
  let begun = 0
  let at = 0
  return lengths.every((length) => {
    const told = text.slice(Math.max(begun, first), Math.min(begun + length, last))
    begun += length
    const found = whole.indexOf(told, at)
    at = found + told.length
    return found !== -1
  })
}

/** Whether letters of the whole are missing in what was streamed of it. Servers that write arguments anew at their end change others. */
const lacksLetters = (streamed: string, whole: string): boolean => {
  if (whole.startsWith(streamed)) return false
  const [had, all] = [streamed.replace(/\s+/g, ''), whole.replace(/\s+/g, '')]
  if (had.length >= all.length) return false
  let at = 0
  for (let next = 0; next < all.length && at < had.length; next++) if (all[next] === had[at]) at++
  return at === had.length
}
