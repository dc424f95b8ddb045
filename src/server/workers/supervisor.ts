// Several processes that serve as one: starts the owner of the books and the workers, starts anew what ends, passes on
// what is asked of them, and goes when they have.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { ownCommand } from '../../lib/own-command.ts'
import { codeOf } from '../../lib/system-code.ts'
import { createLog } from '../../observe/log.ts'
import { listen } from '../listener.ts'
import { EXIT_GIVEN_UP, type FromPart, type FromSupervisor, PART, type Part, type Ready } from './messages.ts'

/** One that has ended sooner than this is not started again at once. */
const SHORT_LIFE_MS = 1_000
/** The name of a socket may have a hundred characters in all. */
const MOST_CHARS = 70

const PORT_TRIES = 20
const PORT_PAUSE_MS = 50

/** How often processes are asked whether they go on, and how many times one that hangs is asked before it is ended. */
const ASK_MS = 1_000
const MOST_ASKED = 10

/** How long processes may take to end once the owner has. */
const END_MS = 2_000

/** Of no more processes than this the owner of the books is one that serves: those of more give it enough to do. */
const FEW = 2

export type Supervised = {
  url: string
  /** What a start says. */
  lines: string[]
  reload(): void
  /** Resolves with the exit code once all have ended. */
  stop(): Promise<number>
  /** Ends all of them at once. */
  kill(): void
  /** Resolves where the owner has ended for good without being asked to. */
  ended: Promise<number>
}

type Child = {
  process: Bun.Subprocess
  part: Part
  startedAt: number
  hasServed: boolean
  /** How many times it has been asked whether it goes on since it last said so. */
  asked: number
  ready: PromiseWithResolvers<Ready>
}

/** Why several processes cannot serve at one address here; undefined: they can. */
export const whyNotSeveral = (platform: string = process.platform): string | undefined =>
  platform === 'linux'
    ? undefined
    : 'This system does not spread connections over processes: leave out --workers (workers) here, or run it on Linux.'

/** Throws a sentence for the operator where it cannot begin. `words`: those of the command line. */
export const supervise = async (config: Config, words: readonly string[]): Promise<Supervised> => {
  const port = await portFor(config)
  const dir = mkdtempSync(join(tmpdir().length > MOST_CHARS ? '/tmp' : tmpdir(), 'sluice-'))
  const remove = (): void => rmSync(dir, { recursive: true, force: true })
  process.on('exit', remove)
  const log = createLog(config.log.level)
  const serves = config.workers <= FEW
  const count = serves ? config.workers - 1 : config.workers
  const children = new Set<Child>()
  const isOwner = ({ part }: Child): boolean => part.role === 'owner'
  const ownerNow = (): Child | undefined => [...children].find(isOwner)
  const tell = (child: Child | undefined, message: FromSupervisor): void => {
    try {
      child?.process.send(message)
    } catch {
      // It has ended, and is heard of soon.
    }
  }
  let stopping = false
  const ended = Promise.withResolvers<number>()

  const start = (part: Pick<Part, 'role' | 'number' | 'again'>): Child => {
    const whole: Part = { ...part, dir, port, count, serves, name: `${part.number}-${crypto.randomUUID()}` }
    const { path, words: before } = ownCommand()
    const ready = Promise.withResolvers<Ready>()
    const child: Child = {
      ...{ part: whole, startedAt: performance.now(), hasServed: false, asked: 0, ready },
      process: Bun.spawn([path, ...before, ...words], {
        env: { ...process.env, [PART]: JSON.stringify(whole) },
        stdio: ['ignore', 'inherit', 'inherit'],
        ipc(message: FromPart) {
          child.asked = 0
          if (message.what !== 'ready') return
          child.hasServed = true
          ready.resolve(message)
        },
        onExit: (_, code, signal) => over(child, code ?? 128 + Number(signal ?? 0)),
      }),
    }
    children.add(child)
    return child
  }

  const over = (child: Child, code: number): void => {
    children.delete(child)
    const { ready, hasServed, startedAt } = child
    const { role, name, number } = child.part
    ready.reject(code)
    if (role === 'worker') tell(ownerNow(), { what: 'gone', name })
    if (stopping || !begun) return
    // An owner that ends by itself, as after too many faults, means it.
    if (role === 'owner' && code === EXIT_GIVEN_UP) {
      ended.resolve(code)
      return
    }
    log.error(`${nameOf(child)} has ended and is started anew`, { code })
    const isShort = !hasServed || performance.now() - startedAt < SHORT_LIFE_MS
    const again = (): void => {
      if (stopping) return
      try {
        start({ role, number, again: role === 'owner' }).ready.promise.catch(() => undefined)
      } catch (cause) {
        log.error(`${nameOf(child)} could not be started: it is tried again`, { cause: String(cause) })
        setTimeout(again, SHORT_LIFE_MS)
      }
    }
    setTimeout(again, isShort ? SHORT_LIFE_MS : 0)
  }

  /** One that hangs would keep the clients waiting that the system has given it, and hold what they have set aside. */
  const look = (): void => {
    for (const child of stopping ? [] : children) {
      if (!child.hasServed) continue
      if (child.asked++ < MOST_ASKED) tell(child, { what: 'alive?' })
      else {
        log.error(`${nameOf(child)} does not answer any more: it is ended`)
        child.process.kill('SIGKILL')
      }
    }
  }

  let begun = false
  const kill = (): void => {
    stopping = true
    for (const { process } of children) process.kill('SIGKILL')
  }
  const begin = async ({ ready }: Child): Promise<Ready> => {
    try {
      return await ready.promise
    } catch (code) {
      kill()
      remove()
      // It has said why itself.
      throw Object.assign(new Error('A process of the server ended at its start.'), { exitCode: Number(code) })
    }
  }
  const { lines } = await begin(start({ role: 'owner', number: serves ? 1 : 0, again: false }))
  const workers = Array.from({ length: count }, (_, i) =>
    start({ role: 'worker', number: config.workers - count + i + 1, again: false }),
  )
  const [first] = await Promise.all(workers.map(begin))
  begun = true
  const looking = setInterval(look, ASK_MS)

  return {
    url: first?.url ?? '',
    lines,
    reload: () => tell(ownerNow(), { what: 'reload' }),
    async stop() {
      stopping = true
      clearInterval(looking)
      const owner = ownerNow()
      tell(owner, { what: 'stop' })
      const code = (await owner?.process.exited) ?? 1
      const rest = Promise.all([...children].map(({ process }) => process.exited))
      await Promise.race([rest, Bun.sleep(END_MS)])
      kill()
      remove()
      return code
    },
    kill,
    ended: ended.promise,
  }
}

const nameOf = ({ part: { role, number } }: Child): string =>
  role === 'owner' ? 'the process that keeps the books' : `worker ${number}`

/** The port that all of them will share. Whoever listens there already keeps it for itself. */
const portFor = async ({ listen: address }: Config): Promise<number> => {
  for (let tries = 1; ; tries++) {
    try {
      const probe = listen(address, async () => new Response())
      await probe.stop(true)
      return probe.port
    } catch (error) {
      // Processes of a server that was killed a moment ago may be ending.
      const isTaken = codeOf(error) === 'EADDRINUSE'
      if (!isTaken || tries === PORT_TRIES) throw error
      await Bun.sleep(PORT_PAUSE_MS)
    }
  }
}
