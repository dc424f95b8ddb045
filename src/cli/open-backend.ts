// Which of the two a command works on. Each is loaded when it is needed: the store and the client are no small modules.

import { type Backend, serverAddress, type Where } from './backend.ts'
import type { Io } from './io.ts'

/** Flags count before the environment: one that names a file or a directory means this machine. */
export const openBackend = async (where: Where, io: Io): Promise<Backend> => {
  const address = serverAddress(where, io)
  if (address === undefined) return (await import('./local.ts')).localBackend(where, io)
  return (await import('./remote.ts')).remoteBackend(address)
}
