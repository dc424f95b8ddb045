// The classes of provider failures that codecs recognise, each of which becomes one error of the contract.

import { type ContextWindow, GatewayError, type ProviderFailure, type Remedy } from '../../errors.ts'
import type { Overlong } from './overlong.ts'

/**
 * `context-length`, `content-policy`, `too-large`: the request's own fault, the same at every provider of its kind.
 * `overloaded`: rate limits and overload. `out-of-money`: the account's credit or budget is spent. `beyond-limit`: larger
 * than the account's rate limit, so that waiting does not help; another account may have a higher limit.
 * `reasoning-refused`: it contains earlier reasoning that the provider cannot read; another account, or a request without
 * it, may be answered. `invalid`: the provider refused the request as malformed; retrying does not help. `refused`:
 * everything else, bad credentials and unknown models included.
 */
export type FailureClass =
  | 'context-length'
  | 'content-policy'
  | 'too-large'
  | 'overloaded'
  | 'out-of-money'
  | 'beyond-limit'
  | 'reasoning-refused'
  | 'invalid'
  | 'refused'

/** The token counts are for `context-length`. */
export type FailureDetails = Overlong & {
  provider: ProviderFailure
  retryAfterMs?: number
  /** For `invalid`. */
  remedy?: Remedy
  named?: readonly string[]
}

export const providerError = (kind: FailureClass, details: FailureDetails): GatewayError => {
  const { provider } = details
  switch (kind) {
    case 'context-length':
      return new GatewayError('context_length_exceeded', contextMessage(details), {
        provider,
        window: windowIn(details),
      })
    case 'content-policy':
      return new GatewayError('content_policy_violation', CONTENT_POLICY, { provider })
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
    case 'out-of-money':
      return new GatewayError(
        // Told by such a status it is one of the contract's failures; told as a rate limit or in a stream, a provider's being busy.
        provider?.status === 402 || provider?.status === 403 ? 'upstream_error' : 'service_unavailable',
        'Service unavailable: no account for this model can be used. Use another model, or tell those who run the gateway.',
        {
          provider: { ...provider, trouble: 'no-money' },
          retryAfterMs: details.retryAfterMs ?? MONEY_RETRY_AFTER_MS,
        },
      )
    case 'beyond-limit':
      return new GatewayError(
        'service_unavailable',
        'The request is larger than the provider takes within a minute. Send a smaller one.',
        { provider, retry: false, failover: true },
      )
    case 'reasoning-refused':
      return new GatewayError(
        'upstream_error',
        'The request holds thoughts that this provider cannot read. Send it again without its reasoning.',
        { provider, retry: false, failover: true, remedy: 'no-reasoning' },
      )
    case 'invalid':
      return new GatewayError(
        'upstream_error',
        'The provider refused the request as invalid for this model. Check its parameters.',
        { provider, retry: false, remedy: details.remedy, named: details.named },
      )
    case 'refused':
      return new GatewayError('upstream_error', 'Server error: the provider could not answer the request. Try again.', {
        provider,
      })
  }
}

/**
 * Python's clients know this class by its words alone (docs/clients.md), which differ by the vendor that they take the
 * gateway for.
 */
const CONTENT_POLICY =
  'The request was rejected as a result of the safety system, by the content filtering policy of the model (content_policy_violation). The response was blocked. Change the input and try again.'

/** For an overload without a stated delay. */
const DEFAULT_RETRY_AFTER_MS = 5_000
/** Somebody has to pay first. */
const MONEY_RETRY_AFTER_MS = 600_000

// Clients match on this message. Coding agents begin compaction at its first words and read nothing else but the counts.
// Clients built on LiteLLM look for the beginning of vendor_b's sentence, in brackets here, and Crush for all of it with its
// counts. Where prompt and answer together are too long, Claude Code looks for vendor_a's sentence and asks for a shorter
// answer; of a prompt that was not counted to its end, for one that is a little shorter each time. A count below the maximum,
// which would seem to fit, is left out.
const contextMessage = ({ tokens, maximum, prompt, answer, atLeast }: Overlong): string => {
  if (tokens === undefined || maximum === undefined || tokens <= maximum)
    return "prompt is too long: the input exceeds the context window of this model (this model's maximum context length is exceeded)"
  const asked =
    prompt === undefined || atLeast
      ? `your messages resulted in ${tokens} tokens`
      : `you requested ${tokens} tokens: input length and \`max_tokens\` exceed context limit: ${prompt} + ${answer} > ${maximum}`
  return `prompt is too long: ${tokens} tokens > ${maximum} maximum (this model's maximum context length is ${maximum} tokens. However, ${asked})`
}

const windowIn = ({ maximum, prompt, atLeast }: Overlong): ContextWindow | undefined =>
  maximum === undefined || prompt === undefined ? undefined : { maximum, prompt, atLeast: atLeast === true }
