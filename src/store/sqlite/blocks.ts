// Blocks of exchanges: lists of the keys, and of the models, that have rows in one. They stand in for indexes, which would cost
// a page of the log for every exchange.

import type { Database } from 'bun:sqlite'
import { BLOCK_ROWS, MODEL_BLOCK_ROWS } from './schema.ts'

type List = { table: string; of: string; rows: number }

export const KEYS: List = { table: 'exchange_blocks', of: 'key_id', rows: BLOCK_ROWS }
export const MODELS: List = { table: 'exchange_models', of: 'model', rows: MODEL_BLOCK_ROWS }

/** For a database whose exchanges came all at once. */
export const LIST_ALL = [KEYS, MODELS].map(
  ({ table, of, rows }) =>
    `INSERT INTO ${table} (block, ${of}) SELECT DISTINCT row / ${rows}, ${of} FROM exchanges ORDER BY 1, 2`,
)

/** How many blocks have their lists cached: exchanges end nearly in the order they began. */
const RECENT = 32

export const createList = (db: Database, { table, of, rows }: List) => {
  const add = db.query(`INSERT OR IGNORE INTO ${table} (block, ${of}) VALUES (?, ?)`)
  const recent = new Map<number, Set<string>>()
  return {
    note(row: number, name: string): void {
      const block = Math.floor(row / rows)
      let names = recent.get(block)
      if (names?.has(name)) return
      if (names === undefined) {
        if (recent.size >= RECENT) recent.clear()
        names = new Set()
        recent.set(block, names)
      }
      add.run(block, name)
      names.add(name)
    },
    /** What was added last has been rolled back. */
    forget: () => recent.clear(),
  }
}

/** From block `last` down to block `lowest`, so many at most. */
type Down = { last: number; lowest: number; most: number }

/** The blocks that list one of the keys, or any key. */
export const blocksOfKeys = (db: Database, keyIds: readonly string[], { last, lowest, most }: Down): number[] =>
  db
    .query<{ block: number }, [number, number, string, number]>(
      `WITH RECURSIVE blocks(block) AS (SELECT ? UNION ALL SELECT block - 1 FROM blocks WHERE block > ?)
       SELECT block FROM blocks WHERE EXISTS (SELECT 1 FROM exchange_blocks AS noted
         WHERE noted.block = blocks.block AND noted.key_id IN (SELECT value FROM json_each(?))) LIMIT ?`,
    )
    .all(last, lowest, JSON.stringify([...keyIds, '']), most)
    .map(({ block }) => block)

export const blocksOfModel = (db: Database, model: string, { last, lowest, most }: Down): number[] =>
  db
    .query<{ block: number }, [string, number, number, number]>(
      'SELECT block FROM exchange_models WHERE model = ? AND block <= ? AND block >= ? ORDER BY block DESC LIMIT ?',
    )
    .all(model, last, lowest, most)
    .map(({ block }) => block)
