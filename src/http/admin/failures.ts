// What the page of a failed exchange begins with: what happened, why most often, what to do. A member is told nothing of
// accounts, nor anything only those who run the gateway can do.

import type * as S from '../../admin-api/schema.ts'
import { meaningOf, REFUSALS } from '../../observe/failures.ts'
import type { ExchangeRow } from '../../store/usage.ts'

type Failure = NonNullable<S.ExplainedExchange['failure']>

/** Null of one that has not failed. */
export const failureOf = (row: ExchangeRow, attempts: readonly S.Attempt[], isMember: boolean): Failure | null => {
  if (row.outcome !== 'failed' && row.outcome !== 'refused') return null
  if (row.refusal !== null) return ofRefusal(row, row.refusal)
  const begun = hasBegun(row)
  // Where an answer had begun, those before it that failed are not why it ended.
  const last = begun ? attempts.at(-1) : attempts.findLast((attempt) => attempt.result === 'failed')
  const { why, todo } = meaningOf({
    status: last?.provider_status ?? null,
    providerCode: last?.provider_code ?? null,
    code: last?.error_code ?? row.errorCode,
    begun,
  })
  const happened = `${begun ? brokenOff(row, isMember) : saidBy(last, isMember)}, and the client got ${gotOf(row)}.`
  const isTheirs = row.status !== null && row.status >= 400 && row.status < 500
  if (!isMember) return { happened, why: plain(why), todo: plain(todo) }
  return isTheirs
    ? { happened, why: plain(why), todo: plain(todo) }
    : {
        happened,
        why: 'The provider failed, not the client.',
        todo: `Ask again; if it lasts, tell those who run the gateway the id ${row.id}.`,
      }
}

const ofRefusal = (row: ExchangeRow, { failed, told }: NonNullable<ExchangeRow['refusal']>): Failure => {
  const meaning = REFUSALS[failed]
  return {
    happened: `The gateway refused it at the check of ${failed}, and the client got ${gotOf(row)}: ${told}`,
    why: plain(meaning?.why ?? ''),
    todo: plain(meaning?.todo ?? ''),
  }
}

const hasBegun = ({ outcome, status }: ExchangeRow): boolean => outcome === 'failed' && status === 200

const gotOf = (row: ExchangeRow): string => {
  const { status, errorCode } = row
  if (hasBegun(row)) return `a part of the answer and then ${errorCode ?? 'an error'}`
  return [status, errorCode].filter((word) => word !== null).join(' ') || 'no answer'
}

const brokenOff = ({ provider, account }: ExchangeRow, isMember: boolean): string => {
  const who = [provider, account].filter((word) => word !== null).join(' / ')
  return isMember || who === '' ? 'The answer broke off' : `The answer of ${who} broke off`
}

const saidBy = (last: S.Attempt | undefined, isMember: boolean): string => {
  if (last === undefined) return 'No provider answered'
  const who = isMember ? 'The provider' : [last.provider, last.account].filter((word) => word !== null).join(' / ')
  if (isMember) return `${who} did not answer as it should`
  const { provider_status: status, provider_code: code } = last
  if (status === null) return code === null ? `${who} gave no usable answer` : `${who} could not be reached (${code})`
  return `${who} answered ${status}${code === null ? '' : ` (${code})`}`
}

/** The manual marks names as code. */
const plain = (text: string): string => text.replaceAll('`', '')
