// The playground's key of whoever is signed in: made when first needed, kept in memory alone, and made anew before it ends.

import { type Answer, call } from './api.ts'

/** Before it ends, an answer may take so long. */
const LEAST_MS = 5 * 60_000

let own: Answer<'playground.key'> | undefined
/** Who asks while it is made waits for the same. */
let making: Promise<Answer<'playground.key'>> | undefined

export const ownKey = async (): Promise<string> => {
  if (own !== undefined && Date.parse(own.expires_at) - Date.now() > LEAST_MS) return own.secret
  making ??= call('playground.key').finally(() => {
    making = undefined
  })
  own = await making
  return own.secret
}

export const forgetOwnKey = (): void => {
  own = undefined
}
