// The migrations for PostgreSQL, embedded: a compiled binary reads no folder.

import init from '../../../drizzle/postgres/0000_init.sql' with { type: 'text' }
import hotRows from '../../../drizzle/postgres/0001_hot_rows.sql' with { type: 'text' }
import ledgerColumns from '../../../drizzle/postgres/0002_ledger_columns.sql' with { type: 'text' }
import ledger from '../../../drizzle/postgres/0003_ledger.sql' with { type: 'text' }
import fees from '../../../drizzle/postgres/0004_fees.sql' with { type: 'text' }
import feesOfTheLedger from '../../../drizzle/postgres/0005_fees_of_the_ledger.sql' with { type: 'text' }
import leases from '../../../drizzle/postgres/0006_leases.sql' with { type: 'text' }
import sweeping from '../../../drizzle/postgres/0007_sweeping.sql' with { type: 'text' }
import windows from '../../../drizzle/postgres/0008_windows.sql' with { type: 'text' }
import ledgerCosts from '../../../drizzle/postgres/0009_ledger_costs.sql' with { type: 'text' }
import keptTokens from '../../../drizzle/postgres/0010_kept_tokens.sql' with { type: 'text' }
import life from '../../../drizzle/postgres/0011_life.sql' with { type: 'text' }
import crashesAndOutages from '../../../drizzle/postgres/0012_crashes_and_outages.sql' with { type: 'text' }
import capture from '../../../drizzle/postgres/0013_capture.sql' with { type: 'text' }
import turns from '../../../drizzle/postgres/0014_turns.sql' with { type: 'text' }
import withoutStarted from '../../../drizzle/postgres/0015_without_started.sql' with { type: 'text' }
import plainTurns from '../../../drizzle/postgres/0016_plain_turns.sql' with { type: 'text' }
import limitedTurns from '../../../drizzle/postgres/0017_limited_turns.sql' with { type: 'text' }
import lateCorrections from '../../../drizzle/postgres/0018_late_corrections.sql' with { type: 'text' }
import prices from '../../../drizzle/postgres/0019_prices.sql' with { type: 'text' }

/**
 * `contracts`: it takes away what versions without it need, all of them stopped by then; nodes of a version that does not know it
 * are refused from then on. Others only add: nodes of the version before go on beside it.
 */
export type Migration = { name: string; sql: string; contracts?: true }

/** Applied in order, once each, when a node opens the store. A released entry never changes. A test compares it with the folder. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0000_init', sql: init },
  { name: '0001_hot_rows', sql: hotRows },
  { name: '0002_ledger_columns', sql: ledgerColumns },
  { name: '0003_ledger', sql: ledger },
  { name: '0004_fees', sql: fees },
  { name: '0005_fees_of_the_ledger', sql: feesOfTheLedger },
  { name: '0006_leases', sql: leases },
  { name: '0007_sweeping', sql: sweeping },
  { name: '0008_windows', sql: windows },
  { name: '0009_ledger_costs', sql: ledgerCosts },
  { name: '0010_kept_tokens', sql: keptTokens },
  { name: '0011_life', sql: life },
  { name: '0012_crashes_and_outages', sql: crashesAndOutages },
  { name: '0013_capture', sql: capture },
  { name: '0014_turns', sql: turns },
  { name: '0015_without_started', sql: withoutStarted },
  { name: '0016_plain_turns', sql: plainTurns },
  { name: '0017_limited_turns', sql: limitedTurns },
  { name: '0018_late_corrections', sql: lateCorrections },
  { name: '0019_prices', sql: prices },
]
