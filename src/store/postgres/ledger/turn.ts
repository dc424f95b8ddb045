// One turn of a node, as the database takes and answers it: what ends, who leaves and what begins, by one statement.

import type { RateLimits } from '../../../keys/key.ts'
import type { EnteredRow } from '../../rows/entered.ts'

/** What a turn is about. `unknown`: what ends or leaves of which this node does not know the key. */
export type Concerned = { keys: Set<string>; budgets: Set<string>; unknown: Set<string> }

export const nothingConcerned = (): Concerned => ({ keys: new Set(), budgets: new Set(), unknown: new Set() })

/** Of a request that is not granted as it was asked for, by its place from 1. */
export type Told = {
  at: number
  said: string
  reserved?: number
  lefts?: (number | null)[]
  helds?: (number | null)[]
} & Partial<Pick<EnteredRow, 'seconds' | 'of_requests' | 'of_tokens'>>

/** What the windows of a key had before requests came in: requests, tokens, and the last seconds in which there were any. */
type Windows = [keyId: string, requests: number, tokens: number, lastRequest: number | null, lastToken: number | null]

/** `fenced`: nothing was granted. `waited`: for others, in milliseconds. `now`: by the database. */
export type Turn = {
  fenced?: true
  waited?: number
  now?: number
  told?: Told[] | null
  windows?: Windows[] | null
}

const turnBy = (name: string): string => `
  SELECT ${name}($1, $2::text[], $3::text[], $4::text[], $5::text[], $6, $7::text[], $8::text[], $9::text[], $10, $11,
    $12::text[], $13, $14, $15) AS turn`

export const TURN = turnBy('sluice_carry')
const LIMITED = turnBy('sluice_carry_limited')

export type EndingParams = [ids: string[], ended: string, left: string[], refunded: string[]]
export type AskingParams = [ids: string[], asks: string, again: boolean, entering: string[]]
type Parts = { node: string; concerned: Concerned; ending: EndingParams; asking: AskingParams }

/** By which a turn in which something begins costs least: both do the same. */
export const beginningBy = ({ ending, asking }: Pick<Parts, 'ending' | 'asking'>): string => {
  const [, , left] = ending
  const [, , , entering] = asking
  return left.length + entering.length > 0 ? LIMITED : TURN
}

export const turnParams = ({ node, concerned, ending, asking }: Parts, defaults: RateLimits): unknown[] => [
  ...[node, [...concerned.keys], [...concerned.budgets], [...concerned.unknown]],
  ...ending,
  ...asking,
  ...[defaults.rpm, defaults.tpm, defaults.concurrency],
]

export const NOTHING_ENDS: EndingParams = [[], '[]', [], []]
export const NOTHING_BEGINS: AskingParams = [[], '[]', false, []]

export type TurnRow = { turn: string | null }

export const turnOf = (row: TurnRow | undefined): Turn =>
  row === undefined || row.turn === null ? {} : (JSON.parse(row.turn) as Turn)
