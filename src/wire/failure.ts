// A provider's failure in the gateway's words: each class the codecs recognise becomes one error of the contract.

import { GatewayError, type ProviderFailure } from '../errors.ts'
import type { ChatWire } from '../ir/wire.ts'

/**
 * `context-length`, `content-policy`, `too-large`: the request's own fault, the same at every provider of its kind.
 * `overloaded`: rate limits, overload, exhausted provider quota. `beyond-limit`: more at once than the account is ever
 * given; another account's limits may be wider. `sealed-elsewhere`: it holds a thought that another account has sealed,
 * and can read. `invalid`: the provider refused the request as malformed; no retry mends it. `refused`: everything else,
 * credentials and unknown models included.
 */
export type FailureClass =
  | 'context-length'
  | 'content-policy'
  | 'too-large'
  | 'overloaded'
  | 'beyond-limit'
  | 'sealed-elsewhere'
  | 'invalid'
  | 'refused'

export type FailureDetails = {
  provider: ProviderFailure
  /** For `context-length`: the figures the provider gave. */
  tokens?: number
  maximum?: number
  prompt?: number
  answer?: number
  retryAfterMs?: number
  /** For `invalid`: the provider's other wire, where it takes the request. */
  takenOn?: ChatWire
}

export const providerError = (kind: FailureClass, details: FailureDetails): GatewayError => {
  const { provider } = details
  switch (kind) {
    case 'context-length':
      return new GatewayError('context_length_exceeded', contextMessage(details), { provider })
    case 'content-policy':
      return new GatewayError(
        'content_policy_violation',
        'The content was refused by the content policy of the model. Change the input and try again.',
        { provider },
      )
    case 'too-large':
      return new GatewayError(
        'payload_too_large',
        'The request is larger than the model accepts. Send a smaller request.',
        { provider },
      )
    case 'overloaded':
      return new GatewayError('service_unavailable', 'The model is overloaded at the moment. Try again shortly.', {
        provider,
        retryAfterMs: details.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS,
      })
    case 'beyond-limit':
      return new GatewayError(
        'service_unavailable',
        'The request is larger than the provider takes within a minute. Send a smaller one.',
        { provider, retry: false, failover: true },
      )
    case 'sealed-elsewhere':
      return new GatewayError(
        'upstream_error',
        'The request holds thoughts that this provider cannot read. Send it again without its reasoning.',
        { provider, retry: false, failover: true },
      )
    case 'invalid':
      return new GatewayError(
        'upstream_error',
        'The provider refused the request as invalid for this model. Check its parameters.',
        { provider, retry: false, takenOn: details.takenOn },
      )
    case 'refused':
      return new GatewayError('upstream_error', 'The provider could not answer the request. Try again.', { provider })
  }
}

/** When a provider asks for patience without saying how much. */
const DEFAULT_RETRY_AFTER_MS = 5_000

// Coding agents start their compaction on the first words; the figures are all they read besides. Others (whatever is
// built on LiteLLM) know vendor_b's words alone, in brackets here, and no code. Some servers count the prompt alone where
// prompt and answer together are too long: that figure would say the opposite. Claude Code asks for a shorter answer
// instead, where that helps, by vendor_a's words for it.
const contextMessage = ({ tokens: told, maximum, prompt, answer }: Omit<FailureDetails, 'provider'>): string => {
  const both = prompt === undefined || answer === undefined ? undefined : prompt + answer
  const tokens = both ?? told
  if (tokens === undefined || maximum === undefined || tokens <= maximum)
    return "prompt is too long: the input exceeds the context window of this model (this model's maximum context length is exceeded)"
  const room =
    prompt === undefined || prompt >= maximum
      ? ''
      : `; input length and \`max_tokens\` exceed context limit: ${prompt} + ${answer} > ${maximum}`
  return `prompt is too long: ${tokens} tokens > ${maximum} maximum (this model's maximum context length is ${maximum} tokens${room})`
}
