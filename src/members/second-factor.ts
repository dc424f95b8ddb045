// The second factor: codes of an authenticator (RFC 6238), and recovery codes for who has lost it. Every code is taken once.

import { Secret, TOTP } from 'otpauth'
import { GatewayError, invalidRequest } from '../errors.ts'
import { hashSecret } from '../keys/secret.ts'
import { type AttemptStore, takeAttempt } from './attempts.ts'
import type { FactorStore, Member, Session } from './member.ts'

export type SecondFactor = {
  isEnabled(memberId: string): Promise<boolean>
  /** How many recovery codes are left. */
  codesLeft(memberId: string): Promise<number>
  /** A new secret, to be confirmed by a code of it; the one offered before is void. */
  offer(member: Member): Promise<{ secret: string; uri: string }>
  /** Confirms the offer, and ends the member's other sessions. The recovery codes are shown once. */
  enable(session: Session, code: string): Promise<string[]>
  /** Throws `invalid_request` where there is none. The codes before are void. */
  renewCodes(member: Member): Promise<string[]>
  /** Takes a code, of the authenticator or for recovery. Throws `invalid_api_key` that names `code`. */
  take(memberId: string, code: string): Promise<void>
}

const ISSUER = 'sluice'
const PERIOD_S = 30
/** Steps before and after the present one whose codes are right, too: clocks differ, and typing takes time. */
const WINDOW = 1
const SECRET_BYTES = 20
const CODES = 10
/** 80 bits: a hash of them cannot be turned back. */
const CODE_BYTES = 10
/**
 * Wrong codes within a quarter of an hour, from wherever they come: only who has the password gets so far, and a million
 * codes are soon tried.
 */
const MOST_WRONG = 10
const WRONG_MS = 15 * 60_000

type SecondFactorOptions = { store: FactorStore; attempts: AttemptStore; clock: () => number }

export const createSecondFactor = ({ store, attempts, clock }: SecondFactorOptions): SecondFactor => {
  /** The time step a code is of; undefined: it is not right now. */
  const stepOf = (secret: string, code: string): number | undefined => {
    const timestamp = clock()
    const totp = totpOf(secret)
    const delta = totp.validate({ token: code, timestamp, window: WINDOW })
    return delta === null ? undefined : totp.counter({ timestamp }) + delta
  }
  const isRight = async (memberId: string, written: string): Promise<boolean> => {
    const code = written.replace(/[\s-]/g, '').toLowerCase()
    const factor = await store.get(memberId)
    if (factor?.confirmed !== true) return false
    if (!/^\d{6}$/.test(code)) return store.takeCode(memberId, hashSecret(code))
    const step = stepOf(factor.secret, code)
    return step !== undefined && (await store.takeStep(memberId, step, step + 2 * WINDOW))
  }
  return {
    isEnabled: async (memberId) => (await store.get(memberId))?.confirmed === true,
    codesLeft: async (memberId) => (await store.get(memberId))?.codes ?? 0,
    async offer({ id, name }) {
      const secret = new Secret({ size: SECRET_BYTES }).base32
      await store.offer(id, secret)
      return { secret, uri: totpOf(secret, name).toString() }
    },
    async enable({ member, hash }, written) {
      const factor = await store.get(member.id)
      if (factor === undefined || factor.confirmed) throw invalidRequest('Begin anew: nothing waits to be confirmed.')
      const step = stepOf(factor.secret, written.replace(/\s/g, ''))
      if (step === undefined) {
        throw invalidRequest(
          'The code is not right. Check the clock of the device, and take the code shown now.',
          'code',
        )
      }
      const codes = makeCodes()
      await store.confirm(member.id, { step, codes: codes.map(hashed), keep: hash })
      return codes
    },
    async renewCodes({ id }) {
      if ((await store.get(id))?.confirmed !== true) throw invalidRequest('There is no second factor to recover.')
      const codes = makeCodes()
      await store.renewCodes(id, codes.map(hashed))
      return codes
    },
    async take(memberId, code) {
      const limit = { name: `code ${memberId}`, most: MOST_WRONG, windowMs: WRONG_MS }
      const taken = await takeAttempt(attempts, [limit])
      if (!(await isRight(memberId, code))) throw wrongCode()
      await attempts.giveBack(taken)
    },
  }
}

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({
    ...{ issuer: ISSUER, label, algorithm: 'SHA1', digits: 6, period: PERIOD_S },
    secret: Secret.fromBase32(secret),
  })

/** Four groups of four letters and digits that cannot be mistaken for each other. */
const makeCodes = (): string[] =>
  Array.from({ length: CODES }, () =>
    new Secret({ size: CODE_BYTES }).base32.toLowerCase().replace(/.{4}(?=.)/g, '$&-'),
  )

const hashed = (code: string): string => hashSecret(code.replaceAll('-', ''))

/** What signing in lacks where there is a second factor. */
export const missingCode = (): GatewayError =>
  new GatewayError('invalid_api_key', 'Enter the code of your authenticator, or a recovery code.', { param: 'code' })

const wrongCode = (): GatewayError =>
  new GatewayError('invalid_api_key', 'The code is not right, or was used already. Wait for the next one.', {
    param: 'code',
  })
