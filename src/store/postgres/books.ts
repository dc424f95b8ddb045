// The shared ledger in PostgreSQL, as one node has it. The database decides what is granted and writes what has ended, each group
// in one statement (drizzle/postgres/*_ledger.sql); whether a request gets less, and the words of a refusal, are decided here by
// the figures that it tells.

import { GatewayError, unavailable } from '../../errors.ts'
import type { Budget, BudgetId, Spent } from '../../keys/budget.ts'
import type { Budgets } from '../../keys/budgets.ts'
import type { Key, Keys, RateLimits } from '../../keys/key.ts'
import { unknownKey } from '../../keys/secret.ts'
import { requireInForce } from '../../keys/status.ts'
import { type Admitted, admit, requireLeft } from '../../ledger/admission.ts'
import { type Bound, boundOf, mostOf, type Per, quotaOf, TOKENS } from '../../ledger/bounds.ts'
import type { Prices } from '../../ledger/cost.ts'
import { toCount, wholeCounts } from '../../ledger/figures.ts'
import type { OpenExchange, SettledExchange, SoFar } from '../../ledger/journal.ts'
import type { Reservation, Resumed, Settlement } from '../../ledger/ledger.ts'
import { isLimited } from '../../ledger/limits.ts'
import { clamped, endOf, lastKnown, mostOfAny, mostPer } from '../../ledger/settled.ts'
import { type Ask, type SharedNode, type SharedReserve, toShared, type Verdict } from '../../ledger/shared.ts'
import { createTags } from '../../ledger/tags.ts'
import type { Calendar } from '../../lib/calendar.ts'
import type { Known } from '../../lib/known.ts'
import { picturesText, toolsOf } from '../exchange-texts.ts'
import { type Counted, countedIn, type EnteredRow, enteredVerdict } from '../rows/entered.ts'
import { type Client, troubleOf } from './client.ts'
import { endedRow, jsonOf, leftOpenOf, type ReservationRow } from './ledger/rows.ts'

type BooksOptions = {
  client: Client
  /** This node's own, of one start of one process. */
  node: string
  keys: Pick<Keys, 'get' | 'versionOf'>
  budgets: Pick<Budgets, 'of' | 'nameOf' | 'get'>
  /** Reads what other nodes have changed of the keys. */
  refresh(): unknown
  /** Milliseconds since the epoch, as the database has it. */
  clock(): number
  prices(): Prices
  calendar: Calendar
  /** For keys without limits of their own. */
  defaults: RateLimits
  /** Whether tokens count in the windows of keys here, and not elsewhere. */
  countsTokens?(): boolean
  timing?: Partial<Timing>
  /** Takes over an exchange of a node that is gone, whose answer goes on; false where it does not. */
  takeOver?(left: Resumed): Known<boolean>
  onSettled?(settled: { open: OpenExchange; settlement: Settlement; costMicroUsd: number }): void
  /** Something could not be asked of the database. */
  onFailure?(cause: unknown): void
  /** The database refused the figures of this exchange. */
  onRefused?(exchangeId: string, cause: unknown): void
}

/** Milliseconds. */
export type Timing = {
  reserveMs: number
  sayMs: number
  leaseMs: number
  beatMs: number
  sweepMs: number
  /** How often reservations are looked for that nobody knows of, and how old they are then. */
  netMs: number
}

const TIMING: Timing = {
  ...{ reserveMs: 5_000, sayMs: 10_000, leaseMs: 2_000, beatMs: 250, sweepMs: 250, netMs: 10_000 },
}

export type Books = SharedNode & {
  /** Begins this node's lease, and its looking after what others have left. */
  start(): Promise<void>
  /** Whether its lease has ended, so that it is granted nothing. */
  isFenced(): boolean
  /** Takes over what nodes that are gone have left; returns how much that was. */
  sweep(): Promise<number>
  /** Gives back what this node was granted without hearing of it. */
  net(olderThanMs?: number): Promise<number>
  /** Of all nodes. */
  openCount(keyIds?: ReadonlySet<string>): Promise<number>
  heldBy(keyId: string): Promise<number>
  heldOf(budget: BudgetId): Promise<Spent>
  /** Ends the lease; what is still open is settled by others. */
  stop(): Promise<void>
}

/** An exchange of this node. `prices`: those it began with. */
type Held = { open: OpenExchange; per: Per | undefined; prices: Prices; soFar: SoFar }

/** A reservation that is asked for. `tried`: what it may have been granted by an attempt of which nothing was heard. */
type Wish = {
  id: string
  key: Key
  asked: SharedReserve
  counted: readonly Budget[]
  per: Per | undefined
  prices: Prices
  startedAt: number
  tag: string | undefined
  admitted: Admitted
  tried: Admitted[]
  /** With nothing held: what was left in each bound where more than that was admitted. */
  alone: (number | null)[] | undefined
  unknown: boolean
}

type ReservedRow = {
  at: number
  said: string
  reserved: number | null
  lefts: (number | null)[]
  helds: (number | null)[]
}

/** How often a request that gets less is asked for again, where others were faster. */
const MOST_ROUNDS = 8
/** Between two tries after one of which nothing was heard. */
const PAUSE_MS = 50
/** Of what a node has left, at once. */
const SWEPT = 500

export const createBooks = (options: BooksOptions): Books => {
  const { client, node, keys, budgets, refresh, clock, prices, calendar, defaults } = options
  const { takeOver = () => false, onSettled = nothing, onFailure = nothing, onRefused = nothing } = options
  const { countsTokens = () => true } = options
  const timing = { ...TIMING, ...options.timing }
  const running = new Map<string, Held>()
  /** Ids that are being asked for. */
  const asking = new Set<string>()
  /** Asked for, without a word of whether they were granted. */
  const doubtful = new Map<string, Held>()
  const knownTags = new Map<string, string[]>()
  const tags = createTags((keyId, day) => knownTags.get(`${keyId} ${day}`) ?? [], calendar.dayOf)
  let fenced = true
  let stopped = false
  const timers = new Set<Timer>()

  const keyOf = async (id: string): Promise<Key> => {
    if (keys.get(id) === undefined) await refresh()
    const key = keys.get(id)
    if (key === undefined) throw unknownKey()
    return key
  }

  // Entering

  const enter = async (asks: readonly Of<'enter'>[], again = true): Promise<Verdict[]> => {
    const { rpm, tpm, concurrency } = defaults
    const rows = await client.query<EnteredRow>(
      'SELECT * FROM sluice_come($1, $2::text[], $3::text[], $4, $5, $6)',
      [node, asks.map(({ id }) => id), asks.map(({ keyId }) => keyId), rpm, tpm, concurrency],
      { deadlineMs: timing.reserveMs, isRepeatable: true },
    )
    if (rows[0]?.said === 'fenced') {
      await beFenced()
      if (!again) return asks.map(() => ({ lost: true }))
      return enter(asks, false)
    }
    const counted = new Map<string, Counted>()
    return asks.map(({ keyId }, i) => {
      const row = rows[i]
      if (row === undefined) return { lost: true }
      const told = countedIn(row)
      if (told !== undefined) counted.set(keyId, told)
      return enteredVerdict(row, { key: keys.get(keyId), defaults, counted: counted.get(keyId) })
    })
  }

  // Reserving

  const wishOf = async (id: string, asked: SharedReserve): Promise<Wish | Verdict> => {
    const key = await keyOf(asked.keyId)
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

  /** A key's tags of today are read once; other nodes may add as many of their own. */
  const tagOf = async (keyId: string, tag: string, at: number): Promise<string> => {
    const day = calendar.dayOf(at)
    const name = `${keyId} ${day}`
    if (!knownTags.has(name)) {
      const rows = await client.query<{ tag: string }>('SELECT tag FROM usage_tags WHERE day = $1 AND key_id = $2', [
        ...[day, keyId],
      ])
      if (knownTags.size >= MOST_TAGGED) knownTags.clear()
      knownTags.set(
        name,
        rows.map((row) => row.tag),
      )
    }
    return tags(keyId, tag, at)
  }

  /** What is written with the first statement that asks for reservations; `tell`: whether it was. */
  type Along = { ended: readonly Ended[]; leaving: Left; tell(isWritten: boolean): void }

  const reserve = async (asks: readonly Of<'reserve'>[], along?: Along): Promise<Verdict[]> => {
    const verdicts = new Array<Verdict>(asks.length)
    let wishes: { at: number; wish: Wish }[] = []
    for (const [at, { id, ask }] of asks.entries()) {
      const known = running.get(id)
      const begun =
        known === undefined ? await asVerdict(wishOf(id, ask)) : { reservation: reservationOf(known.open, undefined) }
      if ('asked' in begun) wishes.push({ at, wish: begun })
      else verdicts[at] = begun
      asking.add(id)
    }
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

  type Answer = ReservedRow | { said: 'refused'; cause: unknown }

  /** What the database says of each; undefined where that is not known. */
  const granted = async (wishes: readonly Wish[], until: number, first?: Along): Promise<(Answer | undefined)[]> => {
    for (let along = first; ; along = undefined) {
      try {
        const rows = await askFor(wishes, Math.max(1, until - performance.now()), along)
        along?.tell(true)
        if (rows[0]?.said === 'fenced') {
          if (performance.now() >= until) return wishes.map(() => undefined)
          await beFenced()
          continue
        }
        const byAt = new Map(rows.map((row) => [row.at, row]))
        return wishes.map((_, i) => byAt.get(i + 1))
      } catch (cause) {
        // It is written by itself: whatever was in the way is not its fault.
        along?.tell(false)
        const trouble = troubleOf(cause)
        if (trouble === 'refused' && along !== undefined) continue
        if (trouble === 'refused') return apart(wishes, until, cause)
        if (trouble === 'unknown') for (const wish of wishes) wish.unknown = true
        if (trouble === undefined || trouble === 'wrong') throw cause
        onFailure(cause)
        if (trouble !== 'unknown') return wishes.map(() => undefined)
        if (performance.now() + PAUSE_MS >= until || stopped) return wishes.map(() => undefined)
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

  const askFor = (wishes: readonly Wish[], deadlineMs: number, along?: Along): Promise<ReservedRow[]> => {
    const ofKeys = new Set<string>()
    const ofBudgets = new Set<string>()
    const rows = wishes.map((wish, i) => {
      const { id, key, asked, counted, admitted, startedAt, tag, alone } = wish
      ofKeys.add(key.id)
      for (const budget of counted) ofBudgets.add(budget.id)
      wish.tried.push(admitted)
      return {
        ...{ at: i + 1, id, key_id: key.id, seen: asked.keysSeen, model: asked.model, wire: asked.wire },
        ...{ stream: asked.stream, started_at: startedAt, input_estimate: toCount(asked.inputEstimate), tag },
        ...{ reserved: admitted.input + admitted.output, reserved_micro_usd: microUsdOf(wish, admitted), alone },
        ...(counted.length === 0 ? {} : namedOf(counted)),
        ...{ address: asked.address, pictures: picturesText(asked.pictures) },
      }
    })
    const asked = [node, wishes.map(({ id }) => id), [...ofKeys], [...ofBudgets], jsonOf(rows)]
    return along === undefined
      ? client.query<ReservedRow>(RESERVE, asked, { deadlineMs })
      : client.query<ReservedRow>(TURN, [...endedParams(along.ended, along.leaving), ...asked], { deadlineMs })
  }

  const decided = async (wish: Wish, answer: Answer, mayAsk: boolean): Promise<Verdict | 'again'> => {
    if (answer.said === 'refused') {
      onRefused(wish.id, 'cause' in answer ? answer.cause : undefined)
      return { error: toShared(new GatewayError('internal_error', 'The gateway failed.', { retry: false })) }
    }
    if (!('at' in answer)) return lostOf(wish)
    if (answer.said === 'ok') return begun(wish, answer.reserved ?? 0)
    // The attempt of which nothing was heard may still be granted what this one was refused.
    if (wish.unknown) return mayAsk ? 'again' : lostOf(wish)
    if (answer.said === 'changed') return { again: 'key' }
    if (answer.said === 'dead') return ofDead(wish)
    try {
      const bounds = boundsOf(wish, answer, await namesOf(wish.counted))
      wish.admitted = admit(bounds, lateInput(wish.asked))
      const tokens = wish.admitted.input + wish.admitted.output
      const microUsd = microUsdOf(wish, wish.admitted)
      const isMore = bounds.some(({ left, per }) => (per === TOKENS ? tokens : microUsd) > left)
      wish.alone = isMore ? answer.lefts : undefined
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

  /** For the words of a refusal, which does not wait for them where they cannot be read. */
  const namesOf = async (counted: readonly Budget[]): Promise<NameOf> => {
    const names = await Promise.all(
      counted.map(async ({ id }) => [id, await budgets.nameOf(id).catch(() => undefined)] as const),
    )
    return (budget) => names.find(([id]) => id === budget)?.[1]
  }

  /** As they stand in the database: the key's first, then those of its budgets that are there. */
  const boundsOf = ({ key, counted, per }: Wish, { lefts, helds }: ReservedRow, nameOf: NameOf): Bound[] => {
    const quota = { ...key, tokensTotal: lefts[0] ?? 0, tokensUsed: 0 }
    const bounds = [quotaOf(quota, helds[0] ?? 0, calendar)]
    for (const [i, budget] of counted.entries()) {
      const left = lefts[i + 1]
      if (left === null || left === undefined) continue
      const isMoney = budget.unit === 'usd'
      const used = budget.amount - left
      const standing: Budget = { ...budget, used: { tokens: used, microUsd: used } }
      const by = isMoney ? (per ?? NO_PRICE) : TOKENS
      bounds.push(boundOf(standing, helds[i + 1] ?? 0, by, calendar, nameOf))
    }
    return bounds
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
    if (doubtful.size > MOST_DOUBTFUL) for (const [oldest] of doubtful) if (doubtful.delete(oldest)) break
    return { lost: true }
  }

  // Saying

  type Ended = { id: string; held: Held | undefined; end: Omit<SettledExchange, 'leftAfter'> | undefined }

  const endedOf = (asks: readonly Of<'settle'>[]): Ended[] =>
    asks.map(({ id, settlement }) => {
      const held = running.get(id) ?? doubtful.get(id)
      const open = held?.open ?? unknownOpen(id)
      return { id, held, end: endOf(open, settlement, held?.prices ?? prices(), clock()) }
    })

  const forget = ({ id, settlement }: Of<'settle'>, { held, end }: Ended): void => {
    doubtful.delete(id)
    if (held !== undefined && end !== undefined && running.delete(id))
      onSettled({ open: held.open, settlement, costMicroUsd: end.costMicroUsd })
  }

  const endedParams = (ended: readonly Ended[], { left, refunded }: Left, alone = false): unknown[] => {
    const rows = ended.flatMap(({ end }) => (end === undefined ? [] : [end]))
    const json = jsonOf(rows.map((end) => endedRow(end, isCounted(end.open.keyId), alone, calendar)))
    return [ended.map(({ id }) => id), json, left, refunded]
  }

  /** Returns the ids of those that are written, or were before. */
  const write = async (ended: readonly Ended[], { alone = false, leaving = NOBODY } = {}): Promise<Set<string>> => {
    try {
      await say(END, endedParams(ended, leaving, alone))
      return new Set(ended.map(({ id }) => id))
    } catch (cause) {
      const [only] = ended
      if (troubleOf(cause) !== 'refused' || only === undefined) {
        onFailure(cause)
        return new Set()
      }
      if (leaving !== NOBODY) {
        await leave(leaving)
        return write(ended, { alone })
      }
      if (ended.length > 1) {
        const half = Math.ceil(ended.length / 2)
        const first = await write(ended.slice(0, half), { alone })
        return new Set([...first, ...(await write(ended.slice(half), { alone }))])
      }
      const { id, end } = only
      onRefused(id, cause)
      if (end === undefined || only.held === undefined || 'replaces' in end) return new Set([id])
      const price = only.held.prices(end.settlement.model ?? end.open.model)
      return write([{ ...only, end: clamped({ ...end, leftAfter: undefined }, price) }], { alone })
    }
  }

  const isCounted = (keyId: string): boolean => {
    const key = keys.get(keyId)
    return key !== undefined && isLimited(key, defaults) && countsTokens()
  }

  const say = (text: string, params: readonly unknown[]): Promise<unknown> =>
    client.query(text, params, { deadlineMs: timing.sayMs, isRepeatable: true })

  const leave = ({ left, refunded }: Left): Promise<unknown> =>
    say("SELECT set_config('synchronous_commit', 'off', true), sluice_leave($1::text[], $2::text[])", [left, refunded])

  /** Most leave as what they asked for ends, and are told of together: by one statement, which locks a key once. */
  const end = async (asks: readonly Ending[], { ended, leaving } = endingOf(asks)): Promise<Verdict[]> => {
    if (ended.length === 0) {
      await leave(leaving)
      return asks.map(() => ({}))
    }
    return toldOf(asks, ended, await write(ended, { leaving }))
  }
  type Ending = Of<'settle' | 'leave'>
  const endingOf = (asks: readonly Ending[]) => {
    const leaving: Left = { left: [], refunded: [] }
    for (const ask of asks) if (ask.do === 'leave') (ask.refund ? leaving.refunded : leaving.left).push(ask.id)
    return { ended: endedOf(asks.filter((ask) => ask.do === 'settle')), leaving }
  }
  /** Who leaves is said again with whatever was not heard. */
  const toldOf = (asks: readonly Ending[], ended: readonly Ended[], heard: ReadonlySet<string>): Verdict[] => {
    const byId = new Map(ended.map((one) => [one.id, one]))
    const isWhole = ended.every(({ id }) => heard.has(id))
    return asks.map((ask) => {
      if (ask.do === 'leave') return isWhole ? {} : { lost: true }
      const one = byId.get(ask.id)
      if (one === undefined || !heard.has(ask.id)) return { lost: true }
      forget(ask, one)
      return {}
    })
  }

  /** By one statement, unless something is in its way. */
  const endAndReserve = (ending: readonly Ending[], reserving: readonly Of<'reserve'>[]) => {
    if (ending.length === 0) return { ended: NOTHING_SAID, reserved: reserve(reserving) }
    if (reserving.length === 0) return { ended: end(ending), reserved: NOTHING_SAID }
    const told = Promise.withResolvers<boolean>()
    const along = endingOf(ending)
    const all = new Set(along.ended.map(({ id }) => id))
    return {
      ended: told.promise.then((isWritten) => (isWritten ? toldOf(ending, along.ended, all) : end(ending, along))),
      reserved: reserve(reserving, { ...along, tell: told.resolve }),
    }
  }

  const narrow = async (asks: readonly Of<'narrow'>[]): Promise<Verdict[]> => {
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
  }

  const progress = async (asks: readonly Of<'progress'>[]): Promise<Verdict[]> => {
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
  }

  const look = async (asks: readonly Of<'look'>[]): Promise<Verdict[]> =>
    Promise.all(
      asks.map(({ keyId }) =>
        asVerdict(
          (async () => {
            const key = await keyOf(keyId)
            const counted = budgets.of(key)
            const [row] = await client.query<{ left: number }>(
              'SELECT tokens_total - tokens_used AS left FROM keys WHERE id = $1',
              [keyId],
              { isRepeatable: true },
            )
            const lefts = await client.query<{ id: string; left: number }>(
              `SELECT id, amount - CASE unit WHEN 'usd' THEN used_micro_usd ELSE used_tokens END AS left FROM budgets
               WHERE id = ANY ($1::text[]) AND amount IS NOT NULL`,
              [counted.map(({ id }) => id)],
              { isRepeatable: true },
            )
            requireLeft(quotaOf({ ...key, tokensTotal: row?.left ?? 0, tokensUsed: 0 }, 0, calendar))
            const nameOf = await namesOf(counted)
            for (const { id, left } of lefts) {
              const budget = budgets.get(id)
              if (budget === undefined) continue
              const used = budget.amount - left
              requireLeft(boundOf({ ...budget, used: { tokens: used, microUsd: used } }, 0, NO_PRICE, calendar, nameOf))
            }
            return {}
          })(),
        ),
      ),
    )

  const letGo = async (asks: readonly Of<'let-go'>[]): Promise<Verdict[]> => {
    for (const { id } of asks) {
      const held = running.get(id)
      if (held !== undefined) await leftAlone(id, held)
    }
    return asks.map(() => ({}))
  }

  // Nodes

  /** Where its lease had ended, it begins anew. */
  const beat = async (): Promise<void> => {
    await client.query('SELECT sluice_beat($1, $2)', [node, timing.leaseMs], { deadlineMs: timing.leaseMs })
    fenced = false
  }
  /** Its lease has ended, and nothing was granted to it. */
  const beFenced = (): Promise<void> => {
    fenced = true
    return beat()
  }

  const leftAlone = async (id: string, { open, soFar, prices: by }: Held): Promise<void> => {
    const { exchangeId, keyId, startedAt, reserved, model, wire, stream, inputEstimate, pictures } = open
    const reservation: Reservation = { exchangeId, keyId, startedAt, reserved, outputCap: undefined, tag: open.tag }
    const held: Held = { open, soFar, prices: by, per: undefined }
    running.set(id, held)
    const left: Resumed = { reservation, model, wire, stream, inputEstimate, ...soFar, pictures }
    if (await takeOver(left)) return
    const settlement: Settlement = {
      ...lastKnown(left),
      ...{ status: 500, totalMs: Math.max(0, clock() - startedAt) },
    }
    const end = endOf(open, settlement, by, clock())
    const heard = await write([{ id, held, end }], { alone: true })
    // What could not be written is left to whoever sweeps next, or to the net.
    running.delete(id)
    if (heard.has(id)) onSettled({ open, settlement, costMicroUsd: end.costMicroUsd })
  }

  const sweep = async (): Promise<number> => {
    const rows = await client.query<ReservationRow>('SELECT * FROM sluice_sweep($1, $2)', [node, SWEPT])
    await Promise.all(
      rows.map((row) => {
        const { usage, serverTools, ...open } = leftOpenOf(row)
        return leftAlone(open.exchangeId, { open, soFar: { usage, serverTools }, per: undefined, prices: prices() })
      }),
    )
    return rows.length
  }

  const net = async (olderThanMs = timing.netMs + timing.reserveMs): Promise<number> => {
    const rows = await client.query<ReservationRow>('SELECT * FROM reservations WHERE node = $1 AND started_at < $2', [
      node,
      clock() - olderThanMs,
    ])
    const unheard = rows.filter(({ id }) => !running.has(id) && !asking.has(id))
    const ended = unheard.map((row): Ended => {
      const { usage, ...open } = leftOpenOf(row)
      const known = Object.keys(usage).length > 0 ? usage : {}
      const settlement: Settlement = {
        ...{ outcome: 'failed', usage: known, estimated: false, status: 503, errorCode: 'service_unavailable' },
        ...{ attempts: 0, totalMs: 0 },
      }
      return { id: row.id, held: undefined, end: endOf(open, settlement, prices(), clock()) }
    })
    if (ended.length > 0) await write(ended)
    return ended.length
  }

  const every = (ms: number, run: () => Promise<unknown>): void => {
    const timer = setTimeout(async () => {
      timers.delete(timer)
      try {
        await run()
      } catch (cause) {
        if (!stopped) onFailure(cause)
      }
      if (!stopped) every(ms, run)
    }, ms)
    timer.unref()
    timers.add(timer)
  }

  return {
    async carry(group) {
      if (stopped) throw unavailable('is busy', { cause: 'the ledger has ended' })
      const verdicts = new Array<Verdict>(group.length)
      const those = <D extends Ask['do']>(...what: readonly D[]) => {
        const isOne = (ask: Ask): ask is Of<D> => what.some((each) => each === ask.do)
        return { asks: group.filter(isOne), places: group.flatMap((ask, i) => (isOne(ask) ? [i] : [])) }
      }
      const hear = async (places: readonly number[], saying: Promise<Verdict[]>): Promise<void> => {
        try {
          const said = await saying
          for (const [i, place] of places.entries()) verdicts[place] = said[i] ?? { lost: true }
        } catch (cause) {
          onFailure(cause)
          for (const place of places) verdicts[place] = { lost: true }
        }
      }
      const carryAll = async <D extends Ask['do']>(
        what: D,
        carryOut: (asks: Of<D>[]) => Promise<Verdict[]>,
      ): Promise<void> => {
        const { asks, places } = those(what)
        if (places.length > 0) await hear(places, carryOut(asks))
      }
      const endAll = async (): Promise<void> => {
        const [ending, reserving] = [those('settle', 'leave'), those('reserve')]
        const { ended, reserved } = endAndReserve(ending.asks, reserving.asks)
        await Promise.all([
          hear(ending.places, ended).then(() => carryAll('enter', enter)),
          hear(reserving.places, reserved),
        ])
      }
      // Each waits for rows of its own; what ends makes room for what begins.
      await Promise.all([
        carryAll('narrow', narrow).then(endAll),
        carryAll('progress', progress).then(() => carryAll('let-go', letGo)),
        carryAll('look', look),
      ])
      return verdicts
    },
    async start() {
      await beat()
      every(timing.beatMs, beat)
      every(timing.sweepMs, sweep)
      every(timing.netMs, () => net())
    },
    isFenced: () => fenced,
    sweep,
    net,
    async openCount(keyIds) {
      const [row] = await client.query<{ n: number }>(
        'SELECT count(*) AS n FROM reservations WHERE $1::text[] IS NULL OR key_id = ANY ($1::text[])',
        [keyIds === undefined ? null : [...keyIds]],
        { isRepeatable: true },
      )
      return row?.n ?? 0
    },
    async heldBy(keyId) {
      const rows = await client.query<{ held: number }>('SELECT tokens_held AS held FROM keys WHERE id = $1', [keyId], {
        isRepeatable: true,
      })
      return rows[0]?.held ?? 0
    },
    async heldOf(budget) {
      const rows = await client.query<Spent>(
        'SELECT held_tokens AS tokens, held_micro_usd AS "microUsd" FROM budgets WHERE id = $1',
        [budget],
        { isRepeatable: true },
      )
      return rows[0] ?? { tokens: 0, microUsd: 0 }
    },
    async stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      await client.query('DELETE FROM nodes WHERE id = $1', [node]).catch(onFailure)
    },
  }
}

type Of<D extends Ask['do']> = Extract<Ask, { do: D }>

type NameOf = (budget: BudgetId) => string | undefined

const RESERVE = 'SELECT * FROM sluice_reserve($1, $2::text[], $3::text[], $4::text[], $5)'
const END = "SELECT sluice_end($1::text[], $2, $3::text[], $4::text[], '{}', '{}')"
const TURN = `
  SELECT * FROM sluice_turn($1::text[], $2, $3::text[], $4::text[], $5, $6::text[], $7::text[], $8::text[], $9)`

const NOTHING_SAID: Promise<Verdict[]> = Promise.resolve([])

/** Requests that leave. */
type Left = { left: string[]; refunded: string[] }
const NOBODY: Left = { left: [], refunded: [] }
const MOST_TAGGED = 10_000
const MOST_DOUBTFUL = 10_000
const NO_PRICE: Per = { input: 0, output: 0, least: 0, fees: 0 }

const nothing = (): void => undefined

const asVerdict = async <T>(deciding: Promise<T>): Promise<T | Verdict> => {
  try {
    return await deciding
  } catch (thrown) {
    return { error: toShared(thrown) }
  }
}

const namedOf = (counted: readonly Budget[]) => {
  const ids = counted.map(({ id }) => id)
  return { counts: ids, budgets: JSON.stringify(ids) }
}

const microUsdOf = ({ per }: { per: Per | undefined }, { input, output }: Admitted): number =>
  per === undefined ? 0 : Math.min(mostOf(per, input, output), Number.MAX_SAFE_INTEGER)

const heldOf = (wish: Wish, admitted: Admitted): Held => {
  const { id, key, asked, counted, per, tag, startedAt } = wish
  const open: OpenExchange = {
    ...{ row: 0, exchangeId: id, keyId: key.id, model: asked.model, wire: asked.wire, stream: asked.stream, startedAt },
    ...{ inputEstimate: toCount(asked.inputEstimate), reserved: admitted.input + admitted.output },
    reservedMicroUsd: microUsdOf(wish, admitted),
    ...{ budgets: counted.map((budget) => budget.id), address: asked.address, tag, pictures: asked.pictures },
  }
  return { open, per, prices: wish.prices, soFar: { usage: {} } }
}

const reservationOf = (
  { exchangeId, keyId, startedAt, reserved, tag }: OpenExchange,
  outputCap: number | undefined,
): Reservation => ({ exchangeId, keyId, startedAt, reserved, outputCap, tag })

/** Of one that this node does not know of: what its row says stands. */
const unknownOpen = (exchangeId: string): OpenExchange => ({
  ...{ row: 0, exchangeId, keyId: '', model: '', wire: 'messages', stream: false, startedAt: 0, inputEstimate: 0 },
  ...{ reserved: 0, reservedMicroUsd: 0, budgets: [] },
})

/** Thrown where the least that a prompt takes would have to be known, which only its node can tell. */
const LATER = new Error('the least input is to be worked out')
const lateInput = ({ leastInput, ...asked }: SharedReserve) => ({
  ...asked,
  ...(leastInput === undefined
    ? {}
    : {
        leastInput: (): number => {
          if (leastInput === 'later') throw LATER
          return leastInput
        },
      }),
})
