// Where clients look for their files: below the home folder, or where a variable of the environment says.

import { posix, win32 } from 'node:path'
import type { Home } from './client.ts'

/** Below the folder that a variable names, else below one of the home folder. */
export const under =
  (folder: string, file: string, variable?: string) =>
  ({ home, env, platform }: Home): string => {
    const { join } = platform === 'win32' ? win32 : posix
    const named = variable === undefined ? undefined : env[variable]
    return named ? join(named, file) : join(home, folder, file)
  }

/** Below the folder of settings as the XDG rules have it, on every system. */
export const underConfig = (file: string) => under('.config', file, 'XDG_CONFIG_HOME')

type Roots = { linux: string; darwin: string; win32: string }

/** Below the folder that each system has for programs' settings, unless a variable names the client's own. */
export const underSystem =
  ({ linux, darwin, win32: windows }: Roots, own?: { variable: string; file: string }) =>
  ({ home, env, platform }: Home): string => {
    const { join } = platform === 'win32' ? win32 : posix
    const named = own === undefined ? undefined : env[own.variable]
    if (own !== undefined && named) return join(named, own.file)
    if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), windows)
    return platform === 'darwin' ? join(home, darwin) : join(env.XDG_CONFIG_HOME || join(home, '.config'), linux)
  }
