// The contract of a ledger that several processes share: what each, a node, asks of it, and what it is told. Admission,
// limits and settlement are decided in one place, so that quotas and limits hold over all of them to the token.

import { type ErrorCode, type ErrorDetails, GatewayError, unavailable } from '../errors.ts'
import { isStoreError } from '../store/store.ts'
import type { SoFar } from './journal.ts'
import type { Begun, Reservation, ReserveAsk, Settlement } from './ledger.ts'
import type { Limited } from './limit-headers.ts'

/**
 * As data. `keysSeen`: the version of the keys by which its client was authenticated. `leastInput`: absent where it is not
 * worked out yet, and would have to be. `enters`: its request comes in with it, as by `enter`, and is refused where that would be.
 */
export type SharedReserve = Omit<ReserveAsk, 'exchangeId' | 'key' | 'leastInput' | 'recheck'> & {
  keyId: string
  keysSeen: number
  leastInput?: number | 'later' | undefined
  enters?: true | undefined
}

/** `id`: the exchange's, which a request has from its beginning. */
export type Ask =
  /** A request of a key that has limits comes in: it is among those at once until it leaves. */
  | { do: 'enter'; id: string; keyId: string }
  /** It ends. `refund`: it counts against no limit. */
  | { do: 'leave'; id: string; keyId: string; refund: boolean }
  /** Whether the key has anything left. */
  | { do: 'look'; id: string; keyId: string }
  | { do: 'reserve'; id: string; ask: SharedReserve }
  | ({ do: 'progress'; id: string } & SoFar)
  | { do: 'narrow'; id: string; tokens: number }
  /** Its answer goes on without its node, which has nothing more to say of it. */
  | { do: 'let-go'; id: string; begun?: Begun }
  /** Counts its tokens in the key's window, too. */
  | { do: 'settle'; id: string; settlement: Settlement }

export type AskOf<D extends Ask['do']> = Extract<Ask, { do: D }>

/**
 * `limits`: how the key's limits stand now, where it has any. `again`: nothing was decided, and why: its key has changed
 * since the client was authenticated, or the least that its prompt takes has to be known.
 */
export type Verdict = {
  error?: SharedError
  reservation?: Reservation
  again?: 'key' | 'least-input'
  limits?: Limited
  /** What came of it is not known, as where all of the group rejects. */
  lost?: true
}

/** One process's side of the ledger. */
export type SharedNode = {
  /**
   * Carries a group out in its order, each once however often it is asked, and resolves when all of it is decided and
   * durable. Rejects where it is not known what came of it.
   */
  carry(group: readonly Ask[]): Promise<Verdict[]>
  /** Whether groups wait mostly for those of others: few large ones cost all of them less. */
  isCrowded?(): boolean
}

export type SharedLedger = {
  /**
   * A node begins, or is there again after its connection was lost or the ledger was started anew. `running`: the exchanges
   * that it still has; what else the ledger holds for it is settled.
   */
  join(node: string, running: readonly string[]): SharedNode
  /** A node has ended: what it held is settled at once by its last figures, and its requests leave. */
  gone(node: string): void
}

/** An error that goes from one process to another. */
export type SharedError = {
  code: ErrorCode
  message: string
  param?: string | undefined
  retryAfterMs?: number | undefined
  details?: ErrorDetails | undefined
  retry: boolean
  failover: boolean
  /** For the log. */
  cause?: string | undefined
}

export const toShared = (thrown: unknown): SharedError => {
  const error =
    thrown instanceof GatewayError
      ? thrown
      : isStoreError(thrown)
        ? unavailable('cannot reach its records', { retryAfterMs: 1_000, cause: thrown })
        : new GatewayError('internal_error', 'The gateway failed.', { cause: thrown })
  const { code, message, param, retryAfterMs, details, retry, failover, cause } = error
  return {
    ...{ code, message, param, retryAfterMs, details, retry, failover },
    cause: cause === undefined ? undefined : cause instanceof Error ? cause.message : String(cause),
  }
}

export const fromShared = ({ code, message, ...options }: SharedError): GatewayError =>
  new GatewayError(code, message, options)
