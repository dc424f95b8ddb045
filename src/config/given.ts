// What a flag, a variable or the file may say, the first of them that says it: where a gateway listens, keeps its data and
// counts, and with how many processes.

import { resolve } from 'node:path'
import { mismatch, type Problem } from './problem.ts'
import { type FileConfig, MOST_WORKERS } from './schema.ts'
import type { Env } from './secret.ts'
import { readLimitsUrl, type readStoreUrl } from './store.ts'

/** As typed on the command line. */
export type Flags = {
  config?: string | undefined
  host?: string | undefined
  port?: string | undefined
  data?: string | undefined
  workers?: string | undefined
}

type Given = { flags: Flags; env: Env; file: FileConfig; source: string }
type Told = { text: string; source: string; path: string }

/** Where each is said, the first that counts; none where nobody says it. */
const told = (
  flag: string,
  [fromFlag, fromEnv, fromFile]: (string | undefined)[],
  { source }: Given,
  path: string,
): Told | undefined => {
  if (fromFlag !== undefined) return { text: fromFlag, source: `--${flag}`, path: '' }
  if (fromEnv) return { text: fromEnv, source: `SLUICE_${flag.toUpperCase()}`, path: '' }
  return fromFile === undefined ? undefined : { text: fromFile, source, path }
}

export const readHost = (given: Given, problems: Problem[]): string => {
  const { flags, env, file } = given
  const host = told('host', [flags.host, env.SLUICE_HOST, file.listen?.host], given, 'listen.host')
  if (host === undefined) return '127.0.0.1'
  const { text, source, path } = host
  if (/\/|^[^:]*:\d*$/.test(text))
    problems.push({
      source,
      path,
      message: mismatch(text, 'an address alone, such as 0.0.0.0: the port stands by itself'),
    })
  return text.replace(/^\[(.*)\]$/, '$1')
}

export const readData = (given: Given, cwd: string, directory: string, problems: Problem[]): string => {
  const { flags, env, file } = given
  const data = told('data', [flags.data, env.SLUICE_DATA, file.data], given, 'data')
  if (data === undefined) return resolve(directory, './data')
  const { text, source, path } = data
  // A shell writes something else for these, where there is one: a folder of that name nobody wants.
  if (/^~(?:\/|$)|\$\{|^\$\w|^env:/.test(text))
    problems.push({ source, path, message: mismatch(text, 'a path as it is: ~ and variables are not replaced') })
  return resolve(path === '' ? cwd : directory, text)
}

export const readPort = (given: Given, problems: Problem[]): number => {
  const { flags, env, file } = given
  // Kubernetes sets it to an address where there is a service called sluice.
  const isAddress = /^(?:tcp|udp|sctp):\/\//.test(env.SLUICE_PORT ?? '')
  const port = told('port', [flags.port, isAddress ? undefined : env.SLUICE_PORT, undefined], given, 'listen.port')
  if (port === undefined) return file.listen?.port ?? 8080
  const { text, source, path } = port
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(number <= 65535)) problems.push({ source, path, message: mismatch(text, 'a whole number from 0 to 65535') })
  return number
}

type Placed = Given & { cwd: string; directory: string }
/** `name`: in the file, and of the variable that stands for it. */
type PlaceOf = { name: string; inFile: string | undefined; read: typeof readStoreUrl }

export const readPlace = (given: Placed, { name, inFile, read }: PlaceOf, problems: Problem[], warnings: string[]) => {
  const { env, cwd, directory } = given
  const place = told(name, [undefined, env[`SLUICE_${name.toUpperCase()}`], inFile], given, name)
  if (place === undefined) return undefined
  const { text, source, path } = place
  const found = read({ text, env, directory: path === '' ? cwd : directory })
  if ('problem' in found) {
    problems.push({ source, path, message: found.problem })
    return undefined
  }
  if (found.isLiteral && path !== '')
    warnings.push(`${source}: ${name} holds the password itself; env:NAME or file:PATH keeps it out of the file`)
  return found.url
}

export const readLimitsStore = (given: Placed, problems: Problem[], warnings: string[]) => {
  const { env, file, source } = given
  const name = 'limits_store'
  const found = readPlace(given, { name, inFile: file.limits_store, read: readLimitsUrl }, problems, warnings)
  if (found === undefined || env.SLUICE_STORE || file.store !== undefined) return found
  const at = env.SLUICE_LIMITS_STORE ? { source: 'SLUICE_LIMITS_STORE', path: '' } : { source, path: name }
  problems.push({
    ...at,
    message: 'found one, and no store: limits are counted elsewhere by nodes over PostgreSQL alone',
  })
  return undefined
}

export const readWorkers = (given: Given, isShared: boolean, problems: Problem[]): number => {
  const { flags, env, file } = given
  const inFile = file.workers === undefined ? undefined : String(file.workers)
  const workers = told('workers', [flags.workers, env.SLUICE_WORKERS, inFile], given, 'workers')
  if (workers === undefined) return 1
  const { text, source, path } = workers
  const number = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  const fault = (allowed: string): number => {
    problems.push({ source, path, message: mismatch(path === '' ? text : number, allowed) })
    return 1
  }
  if (!(number >= 1 && number <= MOST_WORKERS)) return fault(`a whole number from 1 to ${MOST_WORKERS}`)
  if (isShared && number > 1)
    return fault('1 where the store is PostgreSQL: for more processes start more nodes on the same database')
  return number
}
