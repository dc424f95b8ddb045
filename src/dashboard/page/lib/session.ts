// Who is signed in: one signal, read by every page.

import { computed, signal } from '@preact/signals'
import { type Answer, call, onRefused } from './api.ts'

type Session = Answer<'session.get'>

/** Characters of a password, as the contract has it. */
export const MIN_PASSWORD = 12

/** Undefined until the server has said. */
export const session = signal<Session | undefined>(undefined)
/** Why the session could not be asked for. */
export const sessionError = signal<Error | undefined>(undefined)
/** The session ended by itself: what is on the page waits until its owner has signed in again. */
export const expired = signal(false)
/** How often that was done: what could not be loaded meanwhile is asked for again. */
export const entries = signal(0)
/** By whose clocks days and months begin. */
export const zone = computed(() => session.value?.time_zone ?? 'UTC')
export const isAdmin = computed(() => session.value?.member?.role === 'admin')

const take = (next: Session): void => {
  if (session.value?.signed_in === true && !next.signed_in) expired.value = true
  else enter(next)
}

/** After signing in, or in again. */
export const enter = (next: Session): void => {
  session.value = next
  if (!expired.value) return
  expired.value = false
  entries.value++
}

export const loadSession = async (): Promise<void> => {
  sessionError.value = undefined
  try {
    take(await call('session.get'))
  } catch (error) {
    sessionError.value = error as Error
  }
}

/** Asks again beside what is shown: no answer changes nothing. */
export const refreshSession = async (): Promise<void> => {
  try {
    take(await call('session.get'))
  } catch {
    // Whoever asks next is told.
  }
}

export const signOut = async (everywhere = false): Promise<void> => {
  await call(everywhere ? 'session.sign-out-everywhere' : 'session.sign-out')
  session.value = undefined
  await loadSession()
}

/** Who signs in or out in another tab does so here too: nothing is done in the name of whoever was here before. */
document.addEventListener('visibilitychange', () => {
  if (session.value !== undefined && !document.hidden) void refreshSession()
})

onRefused.run = () => {
  if (session.value?.signed_in === true) void refreshSession()
}
