// Where the people are that a command works on. Each side is loaded when it is needed.

import { serverAddress, type Where } from './backend.ts'
import type { Io } from './io.ts'
import type { People } from './people.ts'

export const openPeople = async (where: Where, io: Io): Promise<People> => {
  const address = serverAddress(where, io)
  if (address === undefined) return (await import('./people-local.ts')).localPeople(where, io)
  return (await import('./people-remote.ts')).remotePeople(address)
}
