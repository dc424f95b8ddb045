// What the client API tells a key about itself, as the page for key holders shows it.

import type { Static } from '@sinclair/typebox'
import type {
  UsageHistory as UsageHistorySchema,
  UsageRecord as UsageRecordSchema,
} from '../../../http/openapi-schemas.ts'
import { callWithKey } from './api.ts'

export type UsageRecord = Static<typeof UsageRecordSchema>
export type UsageHistory = Static<typeof UsageHistorySchema>

export const DAYS = 90

/** Throws an ApiError. */
export const fetchHolder = async (secret: string): Promise<{ record: UsageRecord; history: UsageHistory }> => {
  const [record, history] = await Promise.all([
    callWithKey<UsageRecord>('/v1/usage', secret),
    callWithKey<UsageHistory>(`/v1/usage/history?days=${DAYS}`, secret),
  ])
  return { record, history }
}
