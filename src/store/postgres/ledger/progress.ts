// How far exchanges are that go on, and what they have given back of what they hold.

import { toCount, wholeCounts } from '../../../ledger/figures.ts'
import type { SoFar } from '../../../ledger/journal.ts'
import { mostOfAny } from '../../../ledger/settled.ts'
import type { AskOf, Verdict } from '../../../ledger/shared.ts'
import { toolsOf } from '../../exchange-texts.ts'
import type { Holding } from './held.ts'
import type { Terms } from './options.ts'
import { jsonOf } from './rows.ts'

export const createProgress = ({ say, node }: Terms, { running }: Holding) => ({
  async narrow(asks: readonly AskOf<'narrow'>[]): Promise<Verdict[]> {
    const known = asks.flatMap(({ id, tokens }) => {
      const held = running.get(id)
      if (held === undefined) return []
      const most = mostOfAny({ per: held.per, inputEstimate: held.open.inputEstimate }, tokens)
      return [{ id, tokens: toCount(tokens), microUsd: Math.min(held.open.reservedMicroUsd, most) }]
    })
    if (known.length > 0)
      await say('SELECT sluice_narrow($1::text[], $2::bigint[], $3::bigint[])', [
        known.map(({ id }) => id),
        known.map(({ tokens }) => tokens),
        known.map(({ microUsd }) => microUsd),
      ])
    return asks.map(() => ({}))
  },

  async progress(asks: readonly AskOf<'progress'>[]): Promise<Verdict[]> {
    const latest = new Map<string, SoFar>()
    for (const { id, usage, serverTools } of asks) {
      const held = running.get(id)
      if (held === undefined) continue
      held.soFar = { usage: wholeCounts(usage), serverTools }
      latest.set(id, held.soFar)
    }
    const rows = [...latest].map(([id, { usage, serverTools }]) => {
      const { input, cacheRead, cacheWrite, output, reasoning } = usage
      const counts = { input, cache_read: cacheRead, cache_write: cacheWrite, output, reasoning }
      return { id, ...counts, server_tools: toolsOf(serverTools) }
    })
    if (rows.length > 0) await say('SELECT sluice_progress($1, $2)', [node, jsonOf(rows)])
    return asks.map(() => ({}))
  },
})
