// The state of a key in one word, and how much of its quota is gone.

import type { Key } from '../../../admin-api/schema.ts'
import { compact, percent } from '../lib/format.ts'
import { Badge, Meter } from './parts.tsx'

const TONES = { active: 'good', exhausted: 'warn', expired: 'warn', revoked: 'bad' } as const

export const KeyStatus = ({ status }: { status: Key['status'] }) => <Badge tone={TONES[status]}>{status}</Badge>

const shareUsed = ({ tokens_used, tokens_total }: Pick<Key, 'tokens_used' | 'tokens_total'>): number =>
  tokens_total === 0 ? 1 : tokens_used / tokens_total

export const QuotaMeter = ({ of }: { of: Pick<Key, 'tokens_used' | 'tokens_total'> }) => (
  <Meter
    share={shareUsed(of)}
    label={`${percent(shareUsed(of))} used: ${compact(of.tokens_used)} of ${compact(of.tokens_total)} tokens`}
  />
)
