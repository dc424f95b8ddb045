// The migrations, embedded: a compiled binary reads no folder.

import init from '../../../drizzle/0000_init.sql' with { type: 'text' }
import members from '../../../drizzle/0001_members.sql' with { type: 'text' }
import usageModels from '../../../drizzle/0002_usage_models.sql' with { type: 'text' }
import reservations from '../../../drizzle/0003_reservations.sql' with { type: 'text' }
import exchangeBlocks from '../../../drizzle/0004_exchange_blocks.sql' with { type: 'text' }
import backgroundAnswers from '../../../drizzle/0005_background_answers.sql' with { type: 'text' }
import renewals from '../../../drizzle/0006_renewals.sql' with { type: 'text' }
import serverTools from '../../../drizzle/0007_server_tools.sql' with { type: 'text' }
import topUps from '../../../drizzle/0008_top_ups.sql' with { type: 'text' }
import secondFactors from '../../../drizzle/0009_second_factors.sql' with { type: 'text' }
import budgets from '../../../drizzle/0010_budgets.sql' with { type: 'text' }
import keptAnswers from '../../../drizzle/0011_kept_answers.sql' with { type: 'text' }
import refusals from '../../../drizzle/0012_refusals_and_spending.sql' with { type: 'text' }
import entries from '../../../drizzle/0013_entries.sql' with { type: 'text' }
import alerts from '../../../drizzle/0014_alerts.sql' with { type: 'text' }
import fees from '../../../drizzle/0015_fees.sql' with { type: 'text' }
import keptTokens from '../../../drizzle/0016_kept_tokens.sql' with { type: 'text' }
import capture from '../../../drizzle/0017_capture.sql' with { type: 'text' }
import blocksOfModels from '../../../drizzle/0018_blocks_of_models.sql' with { type: 'text' }
import prices from '../../../drizzle/0019_prices.sql' with { type: 'text' }

type Migration = { name: string; sql: string }

/** Applied in order, once each, when the store opens. A released entry never changes. A test compares it with the folder. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0000_init', sql: init },
  { name: '0001_members', sql: members },
  { name: '0002_usage_models', sql: usageModels },
  { name: '0003_reservations', sql: reservations },
  { name: '0004_exchange_blocks', sql: exchangeBlocks },
  { name: '0005_background_answers', sql: backgroundAnswers },
  { name: '0006_renewals', sql: renewals },
  { name: '0007_server_tools', sql: serverTools },
  { name: '0008_top_ups', sql: topUps },
  { name: '0009_second_factors', sql: secondFactors },
  { name: '0010_budgets', sql: budgets },
  { name: '0011_kept_answers', sql: keptAnswers },
  { name: '0012_refusals_and_spending', sql: refusals },
  { name: '0013_entries', sql: entries },
  { name: '0014_alerts', sql: alerts },
  { name: '0015_fees', sql: fees },
  { name: '0016_kept_tokens', sql: keptTokens },
  { name: '0017_capture', sql: capture },
  { name: '0018_blocks_of_models', sql: blocksOfModels },
  { name: '0019_prices', sql: prices },
]
