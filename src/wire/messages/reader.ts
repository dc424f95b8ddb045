// The wire's parsed events as events of the IR. Streams and whole answers share this reader.

import type { GatewayError } from '../../errors.ts'
import type { ChatEvent } from '../../ir/event.ts'
import { asObject, asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ServerToolCalls } from '../../ir/server-tools.ts'
import type { Usage } from '../../ir/usage.ts'
import { digest } from '../../lib/digest.ts'
import type { SentArguments, Undo } from '../codec.ts'
import { isToldError, malformedAnswer } from '../pass.ts'
import { toolHeard } from '../tools/heard.ts'
import { countCalls } from '../tools/server-calls.ts'
import { pieceOf, piecesOf } from '../turns/pieces.ts'
import { type Block, callBlock, customBlock, opaqueBlock, redactedBlock, textBlock, thoughtBlock } from './block.ts'
import { decodeError, failureIn } from './error.ts'
import { decodeStop } from './stop.ts'
import { decodeUsage, tierIn, withReport } from './usage.ts'

/** `over` after the one `finish` or `error`. */
export class Reader {
  over = false
  readonly #undo: Undo
  readonly #blocks = new Map<number, Block>()
  /** The index of the block that was begun last, and the same where it is prose. */
  #last = -1
  #prose: number | undefined
  #started = false
  #id = ''
  #parts = 0
  #calls = 0
  #usage: Usage = {}
  #rawUsage: JsonObject | undefined
  #summed = false
  #stop: Json | undefined
  #stopSequence: string | undefined

  constructor(undo: Undo) {
    this.#undo = undo
  }

  /** The provider's usage object, with the latest report of each member. */
  get rawUsage(): JsonObject | undefined {
    return this.#rawUsage
  }

  get serviceTier(): string | undefined {
    return tierIn(this.#rawUsage ?? {})
  }

  /** Whether the reported output is the answer's total; false for the count at the start of a stream. */
  get summed(): boolean {
    return this.#summed
  }

  get hasStopReason(): boolean {
    return this.#stop !== undefined
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
        return isToldError(event.error) ? this.fail(decodeError(200, event)) : []
    }
  }

  #start(raw: unknown): ChatEvent[] {
    const message = asObject(raw)
    if (this.#started) {
      // After content has been sent, a second start would repeat all of it.
      return this.#parts > 0 || this.#blocks.size > 0 ? this.fail(malformedAnswer()) : []
    }
    this.#started = true
    const usage = this.#report(message.usage)
    const { id, model, content } = message
    if (typeof id === 'string') this.#id = id
    this.#stopped(message)
    this.#summed = this.hasStopReason
    const out: ChatEvent[] = [
      {
        type: 'start',
        id: this.#id,
        ...(typeof model === 'string' && model !== '' ? { model } : {}),
        ...(usage === undefined ? {} : { usage }),
      },
    ]
    // The blocks that the provider continues from, or all blocks of a whole answer.
    for (const block of piecesOf(content)) {
      if (!isObject(block)) return [...out, ...this.fail(malformedAnswer())]
      // A placeholder for text that follows in deltas, unless the answer is complete.
      if (block.type === 'text' && block.text === '' && this.#stop === undefined) continue
      const { started, end } = this.#open(block)
      out.push(...started, ...end())
    }
    return out
  }

  /** See `Tap`. */
  readonly serverTools: ServerToolCalls = {}

  #report(raw: unknown): Usage | undefined {
    if (!isObject(raw)) return undefined
    this.#rawUsage = withReport(this.#rawUsage, raw)
    const usage = decodeUsage(this.#rawUsage)
    if (usage !== undefined) this.#usage = usage
    return usage
  }

  /** An event that does not say where it belongs is of the block that was begun last. */
  #placeOf(index: unknown): number {
    return typeof index === 'number' ? index : this.#last
  }

  #begin(index: unknown, raw: Json | undefined): ChatEvent[] {
    if (!isObject(raw)) return this.fail(malformedAnswer())
    return this.#beginAt(typeof index === 'number' ? index : this.#last + 1, asObject(pieceOf(raw)))
  }

  #beginAt(index: number, raw: JsonObject): ChatEvent[] {
    const out: ChatEvent[] = this.#started ? [] : this.#start(undefined)
    // Some servers end every block at the end of the stream: what follows prose would wait for that.
    for (const at of new Set([this.#prose, index])) {
      const before = at === undefined ? undefined : this.#blocks.get(at)
      if (at === undefined || before === undefined) continue
      this.#blocks.delete(at)
      out.push(...before.end())
    }
    const block = this.#open(raw)
    this.#blocks.set(index, block)
    this.#last = index
    this.#prose = block.prose === undefined ? undefined : index
    return [...out, ...block.started]
  }

  #open(raw: JsonObject): Block {
    countCalls([raw], this.serverTools)
    switch (raw.type) {
      case 'text':
      // In the words of the responses wire.
      case 'output_text':
        return textBlock(this.#parts++, raw)
      case 'thinking':
        return thoughtBlock(this.#parts++, raw)
      case 'redacted_thinking':
        return redactedBlock(this.#parts++, raw)
      case 'tool_use':
        return this.#openCall(raw)
      default:
        return opaqueBlock(() => this.#parts++, raw)
    }
  }

  #openCall(raw: JsonObject): Block {
    const part = this.#parts++
    const name = asText(raw.name)
    const known = toolHeard({ name, kind: 'function' }, this.#undo)
    const sentArguments = argumentsOf(known, name, this.#undo)
    if (known === 'answer') return callBlock({ type: 'text-start', part }, raw, sentArguments)
    this.#calls++
    const tool = known ?? { name, kind: 'function' }
    const id = typeof raw.id === 'string' && raw.id !== '' ? raw.id : `toolu_${digest(this.#id)}_${part}`
    const start = { type: 'tool-start' as const, part, id, ...tool }
    return tool.kind === 'custom' ? customBlock(start, raw) : callBlock(start, raw, sentArguments)
  }

  #delta({ index: told, delta: raw }: JsonObject): ChatEvent[] {
    if (!isObject(raw)) return this.fail(malformedAnswer())
    const delta = typed(raw)
    const index = this.#placeOf(told)
    const block = this.#blocks.get(index)
    const implied = IMPLIED.get(delta.type)
    // Some servers write a thought into a block of text.
    const isOther = block?.prose !== undefined && implied !== undefined && implied.type !== block.prose
    if (block !== undefined && !isOther) return block.append(delta)
    if (implied !== undefined)
      return [...this.#beginAt(Math.max(index, 0), implied), ...(this.#blocks.get(this.#last)?.append(delta) ?? [])]
    // A call without its start has no name; unknown deltas are ignored.
    return delta.type === 'input_json_delta' ? this.fail(malformedAnswer()) : []
  }

  #stopBlock(index: unknown): ChatEvent[] {
    const at = this.#placeOf(index)
    const block = this.#blocks.get(at)
    if (block === undefined) return []
    this.#blocks.delete(at)
    return block.end()
  }

  #messageDelta({ delta, usage }: JsonObject): ChatEvent[] {
    if (isObject(delta)) this.#stopped(delta)
    const reported = this.#report(usage)
    if (decodeUsage(usage)?.output !== undefined) this.#summed = true
    return reported === undefined ? [] : [{ type: 'usage', usage: reported }]
  }

  #stopped({ stop_reason: reason, stop_sequence: sequence }: JsonObject): void {
    if (reason !== undefined && reason !== null) this.#stop = reason
    if (typeof sequence === 'string') this.#stopSequence = sequence
  }

  #finish(): ChatEvent[] {
    const out: ChatEvent[] = this.#started ? [] : this.#start(undefined)
    for (const block of this.#blocks.values()) out.push(...block.end())
    const failure = failureIn({ stop_reason: this.#stop ?? null })
    if (failure !== undefined) return [...out, ...this.fail(failure)]
    this.over = true
    const reason = decodeStop(this.#stop, this.#calls, this.#stopSequence)
    const { serviceTier: tier } = this
    out.push({
      type: 'finish',
      reason,
      ...(reason === 'stop-sequence' && this.#stopSequence !== undefined ? { stopSequence: this.#stopSequence } : {}),
      usage: this.#usage,
      ...(tier === undefined ? {} : { serviceTier: tier === 'standard' ? 'default' : tier }),
    })
    return out
  }
}

/** The arguments that were sent under other names, for a tool that the provider may have named in another way. */
const argumentsOf = (
  known: ReturnType<typeof toolHeard>,
  name: string,
  { arguments: sent = {}, tools = {}, jsonTool }: Undo,
): SentArguments | undefined => {
  if (Object.hasOwn(sent, name)) return sent[name]
  const sentName = known === 'answer' ? jsonTool : Object.keys(tools).find((one) => tools[one] === known)
  return sentName !== undefined && Object.hasOwn(sent, sentName) ? sent[sentName] : undefined
}

/** The start of a block whose provider omitted it, or announced another, for deltas that tell what it is. */
const IMPLIED = new Map<Json | undefined, JsonObject>([
  ['text_delta', { type: 'text', text: '' }],
  ['thinking_delta', { type: 'thinking', thinking: '', signature: '' }],
])

/** A delta that has no type, or that of its block, is what it holds. */
const typed = (delta: JsonObject): JsonObject => {
  const { type: told = null } = delta
  if (told !== null && !IMPLIED.has(`${asText(told)}_delta`)) return delta
  const type = HELD.find(([member]) => typeof delta[member] === 'string')?.[1]
  return type === undefined ? delta : { ...delta, type }
}

const HELD = [
  ['text', 'text_delta'],
  ['thinking', 'thinking_delta'],
  ['partial_json', 'input_json_delta'],
  ['signature', 'signature_delta'],
] as const
