// References to what a provider keeps and does not know: an answer to go on from, or an item of one.

import { type ErrorOptions, GatewayError, type ProviderFailure } from '../../errors.ts'

export const UNKNOWN_ANSWER = 'The answer is not known here, or no longer: send the whole conversation as input.'
export const UNKNOWN_ITEM =
  'What it refers to is not known here, or no longer: send the item itself, or set store to false.'

type Refusal = { code: string | undefined; message: string; provider: ProviderFailure }

/** Another account may have made what it refers to. Undefined for a refusal of anything else. */
export const unknownReference = ({ code, message, provider }: Refusal): GatewayError | undefined => {
  if (code === 'previous_response_not_found') {
    return unknown(`'previous_response_id': response not found. ${UNKNOWN_ANSWER}`, 'previous_response_id', {
      provider,
    })
  }
  // Refused without a code.
  const [, kind] = ITEM.exec(message) ?? []
  if (kind === undefined) return undefined
  // A thought whose text its client never had can be left out.
  const remedy = kind === 'rs' ? ({ remedy: 'no-reasoning' } as const) : {}
  return unknown(`'input': item not found. ${UNKNOWN_ITEM}`, 'input', { provider, ...remedy })
}

const ITEM = /^Item with id '([a-z]*)[\w-]{1,100}' not found\./

const unknown = (sentence: string, param: string, more: Pick<ErrorOptions, 'provider' | 'remedy'>): GatewayError =>
  new GatewayError('invalid_request', sentence, { ...more, param, retry: false, failover: true })
