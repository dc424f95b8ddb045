// The flags of what a key is limited to, the same where a key is made and changed.

import { CAPTURES, type Captured } from '../../keys/key.ts'
import { RENEWALS } from '../../keys/renewal.ts'
import type { ServerTools } from '../../keys/server-tools.ts'
import { readCapture, readCount, readNames, readNetworks, readServerTools } from '../read.ts'

const limitFlags = (none: string) =>
  ({
    rpm: { type: 'string', valueHint: 'N', description: `Requests per minute; ${none}` },
    tpm: { type: 'string', valueHint: 'N', description: `Tokens per minute; ${none}` },
    concurrency: { type: 'string', valueHint: 'N', description: `Requests at once; ${none}` },
  }) as const

export const LIMIT_FLAGS = limitFlags('0 is no limit')

/** What takes a limit of the key's own back, as `keys show` calls it. */
const DEFAULT = 'default'

export const LIMIT_CHANGE_FLAGS = limitFlags(`0 is no limit, ${DEFAULT} the gateway's`)

export const SERVER_TOOLS_FLAG = {
  'server-tools': {
    type: 'string',
    valueHint: 'LIST',
    description: 'Tools that run at the vendor: all, none, or names such as web_search,mcp',
  },
} as const

/** `or`: what a change takes besides. */
const ipsFlag = (or: string) =>
  ({
    ips: {
      type: 'string',
      valueHint: 'LIST',
      description: `Where it may be used from, such as 203.0.113.7,10.0.0.0/8${or}`,
    },
  }) as const

export const IPS_FLAG = ipsFlag(' (default anywhere)')
export const IPS_CHANGE_FLAG = ipsFlag('; any for anywhere')

const captureFlag = (end: string) =>
  ({
    capture: {
      type: 'string',
      valueHint: 'WHAT',
      description: `What OpenTelemetry gets, where set up: content (prompts and answers) or none${end}`,
    },
  }) as const

export const CAPTURE_FLAG = captureFlag(' (default)')
export const CAPTURE_CHANGE_FLAG = captureFlag('')

/** What `--renews` is. */
export const RENEWS = 'Used tokens start again from 0 each day, week or month, or never'

/** The words that `--renews` and `--capture` take. */
export const USE_WORDS = { renews: [...RENEWALS, 'never'], capture: [...CAPTURES, 'none'] }

type Name = keyof typeof LIMIT_FLAGS

const NAMES = ['rpm', 'tpm', 'concurrency'] as const

type Args = { [name in Name]?: string | undefined }

/** Those that were named. `or`: a word that they take besides. */
export const readLimits = (args: Args, or?: string): { [name in Name]?: number } => {
  const limits: { [name in Name]?: number } = {}
  for (const name of NAMES) {
    const limit = readCount(`--${name}`, args[name], or)
    if (limit !== undefined) limits[name] = limit
  }
  return limits
}

/** The same of a change: null where the gateway's default is to apply again. */
export const readLimitChanges = (args: Args): { [name in Name]?: number | null } => {
  const again = NAMES.filter((name) => args[name] === DEFAULT)
  const named = Object.fromEntries(again.map((name) => [name, undefined]))
  return { ...readLimits({ ...args, ...named }, DEFAULT), ...Object.fromEntries(again.map((name) => [name, null])) }
}

type UseArgs = { [name in 'models' | 'server-tools' | 'ips' | 'capture']?: string | undefined }

/** What a key may be used for and from where, and what is captured of that; those that were named. */
export const readUse = ({
  models,
  'server-tools': tools,
  ips,
  capture,
}: UseArgs): { models?: string[]; serverTools?: ServerTools; ips?: string[] | null; capture?: Captured | null } => ({
  ...(models === undefined ? {} : { models: readNames('--models', models) }),
  ...(tools === undefined ? {} : { serverTools: readServerTools('--server-tools', tools) }),
  ...(ips === undefined ? {} : { ips: readNetworks('--ips', ips) }),
  ...(capture === undefined ? {} : { capture: readCapture('--capture', capture) }),
})
