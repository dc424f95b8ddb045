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

/** Below the folder that each system has for programs' settings. */
export const underSystem =
  ({ linux, darwin, win32: windows }: Roots, variable?: string) =>
  (at: Home): string => {
    const { home, env, platform } = at
    const named = variable === undefined ? undefined : env[variable]
    if (platform === 'win32') return win32.join(named || env.APPDATA || win32.join(home, 'AppData', 'Roaming'), windows)
    if (platform === 'darwin') return posix.join(named || home, darwin)
    return posix.join(named || env.XDG_CONFIG_HOME || posix.join(home, '.config'), linux)
  }
