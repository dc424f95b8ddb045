// The wire's events, parsed, as events of the IR. Streams and whole answers are read by the same reader.

import { GatewayError } from '../../errors.ts'
import type { ChatEvent } from '../../ir/event.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Citation } from '../../ir/part.ts'
import type { Usage } from '../../ir/usage.ts'
import { digest } from '../../lib/digest.ts'
import type { SentTool, Undo } from '../codec.ts'
import { type FreeText, freeText, sentAs } from '../undo.ts'
import { argumentsIn, citationsIn, endOfThought, parsed, textIn } from './contents.ts'
import { decodeCitation } from './decode-parts.ts'
import { decodeError } from './error.ts'
import { decodeStop } from './stop.ts'
import { decodeUsage, withReport } from './usage.ts'

/** A content block that has begun. `json` is a call told as text; `custom` holds free text within its input. */
type Block =
  /** Citations are of the whole text, and come before it: they are told at its end. */
  | { type: 'text'; part: number; citations: Citation[] }
  | { type: 'thought'; part: number; signature: string }
  | { type: 'tool' | 'json'; part: number; initial: string; touched: boolean }
  | { type: 'custom'; part: number; initial: string; touched: boolean; text: FreeText }
  | { type: 'opaque'; value: JsonObject; chunks: string[] }
  /** Came whole in its start. */
  | { type: 'whole' }

export const broken = () =>
  new GatewayError('upstream_error', 'The provider sent an answer that cannot be read. Try again.')

/** Reads the wire's events, parsed. `over` after the one `finish` or `error`. */
export class Reader {
  over = false
  readonly #undo: Undo
  readonly #blocks = new Map<number, Block>()
  #started = false
  #id = ''
  #parts = 0
  #calls = 0
  #usage: Usage = {}
  #rawUsage: JsonObject | undefined
  #tier: string | undefined
  #stop: unknown
  #stopSequence: string | undefined

  constructor(undo: Undo) {
    this.#undo = undo
  }

  /** What the provider has told of its usage, the latest of each member. */
  get rawUsage(): JsonObject | undefined {
    return this.#rawUsage
  }

  fail(error: GatewayError): ChatEvent[] {
    this.over = true
    return [{ type: 'error', error }]
  }

  read(event: JsonObject, name?: string): ChatEvent[] {
    if (this.over) return []
    switch (event.type ?? name) {
      case 'content_block_delta':
        return this.#delta(event)
      case 'content_block_start':
        return this.#begin(event.index, event.content_block)
      case 'content_block_stop':
        return this.#stopBlock(event.index)
      case 'message_start':
        return this.#start(event.message)
      case 'message_delta':
        return this.#messageDelta(event)
      case 'message_stop':
        return this.#finish()
      case 'ping':
        return [{ type: 'ping' }]
      case 'error':
        return this.fail(decodeError(200, event))
      default:
        // Some providers send their error without naming the event.
        return isObject(event.error) ? this.fail(decodeError(200, event)) : []
    }
  }

  #start(raw: unknown): ChatEvent[] {
    const message = isObject(raw) ? raw : {}
    if (this.#started) {
      // A provider that began anew after content has gone out would say everything twice.
      return this.#parts > 0 || this.#blocks.size > 0 ? this.fail(broken()) : []
    }
    this.#started = true
    const usage = this.#report(message.usage)
    const { id, model, content } = message
    if (typeof id === 'string') this.#id = id
    this.#stopped(message)
    const out: ChatEvent[] = [
      {
        type: 'start',
        id: this.#id,
        ...(typeof model === 'string' && model !== '' ? { model } : {}),
        ...(usage === undefined ? {} : { usage }),
      },
    ]
    // What the provider's own tools go on from, and whatever a whole answer holds.
    for (const block of Array.isArray(content) ? content : []) {
      if (!isObject(block)) return [...out, ...this.fail(broken())]
      // Stands for what is about to come, where the answer is not at its end.
      if (block.type === 'text' && block.text === '' && this.#stop === undefined) continue
      const opened = this.#open(block)
      out.push(...opened.events, ...this.#close(opened.block))
    }
    return out
  }

  #report(raw: unknown): Usage | undefined {
    if (!isObject(raw)) return undefined
    if (typeof raw.service_tier === 'string') this.#tier = raw.service_tier
    this.#rawUsage = withReport(this.#rawUsage, raw)
    const usage = decodeUsage(this.#rawUsage)
    if (usage !== undefined) this.#usage = usage
    return usage
  }

  #begin(index: unknown, raw: unknown): ChatEvent[] {
    if (typeof index !== 'number' || !isObject(raw)) return this.fail(broken())
    const out: ChatEvent[] = this.#started ? [] : this.#start(undefined)
    const before = this.#blocks.get(index)
    if (before !== undefined) out.push(...this.#close(before))
    const { block, events } = this.#open(raw)
    this.#blocks.set(index, block)
    out.push(...events)
    return out
  }

  #open(raw: JsonObject): { block: Block; events: ChatEvent[] } {
    switch (raw.type) {
      case 'text': {
        const part = this.#parts++
        return {
          block: { type: 'text', part, citations: citationsIn(raw) },
          events: [{ type: 'text-start', part }, ...textIn(raw, part)],
        }
      }
      case 'thinking': {
        const part = this.#parts++
        const signature = typeof raw.signature === 'string' ? raw.signature : ''
        const events: ChatEvent[] = [{ type: 'reasoning-start', part }]
        if (typeof raw.thinking === 'string' && raw.thinking !== '') {
          events.push({ type: 'reasoning-delta', part, text: raw.thinking })
        }
        return { block: { type: 'thought', part, signature }, events }
      }
      case 'redacted_thinking': {
        const part = this.#parts++
        const data = typeof raw.data === 'string' ? raw.data : ''
        const events: ChatEvent[] = [{ type: 'reasoning-start', part }, endOfThought(part, 'data', data)]
        return { block: { type: 'whole' }, events }
      }
      case 'tool_use':
        return this.#openTool(raw)
      default:
        return { block: { type: 'opaque', value: raw, chunks: [] }, events: [] }
    }
  }

  #openTool(raw: JsonObject): { block: Block; events: ChatEvent[] } {
    const part = this.#parts++
    const name = typeof raw.name === 'string' ? raw.name : ''
    const initial = argumentsIn(raw.input)
    if (name !== '' && name === this.#undo.jsonTool) {
      return { block: { type: 'json', part, initial, touched: false }, events: [{ type: 'text-start', part }] }
    }
    this.#calls++
    const sent: SentTool = sentAs(name, this.#undo) ?? { name, kind: 'function' }
    const id = typeof raw.id === 'string' && raw.id !== '' ? raw.id : `toolu_${digest(this.#id)}_${part}`
    const start: ChatEvent = { type: 'tool-start', part, id, ...sent }
    const block: Block =
      sent.kind === 'custom'
        ? { type: 'custom', part, initial, touched: false, text: freeText() }
        : { type: 'tool', part, initial, touched: false }
    return { block, events: [start] }
  }

  #delta(event: JsonObject): ChatEvent[] {
    const { index, delta } = event
    if (typeof index !== 'number' || !isObject(delta)) return this.fail(broken())
    let block = this.#blocks.get(index)
    const events: ChatEvent[] = []
    if (block === undefined) {
      const implied = IMPLIED[String(delta.type)]
      if (implied === undefined) return isKnownDelta(delta) ? this.fail(broken()) : []
      events.push(...this.#begin(index, implied))
      block = this.#blocks.get(index)
      if (block === undefined) return events
    }
    const more = this.#append(block, delta)
    return events.length === 0 ? more : [...events, ...more]
  }

  #append(block: Block, delta: JsonObject): ChatEvent[] {
    switch (delta.type) {
      case 'text_delta': {
        const { text } = delta
        if (typeof text !== 'string' || text === '' || block.type !== 'text') return []
        return [{ type: 'text-delta', part: block.part, text }]
      }
      case 'input_json_delta':
        return this.#input(block, argumentsIn(delta.partial_json))
      case 'thinking_delta': {
        const { thinking } = delta
        if (typeof thinking !== 'string' || thinking === '' || block.type !== 'thought') return []
        return [{ type: 'reasoning-delta', part: block.part, text: thinking }]
      }
      case 'signature_delta':
        if (block.type === 'thought' && typeof delta.signature === 'string') block.signature += delta.signature
        return []
      case 'citations_delta': {
        const { citation } = delta
        if (block.type === 'text' && isObject(citation)) block.citations.push(decodeCitation(citation))
        return []
      }
      default: {
        // Deltas of blocks only this wire has replace the members of the same name.
        if (block.type === 'opaque') {
          const { type: _, ...members } = delta
          block.value = { ...block.value, ...members }
        }
        return []
      }
    }
  }

  #input(block: Block, text: string): ChatEvent[] {
    if (text === '') return []
    switch (block.type) {
      case 'json':
      case 'tool':
        block.touched = true
        return [{ type: block.type === 'json' ? 'text-delta' : 'tool-delta', part: block.part, text }]
      case 'custom':
        block.touched = true
        return toolDelta(block.part, block.text.push(text))
      case 'opaque':
        block.chunks.push(text)
        return []
      default:
        return []
    }
  }

  #stopBlock(index: unknown): ChatEvent[] {
    const block = typeof index === 'number' ? this.#blocks.get(index) : undefined
    if (block === undefined) return []
    this.#blocks.delete(Number(index))
    return this.#close(block)
  }

  #close(block: Block): ChatEvent[] {
    switch (block.type) {
      case 'text': {
        const { part, citations } = block
        const cited = citations.map((citation): ChatEvent => ({ type: 'citation', part, citation }))
        return [...cited, { type: 'text-end', part }]
      }
      case 'thought':
        return [endOfThought(block.part, 'signature', block.signature)]
      case 'json':
      case 'tool': {
        const { part } = block
        const kind = block.type === 'json' ? 'text' : 'tool'
        const end: ChatEvent = { type: `${kind}-end`, part }
        if (block.touched) return [end]
        return [{ type: `${kind}-delta`, part, text: block.initial === '' ? '{}' : block.initial }, end]
      }
      case 'custom': {
        const { part, text } = block
        const first = block.touched ? '' : text.push(block.initial)
        const { rest, cut } = text.end()
        const told = toolDelta(part, first + rest)
        // Half a call has no end.
        return cut ? told : [...told, { type: 'tool-end', part }]
      }
      case 'opaque': {
        const input = block.chunks.length > 0 ? parsed(block.chunks.join('')) : undefined
        const value = input === undefined ? block.value : { ...block.value, input }
        return [{ type: 'opaque', part: this.#parts++, value: { type: 'opaque', origin: 'messages', value } }]
      }
      case 'whole':
        return []
    }
  }

  #messageDelta({ delta, usage }: JsonObject): ChatEvent[] {
    if (isObject(delta)) this.#stopped(delta)
    const reported = this.#report(usage)
    return reported === undefined ? [] : [{ type: 'usage', usage: reported }]
  }

  #stopped({ stop_reason: reason, stop_sequence: sequence }: JsonObject): void {
    if (reason !== undefined && reason !== null) this.#stop = reason
    if (typeof sequence === 'string') this.#stopSequence = sequence
  }

  #finish(): ChatEvent[] {
    const out: ChatEvent[] = this.#started ? [] : this.#start(undefined)
    for (const block of this.#blocks.values()) out.push(...this.#close(block))
    this.over = true
    const reason = decodeStop(this.#stop, this.#calls)
    out.push({
      type: 'finish',
      reason,
      ...(reason === 'stop-sequence' && this.#stopSequence !== undefined ? { stopSequence: this.#stopSequence } : {}),
      usage: this.#usage,
      ...(this.#tier === undefined ? {} : { serviceTier: this.#tier === 'standard' ? 'default' : this.#tier }),
    })
    return out
  }
}

const toolDelta = (part: number, text: string): ChatEvent[] => (text === '' ? [] : [{ type: 'tool-delta', part, text }])

/** Blocks whose start a provider forgot: text and thought explain themselves, a call without a name does not. */
const IMPLIED: { [delta: string]: JsonObject | undefined } = {
  text_delta: { type: 'text', text: '' },
  thinking_delta: { type: 'thinking', thinking: '', signature: '' },
}
const isKnownDelta = ({ type }: JsonObject): boolean => type === 'input_json_delta'
