// The journal in SQLite: transactions of prepared statements. The hot path of the store.

import type { Database } from 'bun:sqlite'
import { totalTokens, type Usage } from '../../ir/usage.ts'
import type { BudgetId, Spent } from '../../keys/budget.ts'
import type { Batch, Journal, LeftOpen, SettledExchange } from '../../ledger/journal.ts'
import { isError, type Outcome } from '../../ledger/ledger.ts'
import type { Calendar } from '../../lib/calendar.ts'
import { byPieceOf, droppedOf, picturesText, toolsOf, trailOf } from '../exchange-texts.ts'
import { addFigures, FIGURES, type Figures, NO_FIGURES, SUMS } from '../figures.ts'
import { TRY_MS } from '../patience.ts'
import { storeError } from '../store.ts'
import { createList, KEYS, MODELS } from './blocks.ts'
import type { BudgetRing } from './budgets.ts'
import { isFull, toStoreError } from './check.ts'
import { type Checkpoints, createCheckpoints } from './checkpoint.ts'
import type { KeyRing } from './keys.ts'
import { type KeptLock, keepLock } from './lock.ts'

const COLUMNS = SUMS.join(', ')
const ADDED = SUMS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')
/** Into a table of sums, whose rows are told apart by these columns. */
const addTo = (table: string, by: readonly string[]) => `
  INSERT INTO ${table} (${by.join(', ')}, ${COLUMNS}) VALUES (${[...by, ...SUMS].map(() => '?').join(', ')})
  ON CONFLICT (${by.join(', ')}) DO UPDATE SET ${ADDED}`

const ADD_TOOL = `
  INSERT INTO usage_tools (day, key_id, model, tool, calls) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (day, key_id, model, tool) DO UPDATE SET calls = calls + excluded.calls`

const OPEN = `
  INSERT INTO reservations (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved,
    reserved_micro_usd, budgets, address, tag, pictures)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const PROGRESS = `
  UPDATE reservations SET input = ?, cache_read = ?, cache_write = ?, output = ?, reasoning = ?, server_tools = ?
  WHERE row = ?`
const SETTLE = `
  INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, input, cache_read,
    cache_write, output, reasoning, ended_at, outcome, status, error_code, provider, account, upstream_model,
    provider_wire, attempts, first_byte_ms, total_ms, estimated, cost_micro_usd, fees_micro_usd, raw_usage, trail, dropped,
    left_after, server_tools, address, tag)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const CHARGE = `
  UPDATE keys SET tokens_used = tokens_used + ?, last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?`
const LAST_ROW = `
  SELECT max(coalesce((SELECT max(row) FROM exchanges), 0), coalesce((SELECT max(row) FROM reservations), 0),
    coalesce((SELECT max(row) FROM refusals), 0)) AS row`
const LEFT_OPEN = `
  SELECT row, id AS exchangeId, key_id AS keyId, model, wire, stream, started_at AS startedAt,
    input_estimate AS inputEstimate, reserved, reserved_micro_usd AS reservedMicroUsd, budgets, address, tag, pictures,
    server_tools AS serverTools, input, cache_read AS cacheRead, cache_write AS cacheWrite, output, reasoning
  FROM reservations ORDER BY row`
/** Settled exchanges whose sums are not added: their reservations are still there. */
const UNSUMMED = `
  SELECT row, outcome, input, cache_read AS cacheRead, cache_write AS cacheWrite, output, reasoning,
    attempts, estimated, cost_micro_usd AS costMicroUsd, fees_micro_usd AS feesMicroUsd, ended_at AS endedAt,
    server_tools AS serverTools, provider, account
  FROM exchanges WHERE row IN (SELECT row FROM reservations)`

type Counts = { [name in 'input' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning']-?: number | null }
type LeftRow = Omit<LeftOpen, 'usage' | 'stream' | 'ended' | Text> &
  Counts & { stream: number } & {
    [name in Text]: string | null
  }
type Text = 'budgets' | 'address' | 'tag' | 'pictures' | 'serverTools'
type UnsummedRow = Counts &
  Pick<SettledExchange, 'costMicroUsd' | 'endedAt'> & {
    row: number
    outcome: Outcome
    attempts: number
    estimated: number
    feesMicroUsd: number | null
    serverTools: string | null
    provider: string | null
    account: string | null
  }

/** The sums of one hour, key and model; of one hour and account; of one day, key and tag. */
type Rollup = { hour: number; keyId: string; model: string; figures: Figures }
type AccountRollup = { hour: number; provider: string; account: string; figures: Figures }
type TagRollup = { day: number; keyId: string; tag: string; figures: Figures }

/** `keys`: tokens, by key. `passed`: marks of budgets were. */
type Charged = { keys: Map<string, number>; budgets: Map<BudgetId, Spent>; passed: boolean }

type Options = {
  /** Undefined: an in-memory database, which no other process can open. */
  path: string | undefined
  ring: KeyRing
  ofBudgets: BudgetRing
  calendar: Calendar
  /** Of a server that may be ending. */
  lockWaitMs: number
}

export const createJournal = (db: Database, { path, ring, ofBudgets, calendar, lockWaitMs }: Options) => {
  const begin = db.query('BEGIN IMMEDIATE')
  const commit = db.query('COMMIT')
  const rollback = db.query('ROLLBACK')
  const open = db.query(OPEN)
  const progress = db.query(PROGRESS)
  const settle = db.query(SETTLE)
  const drop = db.query('DELETE FROM exchanges WHERE row = ?')
  const free = db.query('DELETE FROM reservations WHERE row = ?')
  const addHour = db.query(addTo('usage_hours', ['hour', 'key_id', 'model']))
  const addDay = db.query(addTo('usage_days', ['day', 'key_id', 'model']))
  const addModel = db.query(addTo('usage_models', ['hour', 'model']))
  const addTool = db.query(ADD_TOOL)
  const addAccount = db.query(addTo('usage_accounts', ['hour', 'provider', 'account']))
  const addTag = db.query(addTo('usage_tags', ['day', 'key_id', 'tag']))
  const listed = { keys: createList(db, KEYS), models: createList(db, MODELS) }
  const charge = db.query(CHARGE)
  const tagsOf = db.query<{ tag: string }, [number, string]>('SELECT tag FROM usage_tags WHERE day = ? AND key_id = ?')
  /** Settlements whose rows are written, and their sums are not. */
  const ended = new WeakSet<SettledExchange>()
  let lock: KeptLock | undefined
  let writeSettled = (_required?: boolean): void => {}
  let lastRow = 0
  let checkpoints: Checkpoints | undefined

  const writeRow = (settled: SettledExchange): void => {
    const { open: exchange, settlement: how } = settled
    const { usage } = how
    if (settled.replaces) drop.run(exchange.row)
    settle.run(
      exchange.row,
      exchange.exchangeId,
      exchange.keyId,
      exchange.model,
      exchange.wire,
      exchange.stream ? 1 : 0,
      exchange.startedAt,
      exchange.inputEstimate,
      exchange.reserved,
      usage.input ?? null,
      usage.cacheRead ?? null,
      usage.cacheWrite ?? null,
      usage.output ?? null,
      usage.reasoning ?? null,
      settled.endedAt,
      how.outcome,
      how.status ?? null,
      how.errorCode ?? null,
      how.provider ?? null,
      how.account ?? null,
      how.upstreamModel ?? null,
      how.providerWire ?? null,
      how.attempts,
      how.firstByteMs ?? null,
      how.totalMs ?? null,
      how.estimated ? 1 : 0,
      settled.costMicroUsd,
      settled.feesMicroUsd === 0 ? null : settled.feesMicroUsd,
      settled.rawUsage ?? null,
      trailOf(how.trail),
      droppedOf(how.dropped),
      settled.leftAfter ?? null,
      toolsOf(how.serverTools),
      exchange.address ?? null,
      exchange.tag ?? null,
    )
    listed.keys.note(exchange.row, exchange.keyId)
    listed.models.note(exchange.row, exchange.model)
  }

  /** Returns what was charged. */
  const writeAll = (batch: Batch): Charged => {
    for (const each of batch.opened) {
      const { exchangeId, keyId, model, wire, stream, startedAt, inputEstimate, reserved, reservedMicroUsd } = each
      const ofBudgets = each.budgets.length === 0 ? null : JSON.stringify(each.budgets)
      each.row = ++lastRow
      open.run(
        ...[each.row, exchangeId, keyId, model, wire, stream ? 1 : 0, startedAt, inputEstimate, reserved],
        ...[reservedMicroUsd, ofBudgets, each.address ?? null, each.tag ?? null],
        picturesText(each.pictures),
      )
    }
    for (const { open: exchange, usage, serverTools } of batch.progressed) {
      const { input, cacheRead, cacheWrite, output, reasoning } = usage
      progress.run(
        input ?? null,
        cacheRead ?? null,
        cacheWrite ?? null,
        output ?? null,
        reasoning ?? null,
        toolsOf(serverTools),
        exchange.row,
      )
    }
    for (const settled of batch.ended ?? []) if (!ended.has(settled)) writeRow(settled)
    const rollups = new Map<string, Rollup>()
    const models = new Map<string, Omit<Rollup, 'keyId'>>()
    const accounts = new Map<string, AccountRollup>()
    const tags = new Map<string, TagRollup>()
    const usedAt = new Map<string, number>()
    const spent = new Map<BudgetId, Spent>()
    for (const settled of batch.settled) {
      const { row, keyId, model, startedAt, budgets } = settled.open
      free.run(row)
      if (!ended.has(settled)) writeRow(settled)
      for (const [tool, calls] of Object.entries(settled.settlement.serverTools ?? {}))
        addTool.run(calendar.dayOf(startedAt), keyId, model, tool, calls)
      const hour = calendar.hourOf(startedAt)
      const { provider = '', account = '' } = settled.settlement
      sumUp(rollups, { hour, keyId, model }, settled)
      sumUp(accounts, { hour, provider, account }, settled)
      const { tag } = settled.open
      if (tag !== undefined) sumUp(tags, { day: calendar.dayOf(startedAt), keyId, tag }, settled)
      usedAt.set(keyId, Math.max(usedAt.get(keyId) ?? 0, startedAt))
      for (const id of budgets) addSpent(spent, id, settled)
    }
    const charges = new Map<string, number>()
    for (const { hour, keyId, model, figures } of rollups.values()) {
      const sums = inOrder(figures)
      addHour.run(hour, keyId, model, ...sums)
      addDay.run(calendar.dayOf(hour), keyId, model, ...sums)
      const name = `${hour} ${model}`
      models.set(name, { hour, model, figures: addFigures(models.get(name)?.figures ?? NO_FIGURES, figures) })
      charges.set(keyId, (charges.get(keyId) ?? 0) + totalTokens(figures))
    }
    for (const { hour, provider, account, figures } of accounts.values())
      addAccount.run(hour, provider, account, ...inOrder(figures))
    for (const { day, keyId, tag, figures } of tags.values()) addTag.run(day, keyId, tag, ...inOrder(figures))
    for (const { hour, model, figures } of models.values()) addModel.run(hour, model, ...inOrder(figures))
    for (const [keyId, tokens] of charges) charge.run(tokens, usedAt.get(keyId) ?? 0, keyId)
    return { keys: charges, budgets: spent, passed: spent.size > 0 && ofBudgets.write(spent) }
  }

  const journal: Omit<Journal, 'nameOf' | 'answerOf'> = {
    claim(before) {
      if (lock !== undefined) throw storeError('This store already has its ledger.')
      lock = path === undefined ? { holds: () => true, release() {} } : keepLock(path, lockWaitMs)
      writeSettled = before
      if (path !== undefined) checkpoints = createCheckpoints(db, path)
      db.run(`PRAGMA busy_timeout = ${TRY_MS}`)
      lastRow = db.query<{ row: number }, []>(LAST_ROW).get()?.row ?? 0
      const unsummed = new Map(
        db
          .query<UnsummedRow, []>(UNSUMMED)
          .all()
          .map((row) => [row.row, row]),
      )
      const left = db
        .query<LeftRow, []>(LEFT_OPEN)
        .all()
        .map((row) => toLeftOpen(row, unsummed.get(row.row)))
      for (const each of left) if (each.ended !== undefined) ended.add(each.ended)
      return left
    },
    tags: (keyId, day) => tagsOf.all(day, keyId).map(({ tag }) => tag),
    charge({ keyId, budgets }, spent) {
      ring.charge(keyId, spent.tokens)
      if (budgets.length > 0) ofBudgets.charge(budgets, spent)
    },
    shortage: () =>
      path !== undefined && checkpoints?.isShort() === true
        ? storeError(
            `The disk of the database ${path} has room left only for ending the requests that are open; make room, or end what has read the database for long, as its log cannot shrink meanwhile.`,
          )
        : undefined,
    write(batch) {
      let charged: Charged
      try {
        begin.run()
        charged = writeAll(batch)
        commit.run()
      } catch (error) {
        // Some failures, such as a full disk, have rolled back already.
        if (db.inTransaction) rollback.run()
        listed.keys.forget()
        listed.models.forget()
        if (isFull(error)) checkpoints?.full()
        throw path === undefined ? error : toStoreError(path, error)
      }
      ring.written(charged.keys)
      ofBudgets.written(charged.budgets, charged.passed)
      for (const each of batch.ended ?? []) ended.add(each)
      checkpoints?.wrote(
        batch.opened.length + batch.progressed.length + (batch.ended?.length ?? 0) + batch.settled.length,
      )
    },
  }
  return {
    ...journal,
    claimed: () => lock !== undefined,
    /** Whether no other server has taken the database over. */
    holds: () => lock?.holds() !== false,
    /** The number of a row that others than the journal write. */
    nextRow: () => ++lastRow,
    /** Reports records that others than the journal have written to the log. */
    wrote: (records: number) => checkpoints?.wrote(records),
    /** To be called before exchanges or their sums are read. `required`: throws where they cannot be written. */
    settle: (required = false) => writeSettled(required),
    /** Before the connection closes. */
    stop() {
      checkpoints?.stop()
    },
    release() {
      lock?.release()
      lock = undefined
      writeSettled = () => {}
    },
  }
}

/** To the sums of that name, which begin with it. */
const sumUp = <T extends object>(
  rollups: Map<string, T & { figures: Figures }>,
  of: T,
  settled: SettledExchange,
): void => {
  const name = Object.values(of).join(' ')
  let rollup = rollups.get(name)
  if (rollup === undefined) {
    rollup = { ...of, figures: { ...NO_FIGURES } }
    rollups.set(name, rollup)
  }
  addExchange(rollup.figures, settled)
}

const addExchange = (figures: Figures, { settlement, costMicroUsd, feesMicroUsd }: SettledExchange): void => {
  const { usage, outcome } = settlement
  figures.requests++
  if (isError(outcome)) figures.errors++
  figures.input += usage.input ?? 0
  figures.cacheRead += usage.cacheRead ?? 0
  figures.cacheWrite += usage.cacheWrite ?? 0
  figures.output += usage.output ?? 0
  figures.reasoning += usage.reasoning ?? 0
  figures.costMicroUsd += costMicroUsd
  figures.feesMicroUsd += feesMicroUsd
}

const addSpent = (spent: Map<BudgetId, Spent>, id: BudgetId, { settlement, costMicroUsd }: SettledExchange): void => {
  const { tokens, microUsd } = spent.get(id) ?? { tokens: 0, microUsd: 0 }
  spent.set(id, { tokens: tokens + totalTokens(settlement.usage), microUsd: microUsd + costMicroUsd })
}

const inOrder = (figures: Figures): number[] => FIGURES.map((name) => figures[name])

const toLeftOpen = (
  {
    input,
    cacheRead,
    cacheWrite,
    output,
    reasoning,
    stream,
    budgets,
    address,
    tag,
    pictures,
    serverTools,
    ...row
  }: LeftRow,
  ended: UnsummedRow | undefined,
): LeftOpen => {
  const known = { address: address ?? undefined, tag: tag ?? undefined, ...byPieceOf(pictures, serverTools) }
  const ofBudgets = budgets === null ? [] : (JSON.parse(budgets) as string[])
  const open = { ...row, ...known, stream: stream !== 0, budgets: ofBudgets }
  const usage = usageOf(ended ?? { input, cacheRead, cacheWrite, output, reasoning })
  return ended === undefined ? { ...open, usage } : { ...open, usage, ended: toSettled(open, usage, ended) }
}

/** As far as sums need it. */
const toSettled = (
  open: SettledExchange['open'],
  usage: Usage,
  { outcome, attempts, estimated, costMicroUsd, feesMicroUsd, endedAt, serverTools, provider, account }: UnsummedRow,
): SettledExchange => ({
  open,
  settlement: {
    ...{ outcome, usage, estimated: estimated !== 0, attempts, status: undefined, totalMs: undefined },
    serverTools: serverTools === null ? undefined : JSON.parse(serverTools),
    provider: provider ?? undefined,
    account: account ?? undefined,
  },
  endedAt,
  costMicroUsd,
  feesMicroUsd: feesMicroUsd ?? 0,
  rawUsage: undefined,
  leftAfter: undefined,
})

const usageOf = ({ input, cacheRead, cacheWrite, output, reasoning }: Counts): Usage => {
  const usage: Usage = {}
  if (input !== null) usage.input = input
  if (cacheRead !== null) usage.cacheRead = cacheRead
  if (cacheWrite !== null) usage.cacheWrite = cacheWrite
  if (output !== null) usage.output = output
  if (reasoning !== null) usage.reasoning = reasoning
  return usage
}
