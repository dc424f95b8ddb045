// Tells the items of a provider's stream apart. An event names its item by index and by id; servers leave out either, or
// get it wrong.

import { filledText, isObject, type Json, type JsonObject } from '../../ir/json.ts'

export type ItemKind = 'message' | 'call' | 'reasoning' | 'opaque'

/** What is known of the item at a place. */
type Held = { kind: ItemKind; isDone: boolean }

export type Places = {
  /** The place of the item that an event concerns: mostly its index. */
  of(event: JsonObject): number
  /** The places of the items of the whole answer. */
  inOutput(output: readonly Json[]): number[]
}

/** `heldAt`: what the places hold that were given so far. */
export const itemPlaces = (heldAt: (at: number) => Held | undefined): Places => {
  /** The places of items by their ids, with the index they came with. */
  const byId = new Map<string, { at: number; index: number | undefined }>()
  /** Ids that name several items at once. */
  const shared = new Set<string>()
  /** For an index that several items came with, the place of the last. */
  const moved = new Map<number, number>()
  const announced = new Set<number>()
  /** The places of items in the order in which they came. */
  const given = new Set<number>()
  /** Whether the indexes of the stream are those of the whole answer, as far as is known. */
  let isCounted = true
  let latest = 0
  /** A place that is nobody's index. */
  let spare = -1

  const atIndex = (index: number | undefined): number => (index === undefined ? latest : (moved.get(index) ?? index))

  const another = (index: number | undefined): number => {
    const at = spare--
    isCounted = false
    if (index !== undefined) moved.set(index, at)
    return at
  }

  /** Some servers give every item the same id: an item that is done is not the one at another index. */
  const named = (id: string | undefined, index: number | undefined, isNew: boolean): number | undefined => {
    const place = id === undefined || shared.has(id) ? undefined : byId.get(id)
    if (place === undefined) return undefined
    const isThere = index === undefined || place.index === undefined || place.index === index
    return isThere || (!isNew && heldAt(place.at)?.isDone === false) ? place.at : undefined
  }

  /** Some servers give one item a new id in every event: only where it is announced, a new id means a new item. */
  const isTaken = (at: number, type: Json | undefined, kind: ItemKind): boolean => {
    const there = heldAt(at)
    if (there === undefined) return false
    if (there.kind !== 'opaque' && there.kind !== kind) return true
    if (type === ADDED) return there.isDone || announced.has(at)
    return type === DONE && there.isDone
  }

  const find = ({ type, output_index, item_id, item }: JsonObject): number => {
    const index = typeof output_index === 'number' ? output_index : undefined
    const id = isObject(item) ? idOf(item) : filledText(item_id)
    const known = named(id, index, type === ADDED)
    if (known !== undefined) return known
    const other = type === ADDED && id !== undefined ? byId.get(id) : undefined
    if (other !== undefined && id !== undefined && heldAt(other.at)?.isDone === false) shared.add(id)
    const at = atIndex(index)
    const kind = isObject(item) ? kindOf(item) : DELTAS.get(type)
    if (kind === undefined) return at
    if (id === undefined) {
      // Without an index of its own, it is the end of the item that is open.
      const open = heldAt(latest)
      return type === DONE && heldAt(at) === undefined && open?.kind === kind && !open.isDone ? latest : at
    }
    const taken = isTaken(at, type, kind)
    const place = taken ? another(index) : at
    if (isObject(item) || taken) byId.set(id, { at: place, index })
    return place
  }

  /** The places of items of each kind in their order, but for these. */
  const byKind = (others: ReadonlySet<number | undefined>): Map<ItemKind, number[]> => {
    const places = new Map<ItemKind, number[]>()
    for (const at of given) {
      const kind = heldAt(at)?.kind
      if (kind === undefined || others.has(at)) continue
      const all = places.get(kind)
      if (all === undefined) places.set(kind, [at])
      else all.push(at)
    }
    return places
  }

  return {
    of(event) {
      latest = find(event)
      if (event.type === ADDED) announced.add(latest)
      if (!isObject(event.item) && !DELTAS.has(event.type)) return latest
      given.add(latest)
      if (typeof event.output_index !== 'number') isCounted = false
      return latest
    },
    inOutput(output) {
      const ids = output.map((item) => (isObject(item) ? idOf(item) : undefined))
      const isUnique = new Set(ids).size === ids.length
      const known = ids.map((id, index) => (isUnique && id !== undefined ? byId.get(id)?.at : named(id, index, false)))
      const unnamed = isCounted ? undefined : byKind(new Set(known))
      return output.map((item, index) => {
        const kind = isObject(item) ? kindOf(item) : 'opaque'
        const place = known[index]
        if (place !== undefined) return place
        if (unnamed !== undefined) return unnamed.get(kind)?.shift() ?? another(undefined)
        const there = heldAt(index)
        const clashes = there !== undefined && there.kind !== 'opaque' && there.kind !== kind
        return clashes && ids[index] !== undefined ? another(undefined) : index
      })
    },
  }
}

const ADDED = 'response.output_item.added'
const DONE = 'response.output_item.done'

const DELTAS = new Map<Json | undefined, ItemKind>([
  ['response.output_text.delta', 'message'],
  ['response.refusal.delta', 'message'],
  ['response.reasoning_summary_text.delta', 'reasoning'],
  ['response.reasoning_text.delta', 'reasoning'],
])

const KINDS = new Map<Json | undefined, ItemKind>([
  ['message', 'message'],
  ['function_call', 'call'],
  ['custom_tool_call', 'call'],
  ['reasoning', 'reasoning'],
])

const kindOf = ({ type }: JsonObject): ItemKind => KINDS.get(type) ?? 'opaque'

/** Some servers give calls no id of their own. */
export const idOf = ({ id, call_id: callId }: JsonObject): string | undefined => filledText(id) ?? filledText(callId)
