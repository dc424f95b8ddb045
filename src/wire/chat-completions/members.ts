// Names and values on this wire: sampling parameters, service tiers, what others ask for.

import type { JsonObject } from '../../ir/json.ts'
import type { Sampling } from '../../ir/request.ts'

/** The members that hold sampling parameters. */
export const SAMPLING = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  seed: 'seed',
} as const satisfies Record<keyof Sampling, string>
export const SAMPLING_KEYS = Object.keys(SAMPLING) as (keyof Sampling)[]

/** The `reasoning_content` of a turn without a thought, for servers that want one in each: they refuse an empty one. */
export const NO_THOUGHT = ' '

/** The `extra_content` of a call that another model has made, as the vendor of such models asks for it. */
export const NO_SIGNATURE: JsonObject = { google: { thought_signature: 'skip_thought_signature_validator' } }

/**
 * Members in which clients of other servers of the chat-completions wire ask for thoughts and for figures; vendor_b refuses
 * them there.
 */
export const OTHERS_WISHES = ['reasoning', 'thinking', 'include_reasoning', 'reasoning_format', 'usage'] as const

const TIERS = ['auto', 'default', 'flex', 'scale', 'priority', 'fast']

/** The tier, where the wire has it. */
export const tierOf = (tier: string | undefined): string | undefined =>
  tier !== undefined && TIERS.includes(tier) ? tier : undefined
