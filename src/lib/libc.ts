// The system's C library, for what the runtime has no call of its own for, or only one that costs many times as much.

import { dlopen, FFIType } from 'bun:ffi'

/** Of GNU and of musl. */
const LIBRARIES = ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]

const ASKED = { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 } as const
const OF_ONE = { args: [FFIType.i32], returns: FFIType.i32 } as const
const CALLS = {
  getpeername: ASKED,
  getsockname: ASKED,
  ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
  shutdown: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  dup: OF_ONE,
  close: OF_ONE,
} as const

const load = () => {
  // Elsewhere the calls have other names and the numbers other meanings.
  if (process.platform !== 'linux') return undefined
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, CALLS).symbols
    } catch {
      // The other one's name.
    }
  }
  return undefined
}

let loaded: { calls: ReturnType<typeof load> } | undefined

/** Loaded when it is first asked for. Undefined where the system has no such calls under these names. */
export const libc = (): ReturnType<typeof load> => {
  loaded ??= { calls: load() }
  return loaded.calls
}
