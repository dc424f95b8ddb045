// `serve` with several processes: what each of them does, as the one that starts them says.

import type { Config } from '../config.ts'
import type { Apart } from '../server/serve.ts'
import { type FromPart, type FromSupervisor, PART, type Part, type Ready } from '../server/workers/messages.ts'
import type { Supervised } from '../server/workers/supervisor.ts'
import { createFaults } from './faults.ts'
import { EXIT, failure, type Io } from './io.ts'

/** Undefined for a process that is told none. */
export const partOf = ({ env }: Io): Part | undefined => {
  const text = env[PART]
  // Only what was started by this program is spoken to by it.
  return text === undefined || process.send === undefined ? undefined : (JSON.parse(text) as Part)
}

const say = (message: FromPart): void => void process.send?.(message)
const ready = (message: Omit<Ready, 'what'>): void => say({ what: 'ready', ...message })

const onMessage = (hear: (message: FromSupervisor) => void): (() => void) => {
  process.on('message', hear)
  return () => void process.off('message', hear)
}

const sayAlive = (): void =>
  void onMessage(({ what }) => {
    if (what === 'alive?') say({ what: 'alive' })
  })

/** A process of several goes by what it is told: a signal is for the one that started it. */
const deafTo = (io: Io): (() => void)[] => [io.onStop(nothing), io.onReload?.(nothing) ?? nothing]

/** Killed, what started them takes all of them along: as one process, which the next start finds dead. */
const endWithStarter = (): void => void process.on('disconnect', () => process.exit(EXIT.failed))

/** What runs the owner is what runs any server, which hears of stops and reloads in another way. */
export const asOwner = async (
  part: Part,
  io: Io,
): Promise<{ io: Io; options: { apart: Apart; ready(url: string): void } }> => {
  const { createApart } = await import('../server/workers/owner.ts')
  const apart = createApart(part)
  onMessage((message) => {
    if (message.what === 'gone') apart.gone(message.name)
  })
  deafTo(io)
  sayAlive()
  endWithStarter()
  const lines: string[] = []
  return {
    io: {
      ...io,
      err: (line) => void lines.push(line),
      onStop(listener) {
        return onMessage((message) => {
          if (message.what === 'stop') listener()
        })
      },
      onReload: (listener) =>
        onMessage((message) => {
          if (message.what === 'reload') listener()
        }),
    },
    options: { apart, ready: (url) => ready({ url, lines }) },
  }
}

/** Serves until the owner has it stop. */
export const runWorker = async (part: Part, io: Io): Promise<number> => {
  const ends = deafTo(io)
  const { startWorker } = await import('../server/workers/worker.ts')
  sayAlive()
  endWithStarter()
  const server = await startWorker(part)
  // The thread of provider calls ends the process where it finds no descriptors to begin with: it begins with the server.
  void fetch(`${server.url}/healthz`).catch(nothing)
  const broken = Promise.withResolvers<void>()
  ends.push(io.onFault?.(createFaults(server.log, broken.resolve)) ?? nothing)
  ready({ url: server.url, lines: [] })
  const code = await Promise.race([server.toStop.then(() => EXIT.ok), broken.promise.then(() => EXIT.failed)])
  await server.stop()
  for (const end of ends) end()
  return code
}

/** Runs all of them until the first request to stop; a second ends them at once. */
export const runSeveral = async (config: Config, io: Io): Promise<number> => {
  const { supervise, whyNotSeveral } = await import('../server/workers/supervisor.ts')
  const why = whyNotSeveral()
  if (why !== undefined) throw failure(why)
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let stops = 0
  const ends = [io.onStop(() => asked[stops++]?.resolve())]
  try {
    const started = Promise.withResolvers<Supervised>()
    // Listened to from the beginning: the signal ends a process that does not.
    ends.push(io.onReload?.(() => void started.promise.then(({ reload }) => reload())) ?? nothing)
    const several = await supervise(config, process.argv.slice(2))
    started.resolve(several)
    for (const line of several.lines) io.err(line)
    const early = await Promise.race([asked[0]?.promise, several.ended])
    if (typeof early === 'number') {
      await several.stop()
      return EXIT.failed
    }
    const killed = asked[1]?.promise.then(() => {
      several.kill()
      return EXIT.failed
    })
    return await Promise.race([several.stop(), killed ?? EXIT.failed])
  } catch (error) {
    const code = error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : undefined
    if (code === undefined) throw error
    return code
  } finally {
    for (const end of ends) end()
  }
}

const nothing = (): void => undefined
