// Drives the clients of other languages against the gateway, before the demo's vendors: `bun run test:clients`.
//   bun scripts/clients.ts [python|go|java|rust…] [--folder FOLDER] [--write]
// It installs pinned versions in a temporary folder, or in FOLDER, which stays, and has each client ask for the same things
// on a model of each vendor. Prints what was seen; --write puts it into docs/clients.md.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { drawPng } from '../src/demo/png.ts'
import { startDemoGateway } from '../test/support/gateway.ts'
import { LOOPBACK_ONLY } from '../test/support/loopback-only.ts'
import { type Asked, LANGUAGES, type Program } from './clients/languages.ts'
import { aligned, inserted, type Line, rowsOf, tableOf } from './clients/table.ts'

const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5']
const RUN_S = 300
const PAGE = new URL('../docs/clients.md', import.meta.url)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: 'string' }, write: { type: 'boolean', default: false } },
})
const unknown = positionals.filter((name) => !LANGUAGES.some((one) => one.name === name))
if (unknown.length > 0)
  throw new Error(`not known: ${unknown.join(', ')}; ${LANGUAGES.map(({ name }) => name).join(', ')}`)
const root = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'sluice-clients-')) : resolve(values.folder)
mkdirSync(root, { recursive: true })

const environment = (folder: string, { url, key, model }: Asked): Record<string, string> => ({
  ...{ PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder },
  ...{ BASE_URL: url, API_KEY: key, MODEL: model },
  PICTURE: Buffer.from(drawPng(16, 16, 'clients')).toString('base64'),
  ...LOOPBACK_ONLY,
})

/** What a program says of its clients, a line for each cell. */
const heard = async ({ command, folder }: Program, asked: Asked): Promise<Line[]> => {
  const child = Bun.spawn(['timeout', '-k', '5', `${RUN_S}`, ...command], {
    ...{ cwd: folder, env: environment(folder, asked), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const code = await child.exited
  const lines = out.split('\n').filter((line) => line.startsWith('{'))
  if (code !== 0 || lines.length === 0) console.error(`${command.join(' ')} (exit ${code}):\n${err.slice(-2_000)}`)
  return lines.map((line) => ({ ...(JSON.parse(line) as Omit<Line, 'model'>), model: asked.model }))
}

const gateway = await startDemoGateway()
const lines: Line[] = []
let failed = false
try {
  for (const language of LANGUAGES) {
    if (positionals.length > 0 && !positionals.includes(language.name)) continue
    console.error(`${language.name}: installing`)
    try {
      for (const program of language.install(root)) {
        for (const model of MODELS) {
          const seen = await heard(program, { url: gateway.url, key: gateway.secret, model })
          for (const { client, cell, word } of seen) {
            if (word.startsWith('no')) console.error(`  ${client} on ${model}, ${cell}: ${word}`)
          }
          failed ||= seen.length === 0 || seen.some(({ word }) => word.startsWith('no'))
          lines.push(...seen)
        }
      }
    } catch (thrown) {
      failed = true
      console.error(`${language.name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }
} finally {
  await gateway.stop()
  if (values.folder === undefined) rmSync(root, { recursive: true, force: true })
}
const table = tableOf(rowsOf(lines))
console.log(aligned(table))
if (values.write) await Bun.write(PAGE, inserted(await Bun.file(PAGE).text(), 'clients', table))
process.exit(failed ? 1 : 0)
