// The processes of one run: started here, pinned to cores where the machine can, read from /proc, ended by their id.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { freePort } from '../test/support/free-port.ts'
import type { Job, JobResult, Load } from './job.ts'
import type { ProviderState, StreamMode } from './provider.ts'

/** `tested`: the gateway and the bare proxy. `around`: the provider and the load generator. `any`: not pinned. */
type Place = 'tested' | 'around' | 'any'

const TASKSET = Bun.which('taskset')
const BUN = process.execPath
const bench = (file: string): string => join(import.meta.dir, file)

/** Whether processes are pinned: it takes `taskset` and two cores. A run may switch it off before it starts any. */
export const pinning = { on: TASKSET !== null && navigator.hardwareConcurrency >= 2 }

const CORES: Record<Place, string> = { tested: '0', around: '1', any: `0-${navigator.hardwareConcurrency - 1}` }

const place = (where: Place, command: string[]): string[] =>
  pinning.on && TASKSET !== null ? [TASKSET, '-c', CORES[where], ...command] : command

/** Keeps this process, which has little to do, away from the core of the tested ones: its timers would be their delay. */
export const stepAside = (): void => {
  if (pinning.on && TASKSET !== null) Bun.spawnSync([TASKSET, '-a', '-c', '-p', CORES.around, String(process.pid)])
}

const started = new Set<Subprocess>()
const folders = new Set<string>()

/** Ends every process this run started and removes its folders. Safe to call twice. */
export const endAll = (): void => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  folders.clear()
}

/** A temporary folder that goes when the run ends. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  folders.add(folder)
  return folder
}

/** Ends one process: asked first, then, after a second, forced. */
export const end = async (child: Subprocess): Promise<void> => {
  child.kill('SIGTERM')
  const stubborn = setTimeout(() => child.kill('SIGKILL'), 1000)
  await child.exited
  clearTimeout(stubborn)
  started.delete(child)
}

/** Empty where there is no /proc, and of a process that has ended. Bun.file reads nothing there, where files have no size. */
const proc = (pid: number | string, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** Fields of /proc/PID/stat after the name: state, parent, … */
const statOf = (pid: number | string): string[] => {
  const stat = proc(pid, 'stat')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** CPU time a process has used, all its threads, in microseconds; 0 where there is no /proc. Resolution: 10 ms. */
export const cpuUs = (pid: number | string): number => {
  const fields = statOf(pid)
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10_000
}

/** Of all processes that a server has made and that are there: `child` is the id of any of them. */
export const cpuOfServer = (child: number): (() => number) => {
  const [, server] = statOf(child)
  return () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && statOf(Number(name))[1] === server)
      .reduce((sum, pid) => sum + cpuUs(Number(pid)), 0)
}

/** A process and all that it has started. */
const family = (pid: number): number[] => [
  pid,
  ...proc(pid, `task/${pid}/children`).split(' ').map(Number).filter(Boolean).flatMap(family),
]

/** CPU time of the threads of a process and of all that it has started, by their ids. Resolution: 10 ms. */
export const threadsOf = (pid: number): Map<string, { name: string; us: number }> =>
  new Map(
    family(pid).flatMap((one) =>
      threadIds(one).map((id): [string, { name: string; us: number }] => {
        const thread = `${one}/task/${id}`
        return [id, { name: proc(thread, 'comm').trim(), us: cpuUs(thread) }]
      }),
    ),
  )

const threadIds = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Of a process and all that it has started. */
export const overFamily = (pid: number, read: (pid: number) => number): number =>
  family(pid).reduce((total, one) => total + read(one), 0)

/** Resident memory of a process in KiB; 0 where there is no /proc. */
export const residentKb = (pid: number): number => Number(/^VmRSS:\s*(\d+)/m.exec(proc(pid, 'status'))?.[1] ?? 0)

/** Its share of that, in KiB: what several processes have of one file in memory is there once. */
export const shareKb = (pid: number): number => Number(/^Pss:\s*(\d+)/m.exec(proc(pid, 'smaps_rollup'))?.[1] ?? 0)

const firstLine = async (out: ReadableStream<Uint8Array>): Promise<string> => {
  const text = new TextDecoder()
  let line = ''
  for await (const bytes of out) {
    line += text.decode(bytes, { stream: true })
    if (line.includes('\n')) break
  }
  return line.trim()
}

/** A running server and where it listens. */
export type Server = { child: Subprocess; pid: number; port: number }

const startPrinting = async (where: Place, command: string[]): Promise<Server> => {
  const child = Bun.spawn(place(where, command), {
    stdout: 'pipe',
    stderr: 'inherit',
    stdin: 'ignore',
    // Without it this runtime keeps all but 256 calls of `fetch` waiting.
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
  })
  started.add(child)
  const port = Number(await firstLine(child.stdout))
  if (!port) throw new Error(`${command.join(' ')} printed no port`)
  return { child, pid: child.pid, port }
}

/** Starts the provider; `control` sets how its streams behave, `state` tells what it saw. */
export const startProvider = async (port = 0) => {
  const server = await startPrinting('around', [BUN, bench('provider.ts'), `${port}`])
  const url = `http://127.0.0.1:${server.port}/control`
  return {
    ...server,
    control: async (mode: StreamMode): Promise<void> => {
      await (await fetch(url, { method: 'POST', body: JSON.stringify(mode) })).text()
    },
    state: async (): Promise<ProviderState> => (await (await fetch(url)).json()) as ProviderState,
  }
}
export type Provider = Awaited<ReturnType<typeof startProvider>>

export const startBare = (providerPort: number, manner: 'streamed' | 'buffered'): Promise<Server> =>
  startPrinting('tested', [BUN, bench('bare-proxy.ts'), `http://127.0.0.1:${providerPort}`, manner])

export const startFloor = (providerPort: number, reading: 'parsed' | 'unread'): Promise<Server> =>
  startPrinting('tested', [BUN, bench('floor.ts'), `http://127.0.0.1:${providerPort}`, temporaryFolder(), reading])

/** Starts the load generator; jobs run one at a time. */
export const startGenerator = () => {
  let settle: ((result: JobResult) => void) | undefined
  const child = Bun.spawn(place('around', [BUN, bench('load.ts')]), {
    stdout: 'inherit',
    stderr: 'inherit',
    stdin: 'ignore',
    ipc: (result: JobResult) => settle?.(result),
    onExit: () => settle?.({ kind: 'failed', message: 'the load generator ended' }),
  })
  started.add(child)
  const run = (job: Job): Promise<JobResult> =>
    new Promise((resolve, reject) => {
      settle = (result) => (result.kind === 'failed' ? reject(new Error(result.message)) : resolve(result))
      child.send(job)
    })
  return {
    run,
    load: async (job: Job): Promise<Load> => {
      const result = await run(job)
      if (result.kind !== 'load') throw new Error(`a load was expected of ${job.kind}, found ${result.kind}`)
      return result.load
    },
  }
}
export type Generator = ReturnType<typeof startGenerator>

/** How the gateway is run: the compiled binary or the source, its data folder, its environment. */
export type GatewayLaunch = { command: string[]; data: string; log: string; env: Record<string, string> }

/** Starts the gateway and asks `GET /v1` without pause until it answers 200. `readyMs` counts from the spawn. */
export const startGateway = async (launch: GatewayLaunch, where: Place): Promise<Server & { readyMs: number }> => {
  const port = freePort()
  const command = [...launch.command, 'serve', '--host', '127.0.0.1', '--port', `${port}`, '--data', launch.data]
  const began = performance.now()
  const child = Bun.spawn(place(where, command), {
    stdout: 'ignore',
    stderr: Bun.file(launch.log),
    stdin: 'ignore',
    env: launch.env,
  })
  started.add(child)
  while (performance.now() - began < 15_000 && child.exitCode === null) {
    const status = await fetch(`http://127.0.0.1:${port}/v1`).then(
      (answer) => answer.text().then(() => answer.status),
      () => 0,
    )
    if (status === 200) return { child, pid: child.pid, port, readyMs: performance.now() - began }
    await Bun.sleep(1)
  }
  const lines = (await Bun.file(launch.log).text()).trimEnd().split('\n').slice(-5)
  throw new Error(
    `the gateway did not answer GET /v1; its log ends: ${lines.map((line) => line.slice(0, 300)).join('\n')}`,
  )
}
