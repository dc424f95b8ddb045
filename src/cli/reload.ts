// `reload`: the server on this machine reads its configuration again, and what came of it is told.

import { resolve } from 'node:path'
import { type Flags, loadConfig, problemLine } from '../config.ts'
import { command } from './command.ts'
import { DATA_FLAGS, isAbsent, JSON_FLAG } from './data.ts'
import { EXIT, failure, type Io, printJson } from './io.ts'
import { requestReload } from './reload-requests.ts'

const TIMEOUT_MS = 10_000

export const reload = command({
  name: 'reload',
  summary: 'Have the server here read its configuration again',
  args: { ...DATA_FLAGS, ...JSON_FLAG },
  examples: ['sluice reload --config /etc/sluice.yaml'],
  run: async (args, io) => {
    const dataDir = dataDirOf(args, io)
    if (isAbsent(dataDir)) throw failure(`There is no data directory ${dataDir}; name the server's with --data.`)
    const answer = await requestReload(dataDir, TIMEOUT_MS)
    if (answer === undefined) {
      throw failure(
        `No server on ${dataDir} answered within ${TIMEOUT_MS / 1000} s; is it running, and is that its data directory?`,
      )
    }
    const refused = 'problems' in answer
    if (args.json) printJson(io, answer)
    else if (refused) io.err(['Nothing is reloaded; the configuration is wrong:', ...answer.problems].join('\n'))
    else {
      const { changed, refused: fixed, overridden, warnings } = answer
      if (changed.length > 0) io.out(`Changed: ${changed.join(', ')}.`)
      else if (fixed.length === 0 && overridden.length === 0) io.out('Nothing has changed.')
      if (fixed.length > 0) io.out(`A restart is needed for: ${fixed.join(', ')}.`)
      if (overridden.length > 0) io.out(`The dashboard's settings override: ${overridden.join(', ')}.`)
      for (const warning of warnings) io.err(`warning: ${warning}`)
    }
    return refused ? EXIT.failed : EXIT.ok
  },
})

/** The configuration may be wrong, which is for the server to tell: then the directory must be named. */
const dataDirOf = (flags: Flags, io: Io): string => {
  const loaded = loadConfig({ flags, env: io.env, cwd: io.cwd, secrets: 'skip' })
  if (loaded.ok) return loaded.config.dataDir
  const named = flags.data ?? io.env.SLUICE_DATA
  if (named) return resolve(io.cwd, named)
  throw failure(['Nothing is reloaded; the configuration is wrong:', ...loaded.problems.map(problemLine)].join('\n'))
}
