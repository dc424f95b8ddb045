// Decodes the messages of a provider's answer: their contents, whose texts and ends servers tell in events of several kinds, at
// indexes that may be wrong.

import type { ChatEvent } from '../../ir/event.ts'
import { asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { piecesOf } from '../turns/pieces.ts'
import { lacksText, unstreamed } from './missing.ts'
import { decodeCitation, decodeCitations, decodeLogprobs } from './output.ts'

type ContentKind = 'text' | 'refusal'
/**
 * `text`: what has been emitted so far. `waiting`: more of it, or its end, is yet to come, but no part is open: it has only been
 * announced, or another item has begun.
 */
type Content = {
  at: number
  part: number | undefined
  kind: ContentKind
  text: string
  /** How long each piece of it was. */
  lengths: number[]
  /** Those that have been told, written as JSON. */
  citations: string[]
  state: 'waiting' | 'open' | 'over'
}
/** `untold`: the contents whose whole text has not been told; `told`: those that may end yet all the same, by their texts. */
export type Message = {
  kind: 'message'
  contents: Map<number, Content>
  untold: Set<Content>
  told: Map<string, Content>
}

export const newMessage = (): Message => ({ kind: 'message', contents: new Map(), untold: new Set(), told: new Map() })

/** What an answer's events say of messages: the content at an index of the item at a place. */
export type ContentEvents = {
  contentAdded(at: number, index: number, part: JsonObject): void
  contentDone(at: number, index: number, part: JsonObject): void
  textDelta(at: number, index: number, text: string, logprobs: Json | undefined): void
  /** For this and the other `Done` method, the text is complete: what was not streamed of it is emitted. */
  textDone(at: number, index: number, text: string, logprobs: Json | undefined): void
  refusalDelta(at: number, index: number, text: string): void
  refusalDone(at: number, index: number, text: string): void
  /** `number`: which of its text's annotations it is. */
  citation(at: number, index: number, annotation: JsonObject, number: Json | undefined): void
}

type MessageReader = {
  events: ContentEvents
  /** Another item begins: what is open goes on only where more of it comes. */
  interrupt(): void
  /** `whole`: the provider's complete message. */
  end(at: number, owner: Message, whole: JsonObject | undefined): void
  readonly refused: boolean
}

/**
 * `messageAt`: undefined where another item is. `begin`: the number of a part that begins at a place. `lost`, `isGapless`: as
 * `itemReader` hears them.
 */
type Within = {
  messageAt(at: number): Message | undefined
  begin(at: number): number
  emit(event: ChatEvent): void
  lost(): void
  isGapless(): boolean
}

export const messageReader = ({ messageAt, begin, emit, lost, isGapless }: Within): MessageReader => {
  /** The contents that are open. */
  const open = new Set<Content>()
  let refused = false

  /**
   * Some servers count the contents of all items, or every delta: at a new index, a delta goes on with what is open, and
   * so does a `whole` text that begins like that.
   */
  const content = (at: number, index: number, kind: ContentKind, whole?: string): Content | undefined => {
    const owner = messageAt(at)
    const known = owner?.contents.get(index)
    if (owner === undefined || known !== undefined) return known
    for (const target of owner.untold) {
      if (target.kind === kind && (whole === undefined || whole.startsWith(target.text))) return target
    }
    return begunContent(at, index, kind)
  }

  /** The same for a part that ends, whose whole text may have been told at another index. */
  const endingContent = (at: number, index: number, kind: ContentKind, whole: string): Content | undefined => {
    const owner = messageAt(at)
    const told = owner?.contents.has(index) === false ? owner.told.get(whole) : undefined
    return told?.kind === kind ? told : content(at, index, kind, whole)
  }

  const begunContent = (at: number, index: number, kind: ContentKind): Content | undefined => {
    const owner = messageAt(at)
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
    target.part = begin(target.at)
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

  const addText = (target: Content | undefined, kind: ContentKind, text: string, logprobs?: Json): void => {
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
  const tellWhole = (target: Content | undefined, kind: ContentKind, text: string, logprobs?: Json): void => {
    if (target === undefined) return
    addText(target, kind, unstreamed(text, target.text), target.text === '' ? logprobs : undefined)
    const owner = messageAt(target.at)
    if (!owner?.untold.delete(target)) return
    owner.told.set(target.text, target)
    if (!isGapless() && lacksText(target, text)) lost()
  }

  /** Ends a content part. `whole`: the provider's complete part, of which the rest that was not streamed is emitted. */
  const endContent = (target: Content | undefined, whole: JsonObject | undefined): void => {
    if (target?.state === 'over') tellCitations(target, whole)
    if (target === undefined || target.state === 'over') return
    const owner = messageAt(target.at)
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

  const end = (at: number, owner: Message, whole: JsonObject | undefined): void => {
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

  return {
    events: {
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
    },
    interrupt() {
      for (const target of open) closeContent(target, 'waiting')
    },
    end,
    get refused() {
      return refused
    },
  }
}

const contentKind = ({ type }: JsonObject): ContentKind | undefined =>
  type === 'output_text' || type === 'text' || type === 'input_text'
    ? 'text'
    : type === 'refusal'
      ? 'refusal'
      : undefined

/** An item in the wire's form: some servers give a part by itself, a message without its type, or its text beside it. */
export const itemOf = (item: JsonObject): JsonObject => {
  const { type = null, role = null, id = null, content = null, text = null } = item
  if (contentKind(item) !== undefined) return { type: 'message', role: 'assistant', id, content: [item] }
  if (type !== 'message' && (type !== null || role === null)) return item
  return type === 'message' && (content !== null || text === null)
    ? item
    : { ...item, type: 'message', content: content ?? text }
}

const wholeText = ({ type, text, refusal }: JsonObject): string => asText(type === 'refusal' ? refusal : text)
