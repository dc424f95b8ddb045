// The calls of one stream: deltas by index become parts that may overlap, opened, filled and closed here.

import type { ChatEvent } from '../../ir/event.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Undo } from '../codec.ts'
import { inputText } from './assistant.ts'
import { isCutInput, undoName, unwrapInput } from './undo.ts'

type Call = {
  /** Undefined until its name is known: some servers send the name late. */
  part: number | undefined
  id: string
  kind: 'function' | 'custom'
  /** `json`: the structured output, told as text. `wrapped`: free text within arguments, told when it is whole. */
  as: 'call' | 'json' | 'wrapped'
  pieces: string[]
  closed: boolean
}

export type Calls = {
  /** The events of one entry of a delta's `tool_calls`. */
  delta(raw: JsonObject): ChatEvent[]
  /** Ends the calls whose arguments are whole; `all`: ends every call. */
  close(all: boolean): ChatEvent[]
  /** Whether a call was made that the client carries out. */
  readonly made: boolean
}

export type CallsOptions = {
  undo: Undo
  nextPart: () => number
  /** An id for the call of this place that came without one. */
  madeId: (at: number) => string
  /** Events that must come before a new part of calls: the ends of open texts. */
  before: () => ChatEvent[]
}

export const openCalls = ({ undo, nextPart, madeId, before }: CallsOptions): Calls => {
  const calls: Call[] = []
  const byIndex = new Map<number, Call>()
  let made = false

  const close = (call: Call, out: ChatEvent[]): void => {
    call.closed = true
    if (call.part === undefined) return
    if (call.as === 'wrapped') {
      const input = call.pieces.join('')
      out.push({ type: 'tool-delta', part: call.part, text: unwrapInput(input) })
      // Half a call has no end.
      if (isCutInput(input)) return
    }
    // An answer of no members is one all the same.
    if (call.as === 'json' && call.pieces.length === 0) out.push({ type: 'text-delta', part: call.part, text: '{}' })
    out.push({ type: call.as === 'json' ? 'text-end' : 'tool-end', part: call.part })
  }

  const closeAll = (all: boolean): ChatEvent[] => {
    const out: ChatEvent[] = []
    for (const call of calls) if (!call.closed && (all || isWhole(call))) close(call, out)
    return out
  }

  const open = (index: number, id: string, kind: Call['kind']): Call => {
    const call: Call = {
      part: undefined,
      id: id === '' ? madeId(calls.length) : id,
      kind,
      as: 'call',
      pieces: [],
      closed: false,
    }
    calls.push(call)
    byIndex.set(index, call)
    return call
  }

  const name = (call: Call, sent: string, out: ChatEvent[]): void => {
    out.push(...closeAll(false), ...before())
    const part = nextPart()
    call.part = part
    if (undo.jsonTool !== undefined && sent === undo.jsonTool) {
      call.as = 'json'
      out.push({ type: 'text-start', part })
    } else {
      made = true
      const known = undoName(sent, undo)
      if (known?.kind === 'custom' && call.kind === 'function') call.as = 'wrapped'
      out.push({ type: 'tool-start', part, id: call.id, ...(known ?? { name: sent, kind: call.kind }) })
    }
    const early = call.pieces.join('')
    if (early !== '') tell(call, part, early, out)
  }

  const tell = (call: Call, part: number, text: string, out: ChatEvent[]): void => {
    if (call.as === 'wrapped') return
    out.push({ type: call.as === 'json' ? 'text-delta' : 'tool-delta', part, text })
  }

  const find = (raw: JsonObject, id: string, named: boolean): Call | undefined => {
    if (typeof raw.index !== 'number') return id === '' || calls.at(-1)?.id === id ? calls.at(-1) : undefined
    const call = byIndex.get(raw.index)
    // Servers that count every call as the first one tell them apart by id and name only.
    return call !== undefined && named && id !== '' && call.part !== undefined && call.id !== id ? undefined : call
  }

  return {
    delta: (raw) => {
      const out: ChatEvent[] = []
      const kind = isObject(raw.custom) ? 'custom' : 'function'
      const body: JsonObject = isObject(raw[kind]) ? raw[kind] : {}
      const id = typeof raw.id === 'string' ? raw.id : ''
      const sent = typeof body.name === 'string' ? body.name : ''
      const index = typeof raw.index === 'number' ? raw.index : calls.length
      const call = find(raw, id, sent !== '') ?? open(index, id, kind)
      if (call.closed) return out
      if (call.part === undefined && id !== '') call.id = id
      if (call.part === undefined && sent !== '') name(call, sent, out)
      const text = argumentText(kind === 'custom' ? body.input : body.arguments)
      if (text !== '') {
        call.pieces.push(text)
        if (call.part !== undefined) tell(call, call.part, text, out)
      }
      return out
    },
    close: closeAll,
    get made() {
      return made
    },
  }
}

/** An empty object stands for "no arguments yet" where a server sends objects. */
const argumentText = (value: Json | undefined): string =>
  isObject(value) && Object.keys(value).length === 0 ? '' : inputText(value)

/** Free text cannot be seen to be whole, but only the vendor sends it, one call after the other. */
const isWhole = ({ kind, pieces, part }: Call): boolean => {
  if (part === undefined || pieces.length === 0) return false
  if (kind === 'custom') return true
  try {
    return isObject(JSON.parse(pieces.join('')))
  } catch {
    return false
  }
}
