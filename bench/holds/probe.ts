// Loaded into the gateway that is measured (`BUN_OPTIONS=--preload`), and by nothing else: how long its event loop is held,
// in processor time of the thread that turns it, so that what else the machine does is not counted. `GET /begin` and
// `GET /end` at the socket that HOLDS_SOCKET names tell what was measured until then.

import { dlopen, FFIType, ptr } from 'bun:ffi'
import { rmSync } from 'node:fs'

/** What the longest turn between `begin` and `end` took, in milliseconds: of this thread's processor time, and by the clock. */
export type Held = { cpuMs: number; wallMs: number }

const LOOK_EVERY_MS = 1
const THREAD_CPU = 3

const { symbols } = dlopen('libc.so.6', { clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } })
const time = new BigInt64Array(2)
const cpuMs = (): number => {
  symbols.clock_gettime(THREAD_CPU, ptr(time))
  return Number(time[0]) * 1_000 + Number(time[1]) / 1e6
}

let held: Held = { cpuMs: 0, wallMs: 0 }
let timer: ReturnType<typeof setInterval> | undefined

const begin = (): void => {
  clearInterval(timer)
  held = { cpuMs: 0, wallMs: 0 }
  let cpu = cpuMs()
  let wall = performance.now()
  timer = setInterval(() => {
    const [cpuNow, wallNow] = [cpuMs(), performance.now()]
    held = { cpuMs: Math.max(held.cpuMs, cpuNow - cpu), wallMs: Math.max(held.wallMs, wallNow - wall) }
    cpu = cpuNow
    wall = wallNow
  }, LOOK_EVERY_MS)
}

const serve = (): void => {
  const unix = process.env.HOLDS_SOCKET ?? ''
  rmSync(unix, { force: true })
  Bun.serve({
    unix,
    fetch: ({ url }) => {
      const told = held
      if (url.endsWith('/begin')) begin()
      else clearInterval(timer)
      return Response.json(told)
    },
  })
}

// Its threads load this, too.
if (Bun.isMainThread) serve()
