// `health`: whether the server on this machine serves, for containers and supervisors without a shell or curl.

import { isIPv6 } from 'node:net'
import { command } from './command.ts'
import { DATA_FLAGS, requireData } from './data.ts'
import { EXIT, failure } from './io.ts'

const TIMEOUT_MS = 5_000
/** What listens everywhere is asked on this machine. */
const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export const health = command({
  name: 'health',
  summary: 'Exit with 0 if the server here is ready to serve, else with 1',
  args: {
    host: {
      type: 'string',
      valueHint: 'HOST',
      description: 'Where the server listens (SLUICE_HOST; default 127.0.0.1)',
    },
    port: { type: 'string', valueHint: 'PORT', description: 'Its port (SLUICE_PORT; default 8080)' },
    ...DATA_FLAGS,
    alive: { type: 'boolean', description: 'Ask only whether the process answers, whatever it lacks' },
  },
  examples: ['sluice health', 'sluice health --port 9000 --alive'],
  run: async (args, io) => {
    const { host, port } = requireData(args, io).listen
    const reached = EVERYWHERE[host] ?? host
    const url = `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}${args.alive ? '/healthz' : '/readyz'}`
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' }).catch(() => {
      throw failure(
        `No server answers at ${url}. Start it with "sluice serve", or say where it is with --host and --port.`,
      )
    })
    const said: unknown = await answer.json().catch(() => undefined)
    if (!answer.ok) throw failure(`The server at ${url} is not ready${missingIn(said)}.`)
    io.out('ok')
    return EXIT.ok
  },
})

const missingIn = (said: unknown): string => {
  const { missing } = typeof said === 'object' && said !== null && 'missing' in said ? said : { missing: undefined }
  return Array.isArray(missing) ? `: ${missing.join('; ')}` : ''
}
