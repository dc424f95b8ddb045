// Parses JSON so that every number stays as it was written, however large.

import type { Json } from '../../../src/ir/json.ts'

type Source = { source?: string }
const raw = JSON as typeof JSON & { rawJSON(text: string): Json }

/** Parses a text so that stringifying gives the numbers back digit by digit. */
export const exactly = (text: string): Json =>
  JSON.parse(text, (_, value, context?: Source) =>
    typeof value === 'number' && context?.source !== undefined ? raw.rawJSON(context.source) : value,
  )
