// The thread that answers the dashboard's queries on a large database.

import { Database } from 'bun:sqlite'
import { answerAsks } from '../../lib/thread.ts'
import { PATIENCE_MS } from '../patience.ts'
import { type AnswerOf, answerBeside, type QueryOf } from './insight.ts'

export type InsightAsk<N extends keyof QueryOf = keyof QueryOf> = { path: string; name: N; query: QueryOf[N] }

answerAsks(({ path, name, query }: InsightAsk): AnswerOf[keyof QueryOf] => {
  const db = new Database(path, { readonly: true })
  try {
    db.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
    return answerBeside(db, name, query)
  } finally {
    db.close(true)
  }
})
