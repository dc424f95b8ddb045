// Who is signed in: one signal, read by every page.

import { computed, signal } from '@preact/signals'
import { type Answer, call, onSignedOut } from './api.ts'

export type Session = Answer<'session.get'>

/** Characters of a password, as the contract has it. */
export const MIN_PASSWORD = 12

/** Undefined until the server has said. */
export const session = signal<Session | undefined>(undefined)
/** Why the session could not be asked for. */
export const sessionError = signal<Error | undefined>(undefined)
export const isAdmin = computed(() => session.value?.member?.role === 'admin')

export const loadSession = async (): Promise<void> => {
  sessionError.value = undefined
  try {
    session.value = await call('session.get')
  } catch (error) {
    sessionError.value = error as Error
  }
}

/** Asks again beside what is shown: no answer changes nothing. */
export const refreshSession = async (): Promise<void> => {
  try {
    session.value = await call('session.get')
  } catch {
    // Whoever asks next is told.
  }
}

export const signOut = async (everywhere = false): Promise<void> => {
  await call(everywhere ? 'session.sign-out-everywhere' : 'session.sign-out')
  await loadSession()
}

onSignedOut.run = () => {
  if (session.value?.signed_in === true) void loadSession()
}
