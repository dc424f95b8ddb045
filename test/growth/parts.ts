// The processes of a server that has several, as the system knows them.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type Child, familyOf, isRunning } from '../binary/support/process.ts'
import { until } from '../support/until.ts'

export type Running = { pid: number; role: string; number: number }

/** Of two the one that keeps the books serves as well; of more it does that alone. */
export const COUNTS = [2, 3] as const
export const processesOf = (workers: number): number => (workers === 2 ? 2 : workers + 1)

/** Empty for one that has just ended. */
const environmentOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return ''
  }
}

export const partsOf = (child: Pick<Child, 'pid'> | undefined): Running[] => {
  const [, ...children] = familyOf(child?.pid ?? 0)
  return children.flatMap((pid): Running[] => {
    const part = /SLUICE_PART=(\{[^\0]*\})/.exec(environmentOf(pid))?.[1]
    return part === undefined ? [] : [{ pid, ...(JSON.parse(part) as Omit<Running, 'pid'>) }]
  })
}

export const partOf = (child: Pick<Child, 'pid'> | undefined, role: string): Running => {
  const found = partsOf(child).find((each) => each.role === role)
  if (found === undefined) throw new Error(`there is no ${role}`)
  return found
}

/** Resolves when it has ended: on a busy machine that takes a while, in which it is still counted. */
export const kill = async ({ pid }: Running): Promise<void> => {
  process.kill(pid, 'SIGKILL')
  await until(() => !isRunning(pid))
}

/** How many connections a process has to a port of this machine. */
export const connectionsTo = (port: number, { pid }: Pick<Running, 'pid'>): number => {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const established = readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , peer, state]) => peer === remote && state === '01')
    .map(([, , , , , , , , , inode]) => `socket:[${inode}]`)
  const folder = `/proc/${pid}/fd`
  const own = new Set(readdirSync(folder).map((name) => readlinkSync(`${folder}/${name}`)))
  return established.filter((socket) => own.has(socket)).length
}
