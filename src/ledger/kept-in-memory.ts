// Kept answers in memory, where none are to be written: gone with the process.

import {
  ANSWER_BYTES,
  type AnswerStore,
  type Bounds,
  type KeptAnswer,
  type Piece,
  type Written,
} from './kept-answers.ts'

type Held = KeptAnswer & {
  keyId: string
  items: readonly string[]
  pieces: readonly Piece[]
  conversation: Conversation
}
type Conversation = { keyId: string; answers: Set<Held>; bytes: number }

/** `forgetAll`: of a key. */
export const createAnswersInMemory = (): AnswerStore & { forgetAll(keyId: string): void } => {
  const answers = new Map<string, Held>()
  const items = new Map<string, Held>()
  const byRow = new Map<number, readonly Piece[]>()
  /** Least recently used first. */
  const conversations = new Set<Conversation>()
  const totals = new Map<string, number>()
  let total = 0
  let rows = 0

  const named = (keyId: string, id: string): string => `${keyId} ${id}`

  const count = (conversation: Conversation, bytes: number): void => {
    conversation.bytes += bytes
    total += bytes
    const left = (totals.get(conversation.keyId) ?? 0) + bytes
    if (left === 0) totals.delete(conversation.keyId)
    else totals.set(conversation.keyId, left)
  }

  const remove = (held: Held): void => {
    const { keyId, id, row, conversation, pieces } = held
    if (answers.get(named(keyId, id)) === held) answers.delete(named(keyId, id))
    for (const item of held.items) if (items.get(named(keyId, item)) === held) items.delete(named(keyId, item))
    byRow.delete(row)
    conversation.answers.delete(held)
    count(conversation, -bytesOf(pieces))
    if (conversation.answers.size === 0) conversations.delete(conversation)
  }

  const useNow = (conversation: Conversation): void => {
    conversations.delete(conversation)
    conversations.add(conversation)
  }

  const firstWhere = (is: (one: Conversation) => boolean): Conversation | undefined => {
    for (const each of conversations) if (is(each)) return each
    return undefined
  }

  const keepWithin = ({ perKey, total: most }: Bounds, keyId: string): void => {
    for (;;) {
      const isFull = (totals.get(keyId) ?? 0) > perKey
      if (!isFull && total <= most) return
      const oldest = firstWhere((one) => !isFull || one.keyId === keyId)
      if (oldest === undefined) return
      for (const each of oldest.answers) remove(each)
    }
  }

  const keep = (answer: Written, pieces: readonly Piece[], bounds: Bounds): boolean => {
    const { keyId, id, previous, place, tokens } = answer
    const continued = previous === undefined ? undefined : answers.get(named(keyId, previous))?.conversation
    if (previous !== undefined && continued === undefined) return false
    const conversation = continued ?? { keyId, answers: new Set(), bytes: 0 }
    const row = ++rows
    const held: Held = { row, id, previous, place, tokens, keyId, items: answer.items, pieces, conversation }
    byRow.set(row, pieces)
    conversation.answers.add(held)
    useNow(conversation)
    count(conversation, bytesOf(pieces))
    answers.set(named(keyId, id), held)
    for (const item of answer.items) items.set(named(keyId, item), held)
    keepWithin(bounds, keyId)
    return true
  }

  return {
    keep: async (answer, pieces, bounds) => keep(answer, pieces, bounds),
    async place(places, bounds) {
      for (const { keyId, id, account, tokens } of places)
        keep({ keyId, id, items: [], place: account, tokens }, [], bounds)
    },
    find: async (keyId, id) => answers.get(named(keyId, id)),
    async conversation(keyId, id) {
      const found = new Set<Held>()
      for (let at: string | undefined = id; at !== undefined; ) {
        const held: Held | undefined = answers.get(named(keyId, at))
        at = held === undefined || found.has(held) ? undefined : held.previous
        if (held !== undefined) found.add(held)
      }
      return [...found]
    },
    async withItems(keyId, itemIds) {
      const found = new Set(itemIds.flatMap((id) => items.get(named(keyId, id)) ?? []))
      return [...found].sort((a, b) => a.row - b.row)
    },
    async read(parts, from, bytes) {
      const pieces = parts.flatMap(({ row, part }, nth) =>
        (byRow.get(row) ?? []).filter((piece) => piece.part === part).map(({ text }) => ({ nth, text })),
      )
      let sum = 0
      return pieces.slice(from).filter(({ text }) => {
        const isWithin = sum < bytes
        sum += Buffer.byteLength(text)
        return isWithin
      })
    },
    async use(used) {
      for (const answer of used) useNow((answer as Held).conversation)
    },
    async forget(keyId, id) {
      const held = answers.get(named(keyId, id))
      if (held !== undefined) remove(held)
      return held !== undefined
    },
    forgetAll(keyId) {
      for (const conversation of conversations)
        if (conversation.keyId === keyId) for (const each of conversation.answers) remove(each)
    },
    sweep: async () => 0,
    prune: async () => 0,
  }
}

const bytesOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), ANSWER_BYTES)
