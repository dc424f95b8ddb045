// Readings in PostgreSQL: each as of one moment, though nodes write on between its statements.

import { type Ask, type Reading, readInTurn, type Words } from '../reading/ask.ts'
import type { Client, Queries } from './client.ts'

/** Arrays as JSON: an array of the client's would be written differently with each driver and server. */
export const textsIn = (value: string): string => `ARRAY(SELECT jsonb_array_elements_text(${value}::text::jsonb))`
export const numbersIn = (value: string): string =>
  `ARRAY(SELECT jsonb_array_elements_text(${value}::text::jsonb)::bigint)`

export const WORDS: Words = {
  amongTexts: (column) => `${column} = ANY(${textsIn('?')})`,
  amongNumbers: (column) => `${column} = ANY(${numbersIn('?')})`,
  byBytes: (column) => `${column} COLLATE "C"`,
}

export const asked = (db: Pick<Client, 'query'>, { text, values }: Ask): Promise<unknown[]> => {
  let n = 0
  return db.query(
    text.replaceAll('?', () => `$${++n}`),
    values,
  )
}

export const readAsOfNow = <T>(db: Pick<Client, 'begin'>, reading: () => Reading<T>): Promise<T> =>
  db.begin((tx: Queries) => readInTurn(reading(), (ask) => asked(tx, ask)), {
    ...{ level: 'REPEATABLE READ, READ ONLY', isRepeatable: true },
  })
