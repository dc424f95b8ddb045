// The calls of one stream: deltas by index become parts that may overlap, opened, filled and closed here.

import type { ChatEvent } from '../../ir/event.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Seal } from '../../ir/part.ts'
import type { Undo } from '../codec.ts'
import { type FreeText, freeText, sentAs } from '../undo.ts'
import { inputText, signatureOf } from './assistant.ts'

type Call = {
  /** Undefined until its name is known: some servers send the name late. */
  part: number | undefined
  id: string
  /** Whether the id is the server's. */
  told: boolean
  /** The name it was sent under. */
  name: string
  kind: 'function' | 'custom'
  signature: Seal | undefined
  /** `json`: the structured output, told as text. */
  as: 'call' | 'json'
  /** Of a tool of free text that was sent as a function. */
  wrapped: FreeText | undefined
  pieces: string[]
  /** Of all pieces, in characters. */
  length: number
  /** The length at which they were found to be no whole. */
  unfinished: number
}

export type Calls = {
  /** The events of one entry of a delta's `tool_calls`. */
  delta(raw: JsonObject): ChatEvent[]
  /** Ends the calls whose arguments are whole; `all`: ends every call. */
  close(all: boolean): ChatEvent[]
  /** Whether a call was made that the client carries out. */
  readonly made: boolean
}

type CallsOptions = {
  undo: Undo
  nextPart: () => number
  /** An id for the call of this place that came without one. */
  madeId: (at: number) => string
  /** Events that must come before a new part of calls: the ends of open texts. */
  before: () => ChatEvent[]
}

export const openCalls = ({ undo, nextPart, madeId, before }: CallsOptions): Calls => {
  const calls: Call[] = []
  const unclosed = new Set<Call>()
  const byIndex = new Map<number, Call>()
  const byId = new Map<string, Call>()
  let made = false

  const close = (call: Call, out: ChatEvent[]): void => {
    unclosed.delete(call)
    // A call whose name never came is one all the same, where it is more than an empty entry.
    if (call.part === undefined && (call.told || call.pieces.length > 0)) name(call, '', out)
    if (call.part === undefined) return
    if (isEmpty(call)) tell(call, call.part, call.pieces.join(''), out)
    if (call.wrapped !== undefined) {
      const { rest, cut } = call.wrapped.end()
      if (rest !== '') out.push({ type: 'tool-delta', part: call.part, text: rest })
      // Half a call has no end.
      if (cut) return
    }
    // An answer of no members is one all the same.
    if (call.as === 'json' && call.pieces.length === 0) out.push({ type: 'text-delta', part: call.part, text: '{}' })
    out.push({ type: call.as === 'json' ? 'text-end' : 'tool-end', part: call.part })
  }

  const closeAll = (all: boolean): ChatEvent[] => {
    const out: ChatEvent[] = []
    for (const call of unclosed) if (all || isWhole(call)) close(call, out)
    return out
  }

  const open = (index: number, id: string, kind: Call['kind']): Call => {
    const call: Call = {
      part: undefined,
      id: id === '' ? madeId(calls.length) : id,
      told: id !== '',
      name: '',
      kind,
      signature: undefined,
      as: 'call',
      wrapped: undefined,
      pieces: [],
      length: 0,
      unfinished: 0,
    }
    calls.push(call)
    unclosed.add(call)
    byIndex.set(index, call)
    if (id !== '') byId.set(id, call)
    return call
  }

  const name = (call: Call, sent: string, out: ChatEvent[]): void => {
    out.push(...closeAll(false), ...before())
    if (call.signature !== undefined) {
      const thought = nextPart()
      out.push(
        { type: 'reasoning-start', part: thought },
        { type: 'reasoning-end', part: thought, seal: call.signature },
      )
    }
    const part = nextPart()
    call.part = part
    call.name = sent
    if (undo.jsonTool !== undefined && sent === undo.jsonTool) {
      call.as = 'json'
      out.push({ type: 'text-start', part })
    } else {
      made = true
      const known = sentAs(sent, undo)
      if (known?.kind === 'custom' && call.kind === 'function') call.wrapped = freeText()
      out.push({ type: 'tool-start', part, id: call.id, ...(known ?? { name: sent, kind: call.kind }) })
    }
    const early = call.pieces.join('')
    if (early !== '' && !isEmpty(call)) tell(call, part, early, out)
  }

  const add = (call: Call, text: string, out: ChatEvent[]): void => {
    if (isEmpty(call)) {
      if (text.trim() === '') return
      call.pieces = []
      call.length = 0
    }
    call.pieces.push(text)
    call.length += text.length
    if (call.part !== undefined && !isEmpty(call)) tell(call, call.part, text, out)
  }

  const tell = (call: Call, part: number, text: string, out: ChatEvent[]): void => {
    const told = call.wrapped === undefined ? text : call.wrapped.push(text)
    if (told !== '') out.push({ type: call.as === 'json' ? 'text-delta' : 'tool-delta', part, text: told })
  }

  /** The call an entry goes on with; undefined for the first entry of a call. */
  const find = (index: Json | undefined, id: string, sent: string, text: string): Call | undefined => {
    const indexed = typeof index === 'number'
    const last = indexed ? byIndex.get(index) : calls.at(-1)
    if (last === undefined) return undefined
    if (id === '') return isAnother(last, sent, text) ? undefined : last
    // Servers that count every call as the first one, or none, tell them apart by id and name only.
    const call = id === last.id ? last : byId.get(id)
    if (call === undefined) return indexed && (sent === '' || last.part === undefined) ? last : undefined
    return !isEmpty(call) && !isRepeat(call, text) && isAnother(call, sent, text) ? undefined : call
  }

  return {
    delta: (raw) => {
      const out: ChatEvent[] = []
      const kind = isObject(raw.custom) ? 'custom' : 'function'
      const body: JsonObject = isObject(raw[kind]) ? raw[kind] : {}
      const id = typeof raw.id === 'string' ? raw.id : ''
      const sent = typeof body.name === 'string' ? body.name : ''
      const index = typeof raw.index === 'number' ? raw.index : calls.length
      const text = argumentText(kind === 'custom' ? body.input : body.arguments)
      const found = find(raw.index, id, sent, text)
      if (found !== undefined && isRepeat(found, text)) return out
      // What comes behind a call's end is a call without a name: never nothing.
      const call = found === undefined || (!unclosed.has(found) && text.trim() !== '') ? open(index, id, kind) : found
      if (!unclosed.has(call)) return out
      if (call.part === undefined && id !== '') {
        Object.assign(call, { id, told: true })
        byId.set(id, call)
      }
      call.signature ??= signatureOf(raw)
      if (call.part === undefined && sent !== '') name(call, sent, out)
      if (text !== '') add(call, text, out)
      return out
    },
    close: closeAll,
    get made() {
      return made
    },
  }
}

/** Whether an entry that names a tool begins a call of its own: the one before it can take no more arguments. */
const isAnother = (call: Call, sent: string, text: string): boolean =>
  sent !== '' && (text !== '' || sent !== call.name) && call.kind === 'function' && isWhole(call)

/** Some servers write `{}` before the arguments: it is told once nothing else has come. */
const isEmpty = ({ kind, pieces }: Call): boolean => kind === 'function' && pieces.length === 1 && pieces[0] === '{}'

/** Whether an entry says again what the call holds: some servers tell all of the arguments once more at their end. */
const isRepeat = (call: Call, text: string): boolean => {
  if (!text.startsWith('{') || call.kind !== 'function' || call.part === undefined) return false
  // White space makes no more of a difference. Without a measure, every `{}` in a long text would have all of it read.
  if (text.length * 8 < call.length) return false
  try {
    // The piece first: of arguments in the middle of their way it is none, and costs nothing to read.
    return Bun.deepEquals(JSON.parse(text), JSON.parse(call.pieces.join('')))
  } catch {
    return false
  }
}

/** An empty object stands for "no arguments yet" where a server sends objects. */
const argumentText = (value: Json | undefined): string =>
  isObject(value) && Object.keys(value).length === 0 ? '' : inputText(value)

/** Free text cannot be seen to be whole, but only the vendor sends it, one call after the other. */
const isWhole = (call: Call): boolean => {
  if (call.part === undefined || call.pieces.length === 0) return false
  if (call.kind === 'custom') return true
  // Asked with every piece of some servers, and for every call that begins: nothing is read twice for it.
  if (call.unfinished === call.length) return false
  if (isObjectIn(call.pieces)) return true
  call.unfinished = call.length
  return false
}

const isObjectIn = (pieces: readonly string[]): boolean => {
  // What has no closing brace at its end need not be read.
  const last = pieces.findLast((piece) => piece.trim() !== '')?.trimEnd()
  if (last?.endsWith('}') !== true) return false
  try {
    return isObject(JSON.parse(pieces.join('')))
  } catch {
    return false
  }
}
