// Kept answers in SQLite. What is forgotten is found no more at once, and removed in small steps with later writes.

import type { Database } from 'bun:sqlite'
import {
  ANSWER_BYTES,
  type AnswerStore,
  type Bounds,
  type Part,
  type Piece,
  type Written,
} from '../../ledger/kept-answers.ts'
import { ABANDONED_MS, type AnswerRow, FORGOTTEN_AT_ONCE, foundIn, SWEPT, unnoted } from '../rows/kept-answers.ts'
import type { AtOnce } from './patient.ts'

const FOUND = `
  SELECT a.row, a.id, a.previous, a.place, a.tokens, a.conversation, c.used_at AS usedAt
  FROM kept_answers a JOIN kept_conversations c ON c.row = a.conversation`
/** ?1: the id, ?2: the key. Of one that comes back to itself each is there once. */
const CONVERSATION = `
  WITH RECURSIVE chain (row, previous) AS (
    SELECT row, previous FROM (
      SELECT a.row, a.previous FROM kept_answers a JOIN kept_conversations c ON c.row = a.conversation
      WHERE a.id = ?1 AND a.key_id = ?2 AND c.key_id IS NOT NULL ORDER BY a.row DESC LIMIT 1)
    UNION
    SELECT a.row, a.previous FROM chain JOIN kept_answers a ON a.row = (
      SELECT max(b.row) FROM kept_answers b JOIN kept_conversations c ON c.row = b.conversation
      WHERE b.id = chain.previous AND b.key_id = ?2 AND c.key_id IS NOT NULL))
  ${FOUND} WHERE a.row IN (SELECT row FROM chain)`
const NEW_CONVERSATION = 'INSERT INTO kept_conversations (key_id, used_at) VALUES (?, ?) RETURNING row'
const NEW_ANSWER = 'INSERT INTO kept_answers (created_at) VALUES (?) RETURNING row'
const ADD_PIECE = 'INSERT INTO kept_pieces (answer, part, at, text) VALUES (?, ?, ?, ?)'
const NEXT_PIECE = 'SELECT coalesce(max(at) + 1, 0) AS at FROM kept_pieces WHERE answer = ? AND part = ?'
const GROW = 'UPDATE kept_answers SET bytes = bytes + ? WHERE row = ? RETURNING bytes'
const COMPLETE = `
  UPDATE kept_answers SET conversation = ?, key_id = ?, id = ?, previous = ?, place = ?, tokens = ?, created_at = ?
  WHERE row = ?`
const ADD_ITEM = 'INSERT OR REPLACE INTO kept_items (id, key_id, answer) VALUES (?, ?, ?)'
const USED = 'UPDATE kept_conversations SET bytes = bytes + ?, used_at = max(used_at, ?) WHERE row = ?'
const ADD_TOTAL = `
  INSERT INTO kept_totals (key_id, bytes) VALUES (?, ?) ON CONFLICT (key_id) DO UPDATE SET bytes = bytes + excluded.bytes`
const OLDEST = 'SELECT row, key_id AS keyId, bytes FROM kept_conversations'

type Conversation = { row: number; keyId: string; bytes: number }

/** `write` runs a transaction; `wrote` is told of how many records. */
export const createKeptAnswers = (
  db: Database,
  write: <T>(change: () => T) => T,
  clock: () => number,
  wrote: (records: number) => void,
): AtOnce<AnswerStore> => {
  const byId = db.query<AnswerRow, [string, string]>(
    `${FOUND} WHERE a.id = ? AND a.key_id = ? AND c.key_id IS NOT NULL ORDER BY a.row DESC LIMIT 1`,
  )
  const conversation = db.query<AnswerRow, [string, string]>(CONVERSATION)
  const byItems = db.query<AnswerRow, [string, string]>(
    `${FOUND} WHERE a.id IS NOT NULL AND c.key_id IS NOT NULL AND a.row IN (
       SELECT answer FROM kept_items WHERE id IN (SELECT value FROM json_each(?)) AND key_id = ?) ORDER BY a.row`,
  )
  const newConversation = db.query<{ row: number }, [string, number]>(NEW_CONVERSATION)
  const newAnswer = db.query<{ row: number }, [number]>(NEW_ANSWER)
  const addPiece = db.query<null, [number, Part, number, string]>(ADD_PIECE)
  const nextPiece = db.query<{ at: number }, [number, Part]>(NEXT_PIECE)
  const grow = db.query<{ bytes: number }, [number, number]>(GROW)
  const complete = db.query<
    null,
    [number, string, string, string | null, string | null, number | null, number, number]
  >(COMPLETE)
  const addItem = db.query<null, [string, string, number]>(ADD_ITEM)
  const used = db.query<null, [number, number, number]>(USED)
  const addTotal = db.query<null, [string, number]>(ADD_TOTAL)
  const total = db.query<{ bytes: number }, [string]>('SELECT bytes FROM kept_totals WHERE key_id = ?')
  const oldestOf = db.query<Conversation, [string]>(`${OLDEST} WHERE key_id = ? ORDER BY used_at LIMIT 1`)
  const oldest = db.query<Conversation, []>(`${OLDEST} WHERE key_id IS NOT NULL ORDER BY used_at LIMIT 1`)
  const hide = db.query<null, [number]>('UPDATE kept_conversations SET key_id = NULL WHERE row = ?')
  const piecesOf = db.query<{ text: string }, [number, Part, number]>(
    'SELECT text FROM kept_pieces WHERE answer = ? AND part = ? AND at >= ? ORDER BY at',
  )

  const countBytes = (keyId: string, bytes: number): void => {
    addTotal.run(keyId, bytes)
    addTotal.run('', bytes)
  }

  /** Returns how many bytes they are. */
  const addPieces = (row: number, pieces: readonly Piece[]): number => {
    const next = new Map<Part, number>()
    let bytes = 0
    for (const { part, text } of pieces) {
      const at = next.get(part) ?? nextPiece.get(row, part)?.at ?? 0
      addPiece.run(row, part, at, text)
      next.set(part, at + 1)
      bytes += Buffer.byteLength(text)
    }
    return bytes
  }

  const drop = ({ row, keyId, bytes }: Conversation): void => {
    hide.run(row)
    countBytes(keyId, -bytes)
  }

  const overTotal = ({ total: most }: Bounds): Conversation | null =>
    (total.get('')?.bytes ?? 0) > most ? oldest.get() : null

  const overKey = ({ perKey }: Bounds, keyId: string): Conversation | null =>
    (total.get(keyId)?.bytes ?? 0) > perKey ? oldestOf.get(keyId) : null

  /** Forgets one after the other, so many at most. Returns how many. */
  const dropWhile = (next: () => Conversation | null, most: number): number => {
    for (let dropped = 0; dropped < most; dropped++) {
      const conversation = next()
      if (conversation === null) return dropped
      drop(conversation)
    }
    return most
  }

  const hidden = db.query<{ row: number }, []>('SELECT row FROM kept_conversations WHERE key_id IS NULL LIMIT 1')
  const answerIn = db.query<{ row: number }, [number]>('SELECT row FROM kept_answers WHERE conversation = ? LIMIT 1')
  const abandoned = db.query<{ row: number }, [number]>(
    'SELECT row FROM kept_answers WHERE conversation IS NULL AND created_at < ? LIMIT 1',
  )
  const removeConversation = db.query<null, [number]>('DELETE FROM kept_conversations WHERE row = ?')
  const removePieces = db.query<{ at: number }, [number, number]>(
    `DELETE FROM kept_pieces WHERE rowid IN (SELECT rowid FROM kept_pieces WHERE answer = ? LIMIT ?) RETURNING at`,
  )
  const removeItems = db.query<null, [number]>('DELETE FROM kept_items WHERE answer = ?')
  const removeAnswer = db.query<null, [number]>('DELETE FROM kept_answers WHERE row = ?')

  /** Removes one thing that was forgotten. Returns the pieces it was, 0 where nothing is left. */
  const sweepOne = (most: number): number => {
    const conversation = hidden.get()?.row
    const row =
      conversation === undefined ? abandoned.get(clock() - ABANDONED_MS)?.row : answerIn.get(conversation)?.row
    if (row === undefined) {
      if (conversation === undefined) return 0
      removeConversation.run(conversation)
      return 1
    }
    const removed = removePieces.all(row, most).length
    if (removed === most) return removed
    removeItems.run(row)
    removeAnswer.run(row)
    return removed + 1
  }

  const sweep = (most: number): number => {
    let swept = 0
    while (swept < most) {
      const removed = sweepOne(most - swept)
      if (removed === 0) break
      swept += removed
    }
    return swept
  }

  const revoked = db.query<{ keyId: string }, []>(
    `SELECT t.key_id AS keyId FROM kept_totals t JOIN keys k ON k.id = t.key_id
     WHERE k.revoked_at IS NOT NULL AND t.bytes > 0 LIMIT 1`,
  )
  const unused = db.query<Conversation, [number]>(
    `${OLDEST} WHERE key_id IS NOT NULL AND used_at < ? ORDER BY used_at LIMIT 1`,
  )
  const full = db.query<{ keyId: string }, [number]>(
    `SELECT key_id AS keyId FROM kept_totals WHERE key_id <> '' AND bytes > ? LIMIT 1`,
  )
  const overfull = (bounds: Bounds): Conversation | null => {
    const keyId = full.get(bounds.perKey)?.keyId
    return keyId === undefined ? overTotal(bounds) : oldestOf.get(keyId)
  }

  const keep = (
    { keyId, id, previous, items, place, tokens }: Written,
    pieces: readonly Piece[],
    bounds: Bounds,
    staged?: number,
  ): boolean => {
    const continued = previous === undefined ? undefined : byId.get(previous, keyId)?.conversation
    if (previous !== undefined && continued === undefined) return false
    const now = clock()
    const conversation = continued ?? rowOf(newConversation.get(keyId, now))
    const row = staged ?? rowOf(newAnswer.get(now))
    const added = addPieces(row, pieces) + ANSWER_BYTES
    const bytes = grow.get(added, row)?.bytes ?? added
    complete.run(conversation, keyId, id, previous ?? null, place ?? null, tokens ?? null, now, row)
    for (const item of items) addItem.run(item, keyId, row)
    used.run(bytes, now, conversation)
    countBytes(keyId, bytes)
    dropWhile(() => overKey(bounds, keyId) ?? overTotal(bounds), FORGOTTEN_AT_ONCE)
    sweep(pieces.length + SWEPT)
    wrote(recordsIn(added) + items.length)
    return true
  }

  return {
    stage: (staged, pieces) =>
      write(() => {
        const row = staged ?? rowOf(newAnswer.get(clock()))
        const bytes = addPieces(row, pieces)
        grow.get(bytes, row)
        sweep(pieces.length + SWEPT)
        wrote(recordsIn(bytes))
        return row
      }),
    keep: (answer, pieces, bounds, staged) => write(() => keep(answer, pieces, bounds, staged)),
    place: (places, bounds) =>
      write(() => {
        for (const { keyId, id, account, tokens } of places)
          keep({ keyId, id, items: [], place: account, tokens }, [], bounds)
      }),
    find(keyId, id) {
      const row = byId.get(id, keyId)
      return row === null ? undefined : foundIn(row)
    },
    conversation: (keyId, id) => conversation.all(id, keyId).map(foundIn),
    withItems: (keyId, itemIds) => byItems.all(JSON.stringify(itemIds), keyId).map(foundIn),
    read(parts, from, bytes) {
      const read: { nth: number; text: string }[] = []
      let sum = 0
      for (const [nth, { row, part }] of parts.entries()) {
        for (const { text } of piecesOf.iterate(row, part, nth === 0 ? from : 0)) {
          read.push({ nth, text })
          sum += Buffer.byteLength(text)
          if (sum >= bytes) return read
        }
      }
      return read
    },
    use(answers) {
      const now = clock()
      const due = unnoted(answers, now)
      if (due.length === 0) return
      write(() => {
        for (const conversation of due) used.run(0, now, conversation)
      })
    },
    forget: (keyId, id) =>
      write(() => {
        const found = byId.get(id, keyId)
        if (found === null) return false
        const apart = rowOf(newConversation.get(keyId, clock()))
        const bytes = grow.get(0, found.row)?.bytes ?? 0
        db.query('UPDATE kept_answers SET conversation = ? WHERE row = ?').run(apart, found.row)
        used.run(-bytes, 0, found.conversation)
        drop({ row: apart, keyId, bytes })
        return true
      }),
    sweep: (most) => write(() => sweep(most)),
    prune: (beforeMs, bounds, most) =>
      write(() =>
        dropWhile(() => {
          const keyId = revoked.get()?.keyId
          return keyId === undefined ? (unused.get(beforeMs) ?? overfull(bounds)) : oldestOf.get(keyId)
        }, most),
      ),
  }
}

/** About so many records as the log counts them. */
const recordsIn = (bytes: number): number => Math.ceil(bytes / 1024) + 4

const rowOf = (made: { row: number } | null): number => {
  if (made === null) throw new Error('the database returned no row')
  return made.row
}
