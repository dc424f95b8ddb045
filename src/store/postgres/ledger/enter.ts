// Requests that come in, held to the limits of their keys over all nodes.

import type { AskOf, Verdict } from '../../../ledger/shared.ts'
import { type Counted, countedIn, type EnteredRow, enteredVerdict } from '../../rows/entered.ts'
import type { Holding } from './held.ts'
import type { Lease } from './lease.ts'
import type { Terms } from './options.ts'

export const createEntering = (terms: Terms, { entered }: Holding, lease: Lease) => {
  const { client, node, keys, defaults, timing } = terms
  const enter = async (asks: readonly AskOf<'enter'>[], again = true): Promise<Verdict[]> => {
    const { rpm, tpm, concurrency } = defaults
    const rows = await client.query<EnteredRow>(
      'SELECT * FROM sluice_come($1, $2::text[], $3::text[], $4, $5, $6)',
      [node, asks.map(({ id }) => id), asks.map(({ keyId }) => keyId), rpm, tpm, concurrency],
      { deadlineMs: timing.reserveMs, isRepeatable: true },
    )
    if (rows[0]?.said === 'fenced') {
      await lease.renew()
      if (!again) return asks.map(() => ({ lost: true }))
      return enter(asks, false)
    }
    const counted = new Map<string, Counted>()
    return asks.map(({ id, keyId }, i) => {
      const row = rows[i]
      if (row === undefined) return { lost: true }
      if (row.said === 'ok') entered.add(id)
      const told = countedIn(row)
      if (told !== undefined) counted.set(keyId, told)
      return enteredVerdict(row, { key: keys.get(keyId), defaults, counted: counted.get(keyId) })
    })
  }
  return (asks: readonly AskOf<'enter'>[]): Promise<Verdict[]> => enter(asks)
}
