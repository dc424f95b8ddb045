// Refusals in SQLite: rows and counts in one transaction, the rows bounded for each key.

import type { Database } from 'bun:sqlite'
import { ALL_KEYS, KEPT_OF_KEY, type RefusalStore } from '../refusals.ts'
import { toStoreError } from './check.ts'
import type { AtOnce } from './patient.ts'

const ADD = `
  INSERT INTO refusals (row, id, key_id, at, wire, path, model, status, error_code, failed, told, address, tag)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const BOUND = `
  DELETE FROM refusals WHERE key_id = ?1
    AND row <= (SELECT row FROM refusals WHERE key_id = ?1 ORDER BY row DESC LIMIT 1 OFFSET ${KEPT_OF_KEY})`
const COUNT = `
  INSERT INTO refused_hours (key_id, hour, code, count) VALUES (?, ?, ?, ?)
  ON CONFLICT (key_id, hour, code) DO UPDATE SET count = count + excluded.count`

/** `nextRow`: of the series that exchanges have their rows from. `wrote`: told how many records were written. */
export const createRefusals = (
  db: Database,
  path: string,
  nextRow: () => number,
  wrote: (records: number) => void,
): AtOnce<RefusalStore> => {
  const add = db.query(ADD)
  const bound = db.query(BOUND)
  const addCount = db.query(COUNT)
  const writeAll: AtOnce<RefusalStore>['write'] = ({ refusals, counts }) => {
    for (const each of refusals) {
      const { id, keyId, at, wire, path, model, status, code, failed, told, address, tag } = each
      const known = [model ?? null, status, code, failed, told, address ?? null, tag ?? null]
      add.run(nextRow(), id, keyId, at, wire, path, ...known)
    }
    for (const keyId of new Set(refusals.map((refusal) => refusal.keyId))) bound.run(keyId)
    const all = new Map<string, { hour: number; code: string; count: number }>()
    for (const { keyId, hour, code, count } of counts) {
      addCount.run(keyId, hour, code, count)
      const name = `${hour} ${code}`
      all.set(name, { hour, code, count: count + (all.get(name)?.count ?? 0) })
    }
    for (const { hour, code, count } of all.values()) addCount.run(ALL_KEYS, hour, code, count)
  }
  const transaction = db.transaction(writeAll)
  return {
    write(group) {
      try {
        transaction.immediate(group)
      } catch (cause) {
        throw toStoreError(path, cause)
      }
      wrote(group.refusals.length + group.counts.length)
    },
  }
}
