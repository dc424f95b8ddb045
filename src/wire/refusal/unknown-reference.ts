// References to what a provider keeps and does not know: an answer to go on from, or an item of one.

import { GatewayError, type ProviderFailure } from '../../errors.ts'

export const UNKNOWN_ANSWER = 'The answer is not known here, or no longer: send the whole conversation as input.'
export const UNKNOWN_ITEM =
  'What it refers to is not known here, or no longer: send the item itself, or set store to false.'

type Refusal = { code: string | undefined; message: string; provider: ProviderFailure }

/** Another account may have made what it refers to. Undefined for a refusal of anything else. */
export const unknownReference = ({ code, message, provider }: Refusal): GatewayError | undefined => {
  if (code === 'previous_response_not_found') {
    return unknown(`'previous_response_id': response not found. ${UNKNOWN_ANSWER}`, 'previous_response_id', provider)
  }
  // Refused without a code.
  return ITEM.test(message) ? unknown(`'input': item not found. ${UNKNOWN_ITEM}`, 'input', provider) : undefined
}

const ITEM = /^Item with id '[\w-]{1,100}' not found\./

const unknown = (sentence: string, param: string, provider: ProviderFailure): GatewayError =>
  new GatewayError('invalid_request', sentence, { param, provider, retry: false, failover: true })
