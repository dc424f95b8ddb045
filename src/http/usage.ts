// What is left on the calling key.

import { Elysia } from 'elysia'
import type { Gateway } from '../gateway.ts'
import { guarded } from './guarded.ts'

export const usage = (gateway: Gateway) =>
  new Elysia({ name: 'usage' }).get('/v1/usage', ({ request }) =>
    guarded(gateway, request, (key) => {
      const remaining = Math.max(0, key.tokensTotal - key.tokensUsed)
      return {
        label: key.label,
        tokens_total: key.tokensTotal,
        tokens_used: key.tokensUsed,
        tokens_remaining: remaining,
        expires_at: new Date(key.expiresAt).toISOString(),
        status: remaining > 0 ? 'active' : 'exhausted',
        rate: { khr_per_usd: gateway.config.khrPerUsd },
      }
    }),
  )
