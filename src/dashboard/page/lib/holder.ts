// What the client API tells a key about itself, as the page for key holders shows it.

import type { Static } from '@sinclair/typebox'
import type { UsageRecord as UsageRecordSchema } from '../../../http/openapi-schemas.ts'
import { callWithKey } from './api.ts'

export type UsageRecord = Static<typeof UsageRecordSchema>

type Sums = { requests: number; tokens: number; cost_micro_usd: number; cost_khr: number }
export type UsageHistory = { days: (Sums & { at: string })[]; models: (Sums & { model: string })[] }

/** Throws an ApiError. */
export const fetchHolder = async (secret: string): Promise<{ record: UsageRecord; history: UsageHistory }> => {
  const [record, history] = await Promise.all([
    callWithKey<UsageRecord>('/v1/usage', secret),
    callWithKey<UsageHistory>('/v1/usage/history', secret),
  ])
  return { record, history }
}
