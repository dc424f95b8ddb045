// Events of the IR as a stream of this wire: one block at a time, in order, with one terminal event.

import type { GatewayError } from '../../errors.ts'
import type { ChatEvent, Finish } from '../../ir/event.ts'
import type { Json, JsonObject } from '../../ir/json.ts'
import type { OpaquePart, Seal } from '../../ir/part.ts'
import { sequence } from '../../ir/sequence.ts'
import { type Usage, withPrompt } from '../../ir/usage.ts'
import type { Ask, Asked, EventEncoder } from '../codec.ts'
import { searchBlocks } from '../tools/search-calls.ts'
import { encodeCitation, openCall, slotOf } from './blocks.ts'
import { encodeError } from './error.ts'
import { messageId, type NameRead, namesRead } from './names.ts'
import { encodeStop } from './stop.ts'
import { encodeSearches, encodeUsage, encodeUsageDelta } from './usage.ts'

export const encodeEvents = (ask: Ask): EventEncoder => {
  const inOrder = sequence({ late: true })
  const writer = new Writer(ask)
  return {
    push: (event) => {
      let out = ''
      for (const ordered of inOrder(event)) out += writer.write(ordered)
      return out
    },
  }
}

export const PING = 'event: ping\ndata: {"type":"ping"}\n\n'

const frame = (type: string, members: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`

/**
 * The open part. Its block begins with the first content, so that an empty part has none. A call's begins at once, for
 * clients show it as soon as they know its name.
 */
type Open = {
  part: number
  kind: 'text' | 'thought' | 'tool' | 'custom'
  hasBegun: boolean
  full: boolean | undefined
  chunks: string[]
  /** Held until the text begins: providers refuse a block of citations without text when it comes back. */
  citations: JsonObject[]
}

class Writer {
  readonly #ask: Asked
  readonly #nameOf: NameRead
  #started = false
  #over = false
  #index = -1
  #open: Open | undefined
  /** Citations that came when the block of their text had ended. */
  readonly #late: JsonObject[] = []
  #calls = 0
  #searches = 0
  #refused = false
  #usage: Usage = {}
  #firstOutput = 1

  constructor({ body, ...asked }: Ask) {
    this.#ask = asked
    this.#nameOf = namesRead(body)
  }

  write(event: ChatEvent): string {
    if (this.#over) return ''
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
        return event.text === '' ? '' : this.#text(event.text)
      case 'tool-delta':
        return this.#input(event.text)
      case 'reasoning-delta':
        return event.text === '' ? '' : this.#thought(event.text)
      case 'start':
        return this.#start(event.id, event.usage)
      case 'text-start':
        return this.#begin(event.part, 'text')
      case 'refusal-start':
        this.#refused = true
        return this.#begin(event.part, 'text')
      case 'reasoning-start':
        return this.#begin(event.part, 'thought', event.full)
      case 'tool-start': {
        const out = this.#begin(event.part, event.kind === 'custom' ? 'custom' : 'tool')
        this.#calls++
        return out + this.#block(openCall(event, this.#nameOf))
      }
      case 'text-end':
      case 'refusal-end':
      case 'tool-end':
        return this.#end(undefined)
      case 'reasoning-end':
        if (event.full !== undefined && this.#open !== undefined) this.#open.full = event.full
        return this.#end(event.seal)
      case 'citation':
        return this.#cite(event.part, encodeCitation(event.citation))
      case 'opaque':
        return this.#opaque(event.value)
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage }
        return ''
      case 'ping':
        return this.#started ? PING : ''
      case 'finish':
        return this.#finish(event)
      case 'error':
        return this.#fail(event.error, event.requestId)
    }
  }

  #start(id: string, usage: Usage | undefined): string {
    if (this.#started) return ''
    this.#started = true
    this.#usage = { ...this.#usage, ...usage }
    this.#firstOutput = Math.max(1, this.#usage.output ?? 1)
    const known = { ...withPrompt(this.#usage, this.#ask.inputEstimate), output: this.#firstOutput }
    return frame('message_start', {
      message: {
        id: messageId(id),
        type: 'message',
        role: 'assistant',
        model: this.#ask.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        usage: encodeUsage(known),
      },
    })
  }

  #begin(part: number, kind: Open['kind'], full?: boolean): string {
    const out = this.#start('', undefined) + this.#end(undefined)
    this.#open = { part, kind, hasBegun: false, full, chunks: [], citations: [] }
    return out
  }

  /** Begins a block: the open part's, or one that holds all of an opaque part. */
  #block(block: JsonObject): string {
    this.#index++
    if (this.#open !== undefined) this.#open.hasBegun = true
    return frame('content_block_start', { index: this.#index, content_block: block })
  }

  #delta(delta: { [name: string]: Json }): string {
    return frame('content_block_delta', { index: this.#index, delta })
  }

  #text(text: string): string {
    const open = this.#open
    if (open?.kind !== 'text') return ''
    const start = open.hasBegun ? '' : this.#textBlock(open.citations)
    return `${start}event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}\n\n`
  }

  #thought(text: string): string {
    const open = this.#open
    if (open?.kind !== 'thought') return ''
    const start = open.hasBegun ? '' : this.#block({ type: 'thinking', thinking: '', signature: '' })
    open.chunks.push(text)
    return `${start}event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{"type":"thinking_delta","thinking":${JSON.stringify(text)}}}\n\n`
  }

  #input(text: string): string {
    const open = this.#open
    if (text === '' || (open?.kind !== 'tool' && open?.kind !== 'custom')) return ''
    if (open.kind === 'tool') return this.#partial(text)
    // Free text is sent as the one string of an object, escaped piece by piece.
    const escaped = JSON.stringify(text).slice(1, -1)
    if (open.chunks.length > 0) return this.#partial(escaped)
    open.chunks.push('')
    return this.#partial(`{"input":"${escaped}`)
  }

  #partial(json: string): string {
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(json)}}}\n\n`
  }

  #cite(part: number, citations: JsonObject[]): string {
    const open = this.#open?.part === part ? this.#open : undefined
    if (open !== undefined && open.kind !== 'text') return ''
    if (open?.hasBegun) return this.#citations(citations)
    const held = open?.citations ?? this.#late
    held.push(...citations)
    return ''
  }

  /** The next text has what came too late for its own. */
  #textBlock(citations: JsonObject[]): string {
    return this.#block({ type: 'text', text: '' }) + this.#citations([...this.#late.splice(0), ...citations])
  }

  #citations(citations: JsonObject[]): string {
    return citations.map((citation) => this.#delta({ type: 'citations_delta', citation })).join('')
  }

  #end(seal: Seal | undefined): string {
    const open = this.#open
    if (open === undefined) return ''
    this.#open = undefined
    if (open.kind === 'thought') return this.#endThought(open, seal)
    const rest = open.kind === 'custom' ? this.#partial(open.chunks.length > 0 ? '"}' : '{"input":""}') : ''
    return open.hasBegun ? `${rest}${this.#stop()}` : ''
  }

  #endThought(open: Open, seal: Seal | undefined): string {
    const slot = slotOf({
      type: 'reasoning',
      text: open.chunks.join(''),
      ...(open.full === undefined ? {} : { full: open.full }),
      ...(seal === undefined ? {} : { seal }),
    })
    if (slot === undefined) return ''
    if ('data' in slot) return this.#block({ type: 'redacted_thinking', data: slot.data }) + this.#stop()
    const start = open.hasBegun ? '' : this.#block({ type: 'thinking', thinking: '', signature: '' })
    return start + this.#delta({ type: 'signature_delta', signature: slot.signature }) + this.#stop()
  }

  #stop(): string {
    return `event: content_block_stop\ndata: {"type":"content_block_stop","index":${this.#index}}\n\n`
  }

  /** A block that only this wire has, as its provider streams it: inputs and summaries as deltas, the rest in the start. */
  #opaque({ origin, value }: OpaquePart): string {
    if (origin !== 'messages') {
      const made = searchBlocks(value)
      if (made.length > 0) this.#searches++
      return made.map((block) => this.#whole(block)).join('')
    }
    return this.#whole(value)
  }

  #whole(value: JsonObject): string {
    const before = this.#start('', undefined) + this.#end(undefined)
    const { input, content } = value
    if (value.type === 'compaction' && typeof content === 'string') {
      const delta = this.#block({ ...value, content: null }) + this.#delta({ type: 'compaction_delta', content })
      return before + delta + this.#stop()
    }
    if (input === undefined) return before + this.#block(value) + this.#stop()
    return before + this.#block({ ...value, input: {} }) + this.#partial(JSON.stringify(input)) + this.#stop()
  }

  #finish(event: Finish): string {
    let out = this.#start('', undefined) + this.#end(undefined)
    // It is taken out of what comes back: see `holdsLateLinks`.
    if (this.#late.length > 0) out += this.#textBlock([]) + this.#stop()
    this.#over = true
    const usage = { ...this.#usage, ...event.usage }
    const total = { ...withPrompt(usage, this.#ask.inputEstimate), output: this.#finalOutput(usage.output) }
    const delta = encodeStop(event.reason, event.stopSequence, this.#calls, this.#refused)
    return `${out}${frame('message_delta', { delta, usage: { ...encodeUsageDelta(total), ...encodeSearches(this.#searches) } })}${frame('message_stop', {})}`
  }

  /** Never below the count in `message_start`, unless the provider reports that there was no output. */
  #finalOutput(output: number | undefined): number {
    return output === 0 ? 0 : Math.max(this.#firstOutput, output ?? 0)
  }

  /** Leaves the open block open: clients must not take half a call for a whole one. */
  #fail(error: GatewayError, requestId = ''): string {
    this.#over = true
    return `event: error\ndata: ${JSON.stringify(encodeError(error, requestId))}\n\n`
  }
}
