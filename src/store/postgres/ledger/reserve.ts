// Reservations: what is granted the database decides, and whether a request gets less is decided here by what it tells.

import { GatewayError, unavailable } from '../../../errors.ts'
import { requireInForce } from '../../../keys/status.ts'
import { type Admitted, admit } from '../../../ledger/admission.ts'
import { TOKENS } from '../../../ledger/bounds.ts'
import { mostPer } from '../../../ledger/settled.ts'
import { type AskOf, type SharedReserve, toShared, type Verdict } from '../../../ledger/shared.ts'
import { type Counted, countedIn, enteredVerdict } from '../../rows/entered.ts'
import { troubleOf } from '../trouble.ts'
import type { Holding } from './held.ts'
import type { Lease } from './lease.ts'
import type { Terms } from './options.ts'
import { jsonOf } from './rows.ts'
import type { Standing } from './standing.ts'
import { createNodeTags } from './tags.ts'
import {
  type AskingParams,
  beginningBy,
  type Concerned,
  type EndingParams,
  NOTHING_ENDS,
  nothingConcerned,
  type Told,
  type Turn,
  type TurnRow,
  turnOf,
  turnParams,
} from './turn.ts'
import { heldOf, LATER, lateInput, microUsdOf, reservationOf, type Wish, wishRow } from './wish.ts'

/** `entry`: what it is told by the limits of its key, where it comes in with its reservation. */
type Granted = Told & { entry?: Verdict }
type Answer = Granted | { said: 'refused'; cause: unknown }

/** What is written with the first statement that asks for reservations; `tell`: whether it was. */
type Along = { concerned(): Concerned; params(): EndingParams; tell(isWritten: boolean): void }

/** How often a request that gets less is asked for again, where others were faster. */
const MOST_ROUNDS = 8
/** Between two tries after one of which nothing was heard. */
const PAUSE_MS = 50

export const createReserving = (terms: Terms, parts: { holding: Holding; lease: Lease; standing: Standing }) => {
  const { client, node, keys, budgets, clock, prices, defaults, timing, onFailure, onRefused } = terms
  const { lease, standing } = parts
  const { running, asking, doubtful, unheard, entered } = parts.holding
  const tagOf = createNodeTags(terms)
  /** Of the last turn most was waiting for others. */
  let isCrowded = false

  const wishOf = async (id: string, asked: SharedReserve): Promise<Wish | Verdict> => {
    const key = await standing.keyOf(asked.keyId)
    if (keys.versionOf(asked.keyId) > asked.keysSeen) return { again: 'key' }
    requireInForce(key, clock())
    const inForce = prices()
    const counted = budgets.of(key)
    const per = counted.length === 0 ? undefined : mostPer(asked, inForce)
    const startedAt = clock()
    return {
      ...{ id, key, asked, counted, per, prices: inForce, startedAt, tried: [], alone: undefined, unknown: false },
      tag: asked.tag === undefined ? undefined : await tagOf(key.id, asked.tag, startedAt),
      admitted: admit([], lateInput(asked)),
    }
  }

  const askFor = async (wishes: readonly Wish[], deadlineMs: number, along?: Along): Promise<Turn> => {
    const concerned = along?.concerned() ?? nothingConcerned()
    const entering = new Set<string>()
    for (const { key, counted, asked } of wishes) {
      concerned.keys.add(key.id)
      for (const budget of counted) concerned.budgets.add(budget.id)
      if (asked.enters === true) entering.add(key.id)
    }
    const again = wishes.some(({ tried }) => tried.length > 0)
    const rows = wishes.map((wish, i) => wishRow(wish, i + 1))
    for (const { tried, admitted } of wishes) tried.push(admitted)
    const ending = along?.params() ?? NOTHING_ENDS
    const asking: AskingParams = [wishes.map(({ id }) => id), jsonOf(rows), again, [...entering]]
    const params = turnParams({ node, concerned, ending, asking }, defaults)
    const from = performance.now()
    const [row] = await client.query<TurnRow>(beginningBy({ ending, asking }), params, { deadlineMs })
    const told = turnOf(row)
    isCrowded = 2 * (told.waited ?? 0) > performance.now() - from
    return told
  }

  /** What is not told of is granted as it was asked for. */
  const answersOf = (wishes: readonly Wish[], { now = clock(), told, windows }: Turn): Answer[] => {
    const byAt = new Map(told?.map((one) => [one.at, one]))
    const byKey = new Map(windows?.map(([keyId, requests, tokens, ...last]) => [keyId, { requests, tokens, last }]))
    const counted = new Map<string, Counted>()
    return wishes.map(({ id, key, asked, admitted }, i): Answer => {
      const answer: Granted = { at: i + 1, said: 'ok', reserved: totalOf(admitted), ...byAt.get(i + 1) }
      const window = asked.enters === true ? byKey.get(key.id) : undefined
      if (window === undefined) return answer
      if (!byAt.has(i + 1)) {
        window.requests++
        window.last[0] = Math.floor(now / 1_000)
      }
      if (answer.said === 'ok') entered.add(id)
      const { requests, tokens, last } = window
      const row = { at: i, said: answer.said, now, requests, tokens, last_request: last[0], last_token: last[1] }
      const { seconds = null, of_requests = null, of_tokens = null } = answer
      const seen = countedIn({ ...row, seconds, of_requests, of_tokens })
      if (seen !== undefined) counted.set(key.id, seen)
      const said = isKeptOut(answer) ? answer.said : 'ok'
      answer.entry = enteredVerdict({ ...row, said }, { key, defaults, counted: counted.get(key.id) })
      return answer
    })
  }

  /** What the database says of each; undefined where that is not known. */
  const granted = async (wishes: readonly Wish[], until: number, first?: Along): Promise<(Answer | undefined)[]> => {
    for (let along = first; ; along = undefined) {
      try {
        const turn = await askFor(wishes, Math.max(1, until - performance.now()), along)
        along?.tell(true)
        if (turn.fenced === true) {
          if (performance.now() >= until) return wishes.map(() => undefined)
          await lease.renew()
          continue
        }
        return answersOf(wishes, turn)
      } catch (cause) {
        // It is written by itself: whatever was in the way is not its fault.
        along?.tell(false)
        const trouble = troubleOf(cause)
        if (along !== undefined && (trouble === 'refused' || (trouble === 'again' && performance.now() < until)))
          continue
        if (trouble === 'refused') return apart(wishes, until, cause)
        if (trouble === 'unknown')
          for (const wish of wishes) {
            wish.unknown = true
            unheard.set(wish.id, true)
          }
        if (trouble === undefined || trouble === 'wrong') throw cause
        onFailure(cause)
        if (trouble !== 'unknown') return wishes.map(() => undefined)
        if (performance.now() + PAUSE_MS >= until || lease.isOver()) return wishes.map(() => undefined)
        await Bun.sleep(PAUSE_MS)
      }
    }
  }

  /** Without what the database refuses of it, by halves. */
  const apart = async (wishes: readonly Wish[], until: number, cause: unknown): Promise<(Answer | undefined)[]> => {
    if (wishes.length === 1) return [{ said: 'refused', cause }]
    const half = Math.ceil(wishes.length / 2)
    return [...(await granted(wishes.slice(0, half), until)), ...(await granted(wishes.slice(half), until))]
  }

  const decided = async (wish: Wish, answer: Answer, mayAsk: boolean): Promise<Verdict | 'again'> => {
    if (answer.said === 'refused') {
      onRefused(wish.id, 'cause' in answer ? answer.cause : undefined)
      return { error: toShared(new GatewayError('internal_error', 'The gateway failed.', { retry: false })) }
    }
    if (!('at' in answer)) return lostOf(wish)
    const verdict = await ofGranted(wish, answer, mayAsk)
    return verdict === 'again' ? verdict : { ...answer.entry, ...verdict }
  }

  const ofGranted = async (wish: Wish, answer: Granted, mayAsk: boolean): Promise<Verdict | 'again'> => {
    if (answer.said === 'ok') return begun(wish, answer.reserved ?? 0)
    // The attempt of which nothing was heard may still be granted what this one was refused.
    if (wish.unknown) return mayAsk ? 'again' : lostOf(wish)
    if (answer.said === 'changed') return { again: 'key' }
    if (answer.said === 'dead') return ofDead(wish)
    // Why is said by its entry.
    if (isKeptOut(answer)) return {}
    return lessOf(wish, answer, mayAsk)
  }

  /** As much as is left for it, to be asked for in its turn. */
  const lessOf = async (wish: Wish, { lefts = [], helds = [] }: Told, mayAsk: boolean): Promise<Verdict | 'again'> => {
    try {
      const bounds = await standing.boundsOf(wish, { lefts, helds })
      wish.admitted = admit(bounds, lateInput(wish.asked))
      const tokens = totalOf(wish.admitted)
      const microUsd = microUsdOf(wish, wish.admitted)
      const isMore = bounds.some(({ left, per }) => (per === TOKENS ? tokens : microUsd) > left)
      wish.alone = isMore ? lefts : undefined
      return mayAsk ? 'again' : { error: toShared(unavailable('is busy', { cause: 'others were faster each time' })) }
    } catch (thrown) {
      return thrown === LATER ? { again: 'least-input' } : { error: toShared(thrown) }
    }
  }

  const ofDead = ({ key }: Wish): Verdict => {
    try {
      requireInForce(key, clock())
      // It is not known here yet.
      return { again: 'key' }
    } catch (thrown) {
      return { error: toShared(thrown) }
    }
  }

  const begun = (wish: Wish, reserved: number): Verdict => {
    const admitted = wish.tried.find(({ input, output }) => input + output === reserved) ?? wish.admitted
    const held = heldOf(wish, admitted)
    running.set(wish.id, held)
    doubtful.delete(wish.id)
    return { reservation: reservationOf(held.open, admitted.outputCap) }
  }

  const lostOf = (wish: Wish): Verdict => {
    doubtful.set(wish.id, heldOf(wish, wish.admitted))
    return { lost: true }
  }

  const reserve = async (asks: readonly AskOf<'reserve'>[], along?: Along): Promise<Verdict[]> => {
    const verdicts = new Array<Verdict>(asks.length)
    let wishes: { at: number; wish: Wish }[] = []
    const wished = await Promise.all(
      asks.map(({ id, ask }) => {
        const known = running.get(id)
        return known === undefined ? asVerdict(wishOf(id, ask)) : { reservation: reservationOf(known.open, undefined) }
      }),
    )
    for (const [at, wish] of wished.entries()) {
      if ('asked' in wish) wishes.push({ at, wish })
      else verdicts[at] = wish
    }
    for (const { id } of asks) asking.add(id)
    try {
      const until = performance.now() + timing.reserveMs
      for (let round = 0; wishes.length > 0; round++) {
        const answered = await granted(
          wishes.map(({ wish }) => wish),
          until,
          round === 0 ? along : undefined,
        )
        const left: typeof wishes = []
        for (const [i, { at, wish }] of wishes.entries()) {
          const answer = answered[i]
          const verdict = answer === undefined ? lostOf(wish) : await decided(wish, answer, round < MOST_ROUNDS)
          if (verdict === 'again') left.push({ at, wish })
          else verdicts[at] = verdict
        }
        wishes = left
        if (left.some(({ wish }) => wish.unknown)) await Bun.sleep(PAUSE_MS)
      }
    } finally {
      for (const { id } of asks) asking.delete(id)
      along?.tell(false)
    }
    return verdicts
  }
  return { reserve, isCrowded: () => isCrowded }
}

const totalOf = ({ input, output }: Admitted): number => input + output

const isKeptOut = ({ said }: Told): boolean => said === 'limited' || said === 'busy'

const asVerdict = async <T>(deciding: Promise<T>): Promise<T | Verdict> => {
  try {
    return await deciding
  } catch (thrown) {
    return { error: toShared(thrown) }
  }
}
