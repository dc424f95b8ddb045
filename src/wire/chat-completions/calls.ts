// The calls of one stream: their deltas, told apart by index, become parts that may overlap.

import type { ChatEvent } from '../../ir/event.ts'
import { asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Seal } from '../../ir/part.ts'
import { type JsonNesting, jsonNesting } from '../../lib/json-nesting.ts'
import { seenObject } from '../../lib/json-reader.ts'
import type { Undo } from '../codec.ts'
import { mayGoOn, toolHeard } from '../tools/heard.ts'
import { type FreeText, freeText } from '../tools/undo.ts'
import { callKind, idText, inputText, signatureOf } from './assistant.ts'

type Call = {
  /** Its place among the calls. */
  at: number
  /** Undefined until the name is known, which some servers send late. */
  part: number | undefined
  id: string
  /** Whether the id is the server's own, not made up here. */
  hasOwnId: boolean
  /** The name as the provider has written it so far. */
  name: string
  kind: 'function' | 'custom'
  signature: Seal | undefined
  /** `json`: structured output, which becomes text. */
  as: 'call' | 'json'
  /** For a tool of free text that was sent as a function. */
  wrapped: FreeText | undefined
  pieces: string[]
  /** Of all pieces together, in characters. */
  length: number
  /** The length at which they were last found not to be whole JSON. */
  unfinished: number
  nesting: JsonNesting
}

/** An entry of a delta's `tool_calls`. */
type Entry = {
  raw: JsonObject
  kind: Call['kind']
  index: number | undefined
  /** '' where there is none, as for `sent`, the name. */
  id: string
  sent: string
  text: string
}

type Calls = {
  /** The events of a delta's `tool_calls`. */
  delta(list: readonly JsonObject[]): ChatEvent[]
  /** Ends the calls whose arguments are whole JSON; `all`: ends every call. */
  close(all: boolean): ChatEvent[]
  /** Whether there was a call that the client must carry out. */
  readonly made: boolean
}

type CallsOptions = {
  undo: Undo
  nextPart: () => number
  /** The id for a call that came without one, by its index. */
  madeId: (at: number) => string
  /** Events that must come before a new call: the ends of open texts. */
  before: () => ChatEvent[]
}

export const openCalls = ({ undo, nextPart, madeId, before }: CallsOptions): Calls => {
  const calls: Call[] = []
  const unclosed = new Set<Call>()
  /** Those of them that may have become whole since they were last looked at. */
  const grown = new Set<Call>()
  /** Those that wait for more of their name. */
  const held = new Set<Call>()
  const byIndex = new Map<number, Call>()
  const byId = new Map<string, Call>()
  let made = false

  const close = (call: Call, out: ChatEvent[]): void => {
    unclosed.delete(call)
    grown.delete(call)
    // A call whose name never came still counts, unless it is an empty entry.
    if (call.part === undefined && (call.hasOwnId || call.pieces.length > 0)) start(call, out)
    if (call.part === undefined) return
    if (isEmpty(call)) emit(call, call.part, call.pieces.join(''), out)
    if (call.wrapped !== undefined) {
      const { rest, cut } = call.wrapped.end()
      if (rest !== '') out.push({ type: 'tool-delta', part: call.part, text: rest })
      // A call that was cut off gets no end.
      if (cut) return
    }
    // Structured output without any members.
    if (call.as === 'json' && call.pieces.length === 0) out.push({ type: 'text-delta', part: call.part, text: '{}' })
    out.push({ type: call.as === 'json' ? 'text-end' : 'tool-end', part: call.part })
  }

  const closeAll = (all: boolean): ChatEvent[] => {
    const out: ChatEvent[] = []
    for (const call of all ? unclosed : grown) if (all || isWhole(call)) close(call, out)
    grown.clear()
    return out
  }

  const open = (index: number, id: string, kind: Call['kind']): Call => {
    const call: Call = {
      at: calls.length,
      part: undefined,
      id: id === '' ? madeId(calls.length) : id,
      hasOwnId: id !== '',
      name: '',
      kind,
      signature: undefined,
      as: 'call',
      wrapped: undefined,
      pieces: [],
      length: 0,
      unfinished: 0,
      nesting: jsonNesting(),
    }
    calls.push(call)
    unclosed.add(call)
    byIndex.set(index, call)
    if (id !== '') byId.set(id, call)
    return call
  }

  /** Some servers send a name in pieces, or all of it each time. */
  const name = (call: Call, piece: string): void => {
    const joined = call.name + piece
    const goesOn = !piece.startsWith(call.name) || toolHeard({ ...call, name: joined }, undo) !== undefined
    call.name = goesOn || mayGoOn(joined, undo) ? joined : piece
  }

  /** Whether more of the name may come: it is no tool's yet, or may become another's. */
  const mayBeNamedOn = (call: Call): boolean =>
    undo.tools !== undefined && (mayGoOn(call.name, undo) || toolHeard(call, undo) === undefined)

  const start = (call: Call, out: ChatEvent[]): void => {
    held.delete(call)
    // Calls keep their order: behind another's beginning no more of a name comes.
    for (const earlier of held) if (earlier.at < call.at) start(earlier, out)
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
    const known = toolHeard(call, undo)
    if (known === 'answer') {
      call.as = 'json'
      out.push({ type: 'text-start', part })
    } else {
      made = true
      if (known?.kind === 'custom' && call.kind === 'function') call.wrapped = freeText()
      out.push({ type: 'tool-start', part, id: call.id, ...(known ?? { name: call.name, kind: call.kind }) })
    }
    const early = call.pieces.join('')
    if (early !== '' && !isEmpty(call)) emit(call, part, early, out)
  }

  const add = (call: Call, text: string, out: ChatEvent[]): void => {
    if (isEmpty(call)) {
      if (text.trim() === '') return
      call.pieces = []
      call.length = 0
      call.nesting = jsonNesting()
    }
    call.pieces.push(text)
    call.length += text.length
    if (call.part !== undefined && !isEmpty(call)) emit(call, call.part, text, out)
  }

  const emit = (call: Call, part: number, text: string, out: ChatEvent[]): void => {
    const input = call.wrapped === undefined ? text : call.wrapped.push(text)
    if (input !== '') out.push({ type: call.as === 'json' ? 'text-delta' : 'tool-delta', part, text: input })
  }

  /** The call that an entry continues, the last but `behind` if nothing names it; undefined for the first of a call. */
  const find = ({ index, id, sent, text }: Entry, behind: number): Call | undefined => {
    const last = index === undefined ? calls.at(-1 - behind) : byIndex.get(index)
    if (last === undefined) {
      const other = id === '' && sent === '' ? calls.at(-1) : byId.get(id)
      const isSame = other !== undefined && !isEmpty(other) && (sent === '' || sent === other.name)
      return isSame && isRepeat(other, text) ? other : unended(other, sent)
    }
    if (id === '') return isAnother(last, sent, text) ? undefined : last
    // Some servers give every call the same index or none: only id and name tell them apart.
    const call = id === last.id ? last : byId.get(id)
    if (call === undefined) return index !== undefined && (sent === '' || last.part === undefined) ? last : undefined
    return !isEmpty(call) && !isRepeat(call, text) && isAnother(call, sent, text) ? undefined : call
  }

  const take = (entry: Entry, behind: number, out: ChatEvent[]): void => {
    const { raw, kind, index = calls.length, id, sent, text } = entry
    const found = find(entry, behind)
    if (found !== undefined && isRepeat(found, text)) return
    const isLate = found !== undefined && !unclosed.has(found) && text.trim() !== ''
    // Arguments after a call's end are the last call's, or begin a call without a name: they must not be lost.
    const continued = isLate ? unended(id === '' ? calls.at(-1) : undefined, sent) : found
    const call = continued ?? open(index, id, kind)
    if (!unclosed.has(call)) return
    if (call.part === undefined && id !== '') {
      Object.assign(call, { id, hasOwnId: true })
      byId.set(id, call)
    }
    call.signature ??= signatureOf(raw)
    if (call.part === undefined && sent !== '') {
      name(call, sent)
      if (text === '' && mayBeNamedOn(call)) {
        held.add(call)
        return
      }
    }
    if (call.part === undefined && call.name !== '') start(call, out)
    if (text !== '') add(call, text, out)
    grown.add(call)
  }

  return {
    delta: (list) => {
      const out: ChatEvent[] = []
      const entries = list.map(entryOf)
      // A list of nothing but arguments is in the order of the calls; others continue the call before them.
      const bare = entries.length <= calls.length && entries.every(isBare)
      for (const [at, entry] of entries.entries()) take(entry, bare ? entries.length - 1 - at : 0, out)
      return out
    },
    close: closeAll,
    get made() {
      return made
    },
  }
}

const entryOf = (raw: JsonObject): Entry => {
  const kind = callKind(raw)
  const body: JsonObject = isObject(raw[kind]) ? raw[kind] : {}
  return {
    raw,
    kind,
    index: typeof raw.index === 'number' ? raw.index : undefined,
    id: idText(raw.id),
    sent: asText(body.name),
    text: argumentText(kind === 'custom' ? body.input : body.arguments),
  }
}

/** Whether nothing tells which call the entry belongs to. */
const isBare = ({ index, id, sent }: Entry): boolean => index === undefined && id === '' && sent === ''

/** Whether an entry that names a tool begins another call: the arguments of this one are whole, or free text of another tool. */
const isAnother = (call: Call, sent: string, text: string): boolean => {
  if (sent === '' || (text === '' && sent === call.name)) return false
  return call.kind === 'function' ? isWhole(call) : call.name !== '' && sent !== call.name
}

/** The call whose arguments go on under another index, unless they are whole: some servers begin or end one so. */
const unended = (call: Call | undefined, sent: string): Call | undefined =>
  call === undefined || isWhole(call) || (sent !== '' && call.part !== undefined && sent !== call.name)
    ? undefined
    : call

/** Some servers send `{}` before the arguments: it counts only where nothing else follows. */
const isEmpty = ({ kind, pieces }: Call): boolean => kind === 'function' && pieces.length === 1 && pieces[0] === '{}'

/** Whether an entry repeats the call's arguments: some servers send all of them again at the end. */
const isRepeat = (call: Call, text: string): boolean => {
  if (!text.startsWith('{') || call.kind !== 'function' || call.part === undefined) return false
  // A repeat differs in white space only, so it is about as long. Without this check, every `{}` within long arguments
  // would have all of them parsed again.
  if (text.length * 8 < call.length) return false
  const whole = call.pieces.join('')
  if (text === whole) return true
  try {
    // The piece first: in the middle of the arguments it is not JSON, and fails at once.
    return Bun.deepEquals(JSON.parse(text), JSON.parse(whole))
  } catch {
    return false
  }
}

/** Arguments as text. Servers that send objects use an empty one for "no arguments yet". */
const argumentText = (value: Json | undefined): string =>
  isObject(value) && Object.keys(value).length === 0 ? '' : inputText(value)

/** Whether the arguments are whole. Free text counts as whole: only the vendor sends it, one call after the other. */
const isWhole = (call: Call): boolean => {
  if (call.part === undefined || call.pieces.length === 0) return false
  if (call.kind === 'custom') return true
  // This is checked with every piece of some servers: unchanged arguments are not parsed again.
  if (call.unfinished === call.length) return false
  if (isObjectIn(call)) return true
  call.unfinished = call.length
  return false
}

const isObjectIn = ({ pieces, nesting }: Call): boolean => {
  // Long arguments have many pieces that end in a brace: not each may have all of them parsed.
  const last = pieces.findLast((piece) => piece.trim() !== '')?.trimEnd()
  if (last?.endsWith('}') !== true || !nesting.isClosed(pieces)) return false
  return seenObject(pieces.join('')) !== undefined
}
