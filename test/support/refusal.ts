// What a call refuses with.

import { GatewayError } from '../../src/errors.ts'

/** The GatewayError that a call throws; a call that throws none fails the test. */
export const refusal = (act: () => unknown): GatewayError => {
  try {
    act()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
