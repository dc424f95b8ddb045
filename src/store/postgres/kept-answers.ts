// Kept answers in PostgreSQL: each is written by one statement, which locks the answer it goes on from, its conversation and then
// the totals, in one order on every node; of what was waited for the row as it is by then counts. What is forgotten is found no more at once, and removed in small steps with later writes.

import { ANSWER_BYTES, type AnswerStore, type Bounds, type NewAnswer, type Piece } from '../../ledger/kept-answers.ts'
import {
  ABANDONED_MS,
  type AnswerRow,
  FORGOTTEN_AT_ONCE,
  type FoundAnswer,
  foundIn,
  SWEPT,
  unnoted,
} from '../rows/kept-answers.ts'
import type { Client } from './client.ts'
import { troubleOf } from './trouble.ts'

/** What is kept survives a crash of this program at once, and one of PostgreSQL a moment later. */
const SOON = `set_config('synchronous_commit', 'off', true)`

/** The order of a part's pieces, after those that were written ahead. $1: the answer, $2: parts, $3: texts. */
const PIECES = `
  SELECT p.part, p.text,
    (SELECT coalesce(max(k.at) + 1, 0) FROM kept_pieces k WHERE k.answer = $1::bigint AND k.part = p.part)
      + row_number() OVER (PARTITION BY p.part ORDER BY p.number) - 1 AS at
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS p (part, text, number)`

/** $4: bytes, $5: now. */
const STAGE = `
  WITH soon AS (SELECT ${SOON}),
  made AS (
    INSERT INTO kept_answers (created_at, bytes) SELECT $5::bigint, $4::bigint FROM soon WHERE $1::bigint IS NULL RETURNING row),
  grown AS (UPDATE kept_answers SET bytes = bytes + $4::bigint WHERE row = $1::bigint RETURNING row),
  answer AS (SELECT row FROM made UNION ALL SELECT row FROM grown),
  pieces AS (${PIECES}),
  added AS (
    INSERT INTO kept_pieces (answer, part, at, text) SELECT answer.row, pieces.part, pieces.at, pieces.text FROM answer, pieces)
  SELECT row FROM answer`

/**
 * $1: what was staged, $4: bytes beside that, $5: now, $6: key, $7: id, $8: previous, $9: items, $10: it is said a second time, as
 * nothing was heard of the first.
 */
const KEEP = `
  WITH soon AS (
    SELECT ${SOON} WHERE NOT ($10::boolean AND EXISTS (SELECT FROM kept_answers WHERE id = $7::text AND key_id = $6::text))),
  earlier AS (
    SELECT c.row FROM kept_answers a JOIN kept_conversations c ON c.row = a.conversation
    WHERE a.id = $8::text AND a.key_id = $6::text AND c.key_id IS NOT NULL ORDER BY a.row DESC LIMIT 1 FOR UPDATE OF a, c),
  size AS (
    SELECT $4::bigint + coalesce((SELECT bytes FROM kept_answers WHERE row = $1::bigint), 0) AS bytes),
  fresh AS (
    INSERT INTO kept_conversations (key_id, used_at, bytes)
    SELECT $6::text, $5::bigint, size.bytes FROM soon, size WHERE $8::text IS NULL RETURNING row),
  used AS (
    UPDATE kept_conversations c SET bytes = c.bytes + size.bytes, used_at = greatest(c.used_at, $5::bigint)
    FROM earlier, size, soon WHERE c.row = earlier.row RETURNING c.row),
  conversation AS (SELECT row FROM fresh UNION ALL SELECT row FROM used),
  made AS (
    INSERT INTO kept_answers (conversation, key_id, id, previous, created_at, bytes)
    SELECT conversation.row, $6::text, $7::text, $8::text, $5::bigint, size.bytes FROM conversation, size
    WHERE $1::bigint IS NULL RETURNING row),
  completed AS (
    UPDATE kept_answers a
    SET conversation = conversation.row, key_id = $6::text, id = $7::text, previous = $8::text,
      created_at = $5::bigint, bytes = size.bytes
    FROM conversation, size WHERE a.row = $1::bigint RETURNING a.row),
  answer AS (SELECT row FROM made UNION ALL SELECT row FROM completed),
  pieces AS (${PIECES}),
  added AS (
    INSERT INTO kept_pieces (answer, part, at, text) SELECT answer.row, pieces.part, pieces.at, pieces.text FROM answer, pieces),
  items AS (
    INSERT INTO kept_items (id, key_id, answer) SELECT i.id, $6::text, answer.row FROM answer, unnest($9::text[]) AS i (id)
    ORDER BY 1 ON CONFLICT (id, key_id) DO UPDATE SET answer = excluded.answer)
  INSERT INTO kept_totals AS t (key_id, bytes)
  SELECT k.id, size.bytes FROM answer, size, unnest(ARRAY['', $6::text]) AS k (id) ORDER BY 1
  ON CONFLICT (key_id) DO UPDATE SET bytes = t.bytes + excluded.bytes RETURNING t.key_id AS "keyId", t.bytes`

/** Many at once, each a conversation of its own. $1: keys, $2: ids, $3: places, $4: tokens, $5: now, $6: bytes of each. */
const PLACE = `
  WITH soon AS (SELECT ${SOON}),
  told AS (
    SELECT p.key_id, p.id, p.place, p.tokens, row_number() OVER (PARTITION BY p.key_id ORDER BY p.number) AS nth
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS p (key_id, id, place, tokens, number)),
  fresh AS (
    INSERT INTO kept_conversations (key_id, used_at, bytes)
    SELECT told.key_id, $5::bigint, $6::bigint FROM soon, told RETURNING row, key_id),
  conversations AS (SELECT row, key_id, row_number() OVER (PARTITION BY key_id ORDER BY row) AS nth FROM fresh),
  answers AS (
    INSERT INTO kept_answers (conversation, key_id, id, place, tokens, created_at, bytes)
    SELECT c.row, told.key_id, told.id, told.place, told.tokens, $5::bigint, $6::bigint
    FROM told JOIN conversations c USING (key_id, nth) ORDER BY nth)
  INSERT INTO kept_totals AS t (key_id, bytes)
  SELECT k.id, count(*) * $6::bigint FROM told, unnest(ARRAY['', told.key_id]) AS k (id) GROUP BY 1 ORDER BY 1
  ON CONFLICT (key_id) DO UPDATE SET bytes = t.bytes + excluded.bytes RETURNING t.key_id AS "keyId", t.bytes`

/** Forgets a conversation, unless another node is doing so. Returns the totals that are left; none: there was none. */
const dropOf = (which: string): string => `
  WITH soon AS (SELECT ${SOON}),
  oldest AS (
    SELECT row, key_id, bytes FROM kept_conversations WHERE ${which} ORDER BY used_at LIMIT 1 FOR UPDATE SKIP LOCKED),
  hidden AS (UPDATE kept_conversations c SET key_id = NULL FROM oldest, soon WHERE c.row = oldest.row RETURNING c.row)
  INSERT INTO kept_totals AS t (key_id, bytes)
  SELECT k.id, -oldest.bytes FROM hidden JOIN oldest USING (row), unnest(ARRAY['', oldest.key_id]) AS k (id) ORDER BY 1
  ON CONFLICT (key_id) DO UPDATE SET bytes = t.bytes + excluded.bytes RETURNING t.key_id AS "keyId", t.bytes`
const DROP_OF_KEY = dropOf('key_id = $1')
const DROP_OF_ALL = dropOf('key_id IS NOT NULL')
const DROP_UNUSED = dropOf('key_id IS NOT NULL AND used_at < $1::bigint')

const FORGET = `
  WITH soon AS (SELECT ${SOON}),
  found AS (
    SELECT a.row, a.bytes, a.conversation FROM kept_answers a JOIN kept_conversations c ON c.row = a.conversation
    WHERE a.id = $2 AND a.key_id = $1 AND c.key_id IS NOT NULL ORDER BY a.row DESC LIMIT 1 FOR UPDATE OF a, c),
  apart AS (
    INSERT INTO kept_conversations (key_id, used_at, bytes) SELECT NULL, $3::bigint, bytes FROM found, soon RETURNING row),
  moved AS (UPDATE kept_answers a SET conversation = apart.row FROM found, apart WHERE a.row = found.row),
  less AS (
    UPDATE kept_conversations c SET bytes = c.bytes - found.bytes FROM found WHERE c.row = found.conversation RETURNING c.row)
  INSERT INTO kept_totals AS t (key_id, bytes)
  SELECT k.id, -found.bytes FROM found, less, unnest(ARRAY['', $1::text]) AS k (id) ORDER BY 1
  ON CONFLICT (key_id) DO UPDATE SET bytes = t.bytes + excluded.bytes RETURNING t.key_id`

/** Answers that nobody finds any more: of what was forgotten, and those never completed. $1: how many, $2: since when. */
const DOOMED = `
  doomed AS MATERIALIZED (
    (SELECT a.row FROM kept_conversations c JOIN kept_answers a ON a.conversation = c.row WHERE c.key_id IS NULL LIMIT $1)
    UNION ALL
    (SELECT row FROM kept_answers WHERE conversation IS NULL AND created_at < $2::bigint LIMIT $1))`
const SWEEP_PIECES = `
  WITH ${DOOMED}
  DELETE FROM kept_pieces WHERE ctid = ANY(ARRAY(
    SELECT p.ctid FROM kept_pieces p WHERE p.answer IN (SELECT row FROM doomed) LIMIT $1 FOR UPDATE SKIP LOCKED))
  RETURNING 1 AS one`
const SWEEP_ANSWERS = `
  WITH ${DOOMED},
  empty AS MATERIALIZED (
    SELECT a.row FROM kept_answers a WHERE a.row IN (SELECT row FROM doomed)
      AND NOT EXISTS (SELECT FROM kept_pieces p WHERE p.answer = a.row) LIMIT $1 FOR UPDATE SKIP LOCKED),
  items AS (DELETE FROM kept_items WHERE answer IN (SELECT row FROM empty))
  DELETE FROM kept_answers WHERE row IN (SELECT row FROM empty) RETURNING 1 AS one`
const SWEEP_CONVERSATIONS = `
  DELETE FROM kept_conversations WHERE row IN (
    SELECT c.row FROM kept_conversations c WHERE c.key_id IS NULL
      AND NOT EXISTS (SELECT FROM kept_answers a WHERE a.conversation = c.row) LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1 AS one`

const FOUND = `
  SELECT a.row, a.id, a.previous, a.place, a.tokens, a.conversation, c.used_at AS "usedAt"
  FROM kept_answers a JOIN kept_conversations c ON c.row = a.conversation`
const BY_ID = `${FOUND} WHERE a.id = $2 AND a.key_id = $1 AND c.key_id IS NOT NULL ORDER BY a.row DESC LIMIT 1`
/** Of one that comes back to itself each is there once. */
const CONVERSATION = `
  WITH RECURSIVE chain AS (
    (${BY_ID})
    UNION
    SELECT earlier.* FROM chain CROSS JOIN LATERAL (
      ${FOUND} WHERE a.id = chain.previous AND a.key_id = $1 AND c.key_id IS NOT NULL ORDER BY a.row DESC LIMIT 1) AS earlier)
  SELECT * FROM chain`
const BY_ITEMS = `
  ${FOUND} WHERE a.id IS NOT NULL AND c.key_id IS NOT NULL AND a.row IN (
    SELECT answer FROM kept_items WHERE id = ANY($2::text[]) AND key_id = $1) ORDER BY a.row`
/** $1: rows, $2: their parts, $3: from which of the first, $4: bytes. */
const READ = `
  SELECT nth - 1 AS nth, text FROM (
    SELECT nth, at, text, sum(bytes) OVER (ORDER BY nth, at) - bytes AS before FROM (
      SELECT w.nth, p.at, p.text, octet_length(p.text) AS bytes
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (row, part, nth)
      JOIN kept_pieces p ON p.answer = w.row AND p.part = w.part
      WHERE w.nth > 1 OR p.at >= $3) AS due) AS near
  WHERE before < $4 ORDER BY near.nth, near.at`
const USED = `
  UPDATE kept_conversations SET used_at = greatest(used_at, $2::bigint)
  WHERE row IN (SELECT row FROM kept_conversations WHERE row = ANY($1::bigint[]) ORDER BY row FOR UPDATE)`
const REVOKED = `
  SELECT t.key_id AS "keyId" FROM kept_totals t JOIN keys k ON k.id = t.key_id
  WHERE k.revoked_at IS NOT NULL AND t.bytes > 0 LIMIT 1`
const FULL = `SELECT key_id AS "keyId" FROM kept_totals WHERE key_id <> '' AND bytes > $1 LIMIT 1`
const TOTALS = 'SELECT key_id AS "keyId", bytes FROM kept_totals WHERE key_id = ANY($1::text[])'

type Total = { keyId: string; bytes: number }

/** Debts are paid together. */
const PAID_AT = 32

/** `clock`: milliseconds since the epoch, by the database. */
export const createKeptAnswers = ({ query }: Pick<Client, 'query'>, clock: () => number): AnswerStore => {
  let owed = 0
  const rows = (text: string, values: readonly unknown[]): Promise<Total[]> => query<Total>(text, values)
  const found = async (text: string, values: readonly unknown[]): Promise<FoundAnswer[]> =>
    (await query<AnswerRow>(text, values)).map(foundIn)
  const piecesOf = (pieces: readonly Piece[]) => ({
    parts: pieces.map(({ part }) => part),
    texts: pieces.map(({ text }) => text),
    bytes: pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  })
  const sweep = async (most: number): Promise<number> => {
    const since = clock() - ABANDONED_MS
    const pieces = (await query(SWEEP_PIECES, [most, since])).length
    if (pieces >= most) return pieces
    const answers = (await query(SWEEP_ANSWERS, [most - pieces, since])).length
    const left = most - pieces - answers
    return pieces + answers + (left > 0 ? (await query(SWEEP_CONVERSATIONS, [left])).length : 0)
  }
  /** Forgets what is past the bounds, oldest first: so many conversations at most. Returns the totals that are left. */
  const bound = async (
    keyId: string,
    known: readonly Total[],
    { perKey, total }: Bounds,
  ): Promise<readonly Total[]> => {
    let totals = known
    for (let dropped = 0; dropped < FORGOTTEN_AT_ONCE; dropped++) {
      const bytesOf = (id: string): number => totals.find((each) => each.keyId === id)?.bytes ?? 0
      const isKeyFull = bytesOf(keyId) > perKey
      if (!isKeyFull && bytesOf('') <= total) return totals
      const left = await rows(isKeyFull ? DROP_OF_KEY : DROP_OF_ALL, isKeyFull ? [keyId] : [])
      if (left.length === 0) return totals
      totals = [...left, ...totals.filter((each) => !left.some((other) => other.keyId === each.keyId))]
    }
    return totals
  }
  const owe = async (more: number): Promise<void> => {
    owed += more
    if (owed < PAID_AT) return
    const due = owed
    owed = 0
    await sweep(due)
  }
  const keep = async (
    { keyId, id, previous, items }: NewAnswer,
    pieces: readonly Piece[],
    bounds: Bounds,
    staged?: number,
  ): Promise<boolean> => {
    const { parts, texts, bytes } = piecesOf(pieces)
    const told = [keyId, id, previous ?? null, [...new Set(items)]]
    const written = [staged ?? null, parts, texts, bytes + ANSWER_BYTES, clock(), ...told]
    const totals = await rows(KEEP, [...written, false]).catch(async (cause) => {
      if (troubleOf(cause) !== 'unknown') throw cause
      const again = await query<Total>(KEEP, [...written, true], { isRepeatable: true })
      // Nothing is told of it where the first was carried out after all.
      const isThere = again.length === 0 && (await found(BY_ID, [keyId, id])).length > 0
      return isThere ? rows(TOTALS, [['', keyId]]) : again
    })
    if (totals.length === 0) return false
    await bound(keyId, totals, bounds)
    await owe(pieces.length + SWEPT)
    return true
  }

  return {
    async stage(staged, pieces) {
      const { parts, texts, bytes } = piecesOf(pieces)
      const [made] = await query<{ row: number }>(STAGE, [staged ?? null, parts, texts, bytes, clock()])
      if (made === undefined) throw new Error('the database returned no row')
      return made.row
    },
    keep: (answer, pieces, bounds, staged) => keep(answer, pieces, bounds, staged),
    async place(places, bounds) {
      const keys = places.map(({ keyId }) => keyId)
      const told = [places.map(({ id }) => id), places.map(({ account }) => account)]
      const tokens = places.map((place) => place.tokens ?? null)
      let totals: readonly Total[] = await rows(PLACE, [keys, ...told, tokens, clock(), ANSWER_BYTES])
      for (const keyId of new Set(keys)) totals = await bound(keyId, totals, bounds)
      await owe(places.length * SWEPT)
    },
    find: async (keyId, id) => (await found(BY_ID, [keyId, id]))[0],
    conversation: (keyId, id) => found(CONVERSATION, [keyId, id]),
    withItems: (keyId, itemIds) => found(BY_ITEMS, [keyId, itemIds]),
    read: (parts, from, bytes) =>
      query(READ, [parts.map(({ row }) => row), parts.map(({ part }) => part), from, bytes]),
    async use(answers) {
      const now = clock()
      const due = unnoted(answers, now)
      if (due.length > 0) await query(USED, [due, now])
    },
    forget: async (keyId, id) => (await query(FORGET, [keyId, id, clock()])).length > 0,
    sweep,
    async prune(beforeMs, bounds, most) {
      for (let dropped = 0; dropped < most; dropped++) {
        const [revoked] = await query<{ keyId: string }>(REVOKED)
        let gone = await (revoked === undefined ? rows(DROP_UNUSED, [beforeMs]) : rows(DROP_OF_KEY, [revoked.keyId]))
        if (gone.length === 0 && revoked === undefined) {
          const [full] = await query<{ keyId: string }>(FULL, [bounds.perKey])
          const [all] = await rows(TOTALS, [['']])
          if (full !== undefined) gone = await rows(DROP_OF_KEY, [full.keyId])
          else if ((all?.bytes ?? 0) > bounds.total) gone = await rows(DROP_OF_ALL, [])
        }
        if (gone.length === 0) return dropped
      }
      return most
    },
  }
}
