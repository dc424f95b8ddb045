// Answers the dashboard's queries where they hold nobody up: on a small database at once, on a large one in a thread.

import type { Calendar } from '../../lib/calendar.ts'
import { createThread } from '../../lib/thread.ts'
import type { Insight } from '../insight.ts'
import type { AnswerOf, QueryOf } from '../reading/sums.ts'
import { answer, type InsightQueries } from './insight.ts'
import type { InsightAsk } from './insight-thread.ts'

type InsightBeside = Insight & { stop(): void }

type Options = {
  /** On the server's connection. */
  own: InsightQueries
  path: string
  calendar: Calendar
  /** Whether the database is, and `path` leads to it. */
  isLarge(): boolean
  /** Writes what is waiting, so that a query finds it. */
  settle(): void
}

export const createInsight = ({ own, path, calendar, isLarge, settle }: Options): InsightBeside => {
  const thread = createThread<InsightAsk, AnswerOf[keyof AnswerOf]>('store/sqlite/insight-thread.ts')
  const asked =
    <N extends keyof QueryOf>(name: N) =>
    async (query: QueryOf[N]): Promise<AnswerOf[N]> => {
      settle()
      if (!isLarge()) return answer(own, name, query)
      try {
        return (await thread.ask({ path, zone: calendar.zone, name, query })) as AnswerOf[N]
      } catch {
        // A thread that cannot run, or a fault that the server's own connection will meet and name.
        return answer(own, name, query)
      }
    }
  return {
    series: asked('series'),
    shares: asked('shares'),
    usage: asked('usage'),
    topKeys: asked('topKeys'),
    hoursKept: asked('hoursKept'),
    exchangePage: asked('exchangePage'),
    latencies: asked('latencies'),
    refused: asked('refused'),
    unfinished: asked('unfinished'),
    lately: asked('lately'),
    stop: thread.stop,
  }
}
