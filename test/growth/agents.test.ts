// Coding agents, unmodified, behind HAProxy with each of their requests at another node: a tool is called at one, its result is
// answered at another. SLUICE_AGENTS names a folder that has them (`bun run test:agents --folder` leaves one).

import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DRIVES, SECRET } from '../../scripts/agents/drives.ts'
import { startDemoProviders } from '../../src/demo/index.ts'
import { PROGRAM } from '../binary/support/process.ts'
import { haproxyMissing } from '../support/haproxy.ts'
import { LOOPBACK_ONLY } from '../support/loopback-only.ts'
import { postgresMissing } from '../support/postgres.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { startComposed } from './composed.ts'
import { until } from './fleet.ts'

const stopping = stopsAfterEach()
const FOLDER = process.env.SLUICE_AGENTS ?? ''
const BIN = join(FOLDER, 'node_modules', '.bin')

const missing =
  postgresMissing ?? haproxyMissing ?? (FOLDER !== '' && existsSync(BIN) ? undefined : 'SLUICE_AGENTS names no folder')

describe.skipIf(missing !== undefined)('a coding agent at three nodes in turn', () => {
  const table = (['codex', 'claude-code'] as const).flatMap((name) =>
    ['vendorA-opus-4-8', 'vendorB-5.5'].map((model) => ({ name, model, drive: { env: {}, ...DRIVES[name] } })),
  )
  test.each(table)(
    '$name does a task of two steps on $model',
    async ({ name, model, drive }) => {
      const demo = stopping(await startDemoProviders())
      const account = ({ baseUrl, apiKey }: typeof demo.vendorA) => ({
        accounts: [{ name: 'main', base_url: baseUrl, credential: apiKey }],
      })
      const all = stopping(
        await startComposed({
          providers: { vendor_a: account(demo.vendorA), vendor_b: account(demo.vendorB) },
          // Of which one would stay at one node.
          websockets: false,
        }),
      )
      await all.up(3)
      const url = await all.front((text) => text.replace('balance leastconn', 'balance roundrobin'))
      const home = mkdtempSync(join(tmpdir(), 'sluice-agent-'))
      stopping({ stop: async () => rmSync(home, { recursive: true, force: true }) })
      const work = join(home, 'work')
      mkdirSync(work)
      writeFileSync(join(work, 'note.txt'), `the word is ${SECRET}\n`)
      const env = {
        ...{ PATH: `${BIN}:${process.env.PATH ?? ''}`, HOME: home, TERM: 'dumb', CI: '1' },
        ...LOOPBACK_ONLY,
        ...drive.env,
      }
      const run = async (command: string[], more: object = {}): Promise<string> => {
        const limited = ['setsid', '--wait', 'timeout', '-k', '5', '240', ...command]
        const child = Bun.spawn(limited, {
          ...{ cwd: work, env: { ...env, ...more }, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
        })
        const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
        return said.join('')
      }
      const connected = await run([...PROGRAM, 'connect', name, '--model', model], {
        ...{ SLUICE_SERVER: url, SLUICE_API_KEY: all.secret },
      })
      const said = await run([join(BIN, drive.program), ...drive.words()])
      expect({ connected, said }).toMatchObject({
        said: expect.stringMatching(new RegExp(`${SECRET}|The tool answered`)),
      })
      const answered = await Promise.all(all.nodes.map((node) => node.answered()))
      expect(answered.filter((count) => count > 0).length).toBeGreaterThan(1)
      await until(async () => (await all.query('SELECT 1 FROM reservations')).length === 0)
      await all.books()
    },
    600_000,
  )
})
