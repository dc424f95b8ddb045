// Starts what is installed, waits for it and ends it with all that it started.

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LOOPBACK_ONLY } from '../../test/support/loopback-only.ts'
import { CREDENTIAL, type Installed, type Place } from './installed.ts'

const UV = 'uv==0.13.9'
const INSTALL_S = 1_800
const START_S = 240
const LIVES_S = 1_500

export const done = (command: string[], cwd: string, env: Record<string, string> = {}): void => {
  const [program = '', ...words] = ['timeout', '-k', '5', `${INSTALL_S}`, ...command]
  const ran = spawnSync(program, words, { cwd, env: { ...process.env, ...env }, encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(`${command.join(' ')}:\n${(ran.stdout + ran.stderr).slice(-2_000)}`)
}

/** An environment of its own with the packages. */
export const installPython = (
  root: string,
  folder: string,
  packages: readonly string[],
  { overrides = [], interpreter = 'python3' }: { overrides?: readonly string[]; interpreter?: string } = {},
) => {
  if (existsSync(join(folder, 'installed'))) return
  const tools = join(root, 'uv')
  const uv = join(tools, 'bin', 'uv')
  if (!existsSync(uv)) {
    done(['python3', '-m', 'venv', tools], root)
    done([join(tools, 'bin', 'python'), '-m', 'pip', 'install', '-q', UV], root)
  }
  const env = { UV_CACHE_DIR: join(root, 'cache') }
  done([uv, 'venv', '-q', '--clear', '-p', interpreter, folder], root, env)
  const listed = join(folder, 'overrides.txt')
  void Bun.write(listed, overrides.join('\n'))
  const over = overrides.length === 0 ? [] : ['--override', listed]
  done([uv, 'pip', 'install', '-q', '-p', join(folder, 'bin', 'python'), ...over, ...packages], root, env)
  void Bun.write(join(folder, 'installed'), packages.join('\n'))
}

export const installNpm = (folder: string, packages: readonly string[]): void => {
  if (existsSync(join(folder, 'node_modules'))) return
  mkdirSync(folder, { recursive: true })
  done(['npm', 'init', '-y'], folder)
  done(['npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages], folder)
}

/** A program of this folder, as `front`. */
export const installGo = (
  root: string,
  folder: string,
  { modules, source }: { modules: Record<string, string>; source: string },
): void => {
  if (existsSync(join(folder, 'front'))) return
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(import.meta.dir, source), join(folder, 'main.go'))
  const required = Object.entries(modules).map(([name, version]) => `require ${name} ${version}`)
  writeFileSync(join(folder, 'go.mod'), ['module front', 'go 1.24', ...required, ''].join('\n'))
  const caches = { GOMODCACHE: join(root, 'cache', 'go'), GOCACHE: join(root, 'cache', 'go-build') }
  done(['go', 'build', '-o', 'front', '.'], folder, { ...caches, GOFLAGS: '-mod=mod -modcacherw' })
}

export type Running = { place: Place; url: string; stop(): Promise<void> }

export const startInstalled = async (installed: Installed, place: Place): Promise<Running> => {
  for (const [name, text] of Object.entries(installed.files?.(place) ?? {})) {
    mkdirSync(dirname(join(place.folder, name)), { recursive: true })
    await Bun.write(join(place.folder, name), text)
  }
  const { command, env } = installed.start(place)
  const output = openSync(join(place.folder, 'output.txt'), 'w')
  // Some load programs from what lies two folders above, too: its own folder, and nothing of whoever else keeps files near it.
  const cwd = join(place.folder, 'runs', 'here')
  mkdirSync(cwd, { recursive: true })
  // A group of its own, which ends as one.
  const child = Bun.spawn(['setsid', 'timeout', '-k', '5', `${LIVES_S}`, ...command], {
    ...{ cwd, stdin: 'ignore', stdout: output, stderr: output },
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: place.folder, TMPDIR: place.folder, OMP_NUM_THREADS: '1' },
      ...{ HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1' },
      ...LOOPBACK_ONLY,
      ...env,
    },
  })
  const stop = async (): Promise<void> => {
    signalGroup(child.pid, 'SIGTERM')
    const late = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), 5_000)
    await child.exited
    clearTimeout(late)
    // What of it outlived the first.
    signalGroup(child.pid, 'SIGKILL')
  }
  const url = `http://127.0.0.1:${place.port}`
  const until = performance.now() + START_S * 1_000
  while (!(await answers(url))) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop()
      const said = await Bun.file(join(place.folder, 'output.txt')).text()
      throw new Error(`${installed.title} did not start:\n${said.slice(-2_000)}`)
    }
    await Bun.sleep(500)
  }
  return { place, url, stop }
}

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended.
  }
}

/** Any answer at all of those that a server gives once it has its model. */
const answers = async (url: string): Promise<boolean> => {
  try {
    const { status } = await fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${CREDENTIAL}` },
      signal: AbortSignal.timeout(5_000),
    })
    return status < 500
  } catch {
    return false
  }
}
