// The flags of a key's limits, the same where a key is made and changed.

import { readCount } from '../read.ts'

export const LIMIT_FLAGS = {
  rpm: { type: 'string', valueHint: 'N', description: 'Requests per minute; 0 is no limit' },
  tpm: { type: 'string', valueHint: 'N', description: 'Tokens per minute; 0 is no limit' },
  concurrency: { type: 'string', valueHint: 'N', description: 'Requests at once; 0 is no limit' },
} as const

/** What `--renews` is. */
export const RENEWS = 'Used tokens start again from 0 each day, week or month (UTC), or never'

type Name = keyof typeof LIMIT_FLAGS

/** Those that were named. */
export const readLimits = (args: { [name in Name]?: string | undefined }): { [name in Name]?: number } => {
  const limits: { [name in Name]?: number } = {}
  for (const name of ['rpm', 'tpm', 'concurrency'] as const) {
    const limit = readCount(`--${name}`, args[name])
    if (limit !== undefined) limits[name] = limit
  }
  return limits
}
