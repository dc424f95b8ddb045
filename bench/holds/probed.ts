// A gateway whose event loop is measured from inside: what its process is started with, and how it is asked. Linux only.

import { join } from 'node:path'
import type { Held } from './probe.ts'

type Probed = {
  env: { HOLDS_SOCKET: string; BUN_OPTIONS: string }
  /** Measures from now on, and tells what was measured before. */
  begin(): Promise<Held>
  end(): Promise<Held>
}

/** `folder`: for the socket by which it is asked. */
export const probedIn = (folder: string): Probed => {
  const unix = join(folder, 'probe.sock')
  const told = async (path: string): Promise<Held> =>
    (await (await fetch(`http://probe/${path}`, { unix })).json()) as Held
  return {
    env: { HOLDS_SOCKET: unix, BUN_OPTIONS: `--preload ${join(import.meta.dir, 'probe.ts')}` },
    begin: () => told('begin'),
    end: () => told('end'),
  }
}
