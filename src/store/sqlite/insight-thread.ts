// The thread that answers the dashboard's queries on a large database.

import { Database } from 'bun:sqlite'
import { calendarOf, UTC } from '../../lib/calendar.ts'
import { answerAsks } from '../../lib/thread.ts'
import { PATIENCE_MS } from '../patience.ts'
import type { AnswerOf, QueryOf } from '../reading/sums.ts'
import { answerBeside } from './insight.ts'

export type InsightAsk<N extends keyof QueryOf = keyof QueryOf> = {
  path: string
  zone: string
  name: N
  query: QueryOf[N]
}

let calendar = UTC

answerAsks(({ path, zone, name, query }: InsightAsk): AnswerOf[keyof QueryOf] => {
  if (calendar.zone !== zone) calendar = calendarOf(zone) ?? UTC
  const db = new Database(path, { readonly: true })
  try {
    db.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
    return answerBeside(db, name, query, calendar)
  } finally {
    db.close(true)
  }
})
