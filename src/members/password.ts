// Passwords: argon2id, off the event loop, a few at a time so that many sign-ins at once cannot use up the memory.

import { GatewayError, invalidRequest } from '../errors.ts'
import { createThread } from '../lib/thread.ts'

/** One hash takes 64 MB while it runs. */
const AT_ONCE = 2
const MOST_WAITING = 32

let running = 0
const waiting: (() => void)[] = []

const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
  if (running < AT_ONCE) running++
  else {
    if (waiting.length >= MOST_WAITING) {
      throw new GatewayError('service_unavailable', 'Too many people are signing in. Try again shortly.', {
        retryAfterMs: 5_000,
      })
    }
    // Whoever is called on takes over the place of the one that left.
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

const judge = createThread<{ password: string; name: string }, boolean>('members/guessable-thread.ts')

/** `name`: whose it is to be. Throws `invalid_request` for a password that is among the first to be tried. */
export const requireUncommon = async (password: string, name: string): Promise<void> => {
  const guessable = await judge.ask({ password, name }).catch((cause) => {
    throw new GatewayError('service_unavailable', 'The password cannot be checked at the moment. Try again shortly.', {
      cause,
      retryAfterMs: 5_000,
    })
  })
  if (!guessable) return
  throw invalidRequest(
    'This password is among the first that are tried. Take one that is less usual: a few words that do not belong together, without your name.',
    'password',
  )
}

export const hashPassword = (password: string): Promise<string> =>
  inTurn(() => Bun.password.hash(password.normalize('NFC'), { algorithm: 'argon2id' }))

/** `hash` undefined: there is nobody of that name; takes as long as if there were, and is false. */
export const verifyPassword = async (password: string, hash: string | undefined): Promise<boolean> => {
  // Made for the first of all names, whoever they are: its making would tell the others apart.
  const nobodys = await nobodysHash()
  const matches = await inTurn(() => Bun.password.verify(password.normalize('NFC'), hash ?? nobodys))
  return matches && hash !== undefined
}

let nobody: Promise<string> | undefined

const nobodysHash = (): Promise<string> => {
  nobody ??= hashPassword(crypto.randomUUID()).catch((error) => {
    nobody = undefined
    throw error
  })
  return nobody
}
