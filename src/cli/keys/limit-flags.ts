// The flags of a key's limits, the same where a key is made and changed.

import { readCount } from '../read.ts'

export const LIMIT_FLAGS = {
  rpm: { type: 'string', valueHint: 'N', description: 'Requests per minute; 0 is no limit' },
  tpm: { type: 'string', valueHint: 'N', description: 'Tokens per minute; 0 is no limit' },
  concurrency: { type: 'string', valueHint: 'N', description: 'Requests at once; 0 is no limit' },
} as const

type Written = { rpm?: string | undefined; tpm?: string | undefined; concurrency?: string | undefined }

export const readLimits = (args: Written) => ({
  rpm: readCount('--rpm', args.rpm),
  tpm: readCount('--tpm', args.tpm),
  concurrency: readCount('--concurrency', args.concurrency),
})
