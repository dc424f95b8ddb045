// A release as its users meet it: checksums, the installer, npm's packages from a registry, the container's files. Of the
// folder that SLUICE_RELEASE names; `bun run test:release` builds one, or takes dist/release.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { freePort } from '../support/free-port.ts'

const RELEASE = process.env.SLUICE_RELEASE
if (RELEASE === undefined) console.warn('no release is named by SLUICE_RELEASE: the tests of one are skipped')

const isMusl = existsSync('/lib/ld-musl-x86_64.so.1') && !existsSync('/lib64/ld-linux-x86-64.so.2')
const HERE = `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`
const { version } = manifest
const PATH = process.env.PATH ?? ''

const run = async (command: string[], options: { cwd?: string; env?: Record<string, string> } = {}) => {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', ...options })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out: out.trim(), err: err.trim() }
}

const digest = async (path: string): Promise<string> =>
  new Bun.CryptoHasher('sha256').update(await Bun.file(path).bytes()).digest('hex')

describe.skipIf(RELEASE === undefined)('a release', () => {
  const release = RELEASE ?? ''
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-release-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is what its checksums say, all of it', async () => {
    const lines = (await Bun.file(join(release, 'SHA256SUMS')).text()).trim().split('\n')
    const named = lines.map((line) => line.split('  ') as [string, string])
    for (const [sum, name] of named) expect([name, await digest(join(release, name))]).toEqual([name, sum])
    const lying = readdirSync(release, { withFileTypes: true }).filter((entry) => entry.isFile())
    expect(named.map(([, name]) => name).sort()).toEqual(
      lying
        .map(({ name }) => name)
        .filter((name) => name !== 'SHA256SUMS')
        .sort(),
    )
  })

  describe.skipIf(process.platform === 'win32')('by its installer', () => {
    let server: Bun.Server<undefined>
    let spoilt = false
    beforeAll(() => {
      server = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: async ({ url }) => {
          const name = new URL(url).pathname.slice(1)
          const file = Bun.file(join(release, name))
          if (!(await file.exists())) return new Response('', { status: 404 })
          if (!spoilt || !name.includes('.tar.')) return new Response(file)
          const bytes = await file.bytes()
          bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
          return new Response(bytes)
        },
      })
    })
    afterAll(() => server.stop(true))
    const install = (home: string) =>
      run(['sh', join(release, 'install.sh')], {
        env: { PATH, HOME: join(folder, home), SLUICE_RELEASES: `http://127.0.0.1:${server.port}` },
      })

    test('is there for one user, and runs', async () => {
      const { code, out, err } = await install('home')
      expect([code, err]).toEqual([0, ''])
      expect(out).toContain(`sluice ${version} is installed: ${join(folder, 'home', '.local/bin/sluice')}`)
      const ran = await run([join(folder, 'home', '.local/bin/sluice'), 'version'])
      expect(ran.out).toBe(`sluice ${version}`)
    }, 240_000)

    test('is not installed where a byte of it was changed on the way', async () => {
      spoilt = true
      const { code, err } = await install('other')
      spoilt = false
      expect(code).toBe(1)
      expect(err).toMatch(/^The checksum of .* is wrong: .* Nothing is installed\.$/)
      expect(existsSync(join(folder, 'other'))).toBe(false)
    }, 240_000)
  })

  describe.skipIf(!existsSync(join(release, 'npm', HERE)))('by npm', () => {
    let registry: Bun.Subprocess | undefined
    let url = ''
    let home = ''
    const npm = (words: string[], cwd: string) =>
      run(['npm', '--registry', url, ...words], { cwd, env: { PATH, HOME: home, npm_config_cache: join(home, 'npm') } })

    beforeAll(async () => {
      home = join(folder, 'npm-home')
      mkdirSync(home, { recursive: true })
      url = `http://127.0.0.1:${freePort()}/`
      const config = join(home, 'verdaccio.yaml')
      const rights = '{ access: $all, publish: $all, unpublish: $all }'
      await Bun.write(
        config,
        `storage: ${join(home, 'storage')}\nmax_body_size: 200mb\nlog: { type: stdout, format: json, level: error }\npackages: { '**': ${rights} }\n`,
      )
      // Real npm talks to a real registry: the newest for this Node, whose alias of node-fetch not every mirror knows.
      const server = { dependencies: { verdaccio: '6.1.2' }, overrides: { 'node-fetch': '2.7.0' } }
      await Bun.write(join(home, 'package.json'), JSON.stringify(server))
      const made = await run(['npm', 'install', '--no-audit', '--no-fund'], { cwd: home })
      if (made.code !== 0) throw new Error(`verdaccio cannot be installed: ${made.err}`)
      registry = Bun.spawn(['node_modules/.bin/verdaccio', '--config', config, '--listen', url], {
        cwd: home,
        stdout: 'ignore',
        stderr: 'ignore',
      })
      for (;;) {
        if (registry.exitCode !== null) throw new Error('verdaccio did not start')
        const up = await fetch(`${url}-/ping`).then(
          ({ ok }) => ok,
          () => false,
        )
        if (up) break
        await Bun.sleep(200)
      }
      const token = `//${new URL(url).host}/:_authToken=none\n`
      await Bun.write(join(home, '.npmrc'), token)
    }, 480_000)
    afterAll(async () => {
      registry?.kill()
      await registry?.exited
    })

    test('is one name, which brings the binary of this platform and runs it', async () => {
      for (const name of [HERE, 'main']) {
        const { code, err } = await npm(['publish', join(release, 'npm', name)], home)
        expect([name, code, code === 0 ? '' : err]).toEqual([name, 0, ''])
      }
      const project = join(folder, 'project')
      mkdirSync(project)
      await Bun.write(join(project, 'package.json'), '{}')
      const installed = await npm(['install', 'sluice-gateway'], project)
      expect([installed.code, installed.code === 0 ? '' : installed.err]).toEqual([0, ''])
      const ran = await npm(['exec', '--offline', '--', 'sluice-gateway', 'version'], project)
      expect([ran.code, ran.out]).toEqual([0, `sluice ${version}`])
      const wrong = await npm(['exec', '--offline', '--', 'sluice', 'nonsense'], project)
      expect(wrong.code).toBe(2)
      // A wrapper that hears of the end passes it on.
      const served = Bun.spawn(['node', join(project, 'node_modules/sluice-gateway/bin.cjs'), 'demo', '--port', '0'], {
        cwd: project,
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const reader = served.stdout.getReader()
      await reader.read()
      served.kill('SIGTERM')
      expect(await served.exited).toBe(0)
    }, 480_000)
  })

  const root = process.getuid?.() === 0
  const muslLibraries = process.env.SLUICE_MUSL_LIBRARIES
  test.skipIf(!root || muslLibraries === undefined || !existsSync(join(release, 'npm', 'linux-x64-musl')))(
    'serves from the files that its container has, and nothing else',
    async () => {
      const box = join(folder, 'box')
      for (const name of ['lib', 'usr/lib', 'data', 'tmp', 'proc', 'dev'])
        mkdirSync(join(box, name), { recursive: true })
      cpSync(muslLibraries ?? '', join(box, 'usr/lib'), { recursive: true, dereference: true })
      renameSync(join(box, 'usr/lib/ld-musl-x86_64.so.1'), join(box, 'lib/ld-musl-x86_64.so.1'))
      cpSync(join(release, 'npm/linux-x64-musl/sluice'), join(box, 'sluice'))
      chmodSync(join(box, 'data'), 0o777)
      chmodSync(join(box, 'tmp'), 0o1777)
      const port = freePort()
      const env = { SLUICE_HOST: '0.0.0.0', SLUICE_DATA: '/data', HOME: '/data', SLUICE_PORT: `${port}` }
      const inside = (...words: string[]): string[] => ['chroot', '--userspec=65532:65532', box, '/sluice', ...words]
      const child = Bun.spawn(inside('demo', '--data', '/data'), {
        env: { ...env, PATH },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const printed = child.stdout.getReader()
      const first = new TextDecoder().decode((await printed.read()).value)
      const [, key = ''] = /^Key +(\S+)$/m.exec(first) ?? []
      expect(await run(inside('health'), { env: { ...env, PATH } })).toMatchObject({ code: 0, out: 'ok' })
      const answer = await fetch(`http://127.0.0.1:${port}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': key },
        body: JSON.stringify({ model: 'auto', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
      })
      expect(answer.status).toBe(200)
      child.kill('SIGTERM')
      expect(await child.exited).toBe(0)
    },
    240_000,
  )
})
