// Drives real model servers and relays through the gateway, with a model that this makes: `bun run test:servers`.
//   bun scripts/servers.ts [NAME…] [--folder FOLDER] [--write]
// It installs pinned packages in a temporary folder, or in FOLDER, which stays, and asks each server for the same things on
// each of its wires, by a client of each wire. Prints what was seen; --write keeps it for docs/providers.md.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Wire } from '../src/ir/wire.ts'
import { launch, PROGRAM } from '../test/binary/support/process.ts'
import { freePort } from '../test/support/free-port.ts'
import { CLIENT_WIRES, type ClientWire } from './servers/ask.ts'
import { CELLS, type Cell, type Seen } from './servers/cells.ts'
import { CREDENTIAL, headersOf, INSTALLED, type Installed, type Place } from './servers/installed.ts'
import { installGo, installNpm, installPython, type Running, startInstalled } from './servers/run.ts'
import { keepSeen, type Row } from './servers/seen.ts'

const MAKES_MODELS = ['gguf==0.19.0', 'numpy==2.4.6', 'safetensors==0.8.0']
const CELL_S = 60

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: 'string' }, write: { type: 'boolean', default: false } },
})
const unknown = positionals.filter((name) => !INSTALLED.some((one) => one.name === name))
if (unknown.length > 0)
  throw new Error(`not known: ${unknown.join(', ')}; ${INSTALLED.map(({ name }) => name).join(', ')}`)

const root = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'sluice-servers-')) : resolve(values.folder)
mkdirSync(root, { recursive: true })

const makeModel = (): string => {
  const folder = join(root, 'maker')
  installPython(root, folder, MAKES_MODELS)
  const made = Bun.spawnSync([join(folder, 'bin', 'python'), join(import.meta.dir, 'servers', 'model.py'), root])
  if (made.exitCode !== 0) throw new Error(made.stderr.toString())
  return join(root, 'tiny')
}

const placeOf = (installed: Installed, model: string, behind: string): Place => {
  const folder = join(root, installed.name)
  if (installed.python !== undefined) installPython(root, folder, installed.python, installed)
  if (installed.npm !== undefined) installNpm(folder, installed.npm)
  if (installed.go !== undefined) installGo(root, folder, installed.go)
  return { folder, model, port: freePort(), behind }
}

/** A provider for each of its wires, and a model of each. */
const configOf = (installed: Installed, place: Place, url: string) => ({
  providers: Object.fromEntries(
    installed.wires.map((wire) => [
      `on-${wire}`,
      {
        ...installed.provider,
        wires: [wire],
        headers: headersOf(installed, place),
        accounts: [{ name: 'main', base_url: `${url}/v1`, credential: CREDENTIAL }],
      },
    ]),
  ),
  models: Object.fromEntries(
    installed.wires.map((wire) => [
      `tiny-${wire}`,
      {
        provider: `on-${wire}`,
        upstream: installed.upstream(place),
        context: 4096,
        max_output: 4096,
        input: ['text', 'image'],
        price: { input: 0, output: 0 },
      },
    ]),
  ),
})

const startGateway = async (config: object, folder: string) => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await Bun.write(join(folder, 'sluice.yaml'), JSON.stringify(config))
  const words = ['keys', 'create', '--label', 'servers', '--tokens', '100000000', '--json']
  const { key } = JSON.parse(await launch(PROGRAM, words, folder).out)
  const server = launch(PROGRAM, ['serve', '--port', '0'], folder)
  const url = await server.ready()
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM')
    await server.exited
  }
  return { url, key, stop }
}

const tried = async (
  cell: Cell,
  wire: ClientWire,
  server: { url: string; key: string; model: string },
): Promise<Seen> => {
  const late = Promise.withResolvers<Seen>()
  const timer = setTimeout(() => late.resolve({ right: false, word: `nothing within ${CELL_S} s` }), CELL_S * 1_000)
  try {
    return await Promise.race([cell.try(wire, server), late.promise])
  } catch (thrown) {
    return { right: false, word: thrown instanceof Error ? thrown.message : String(thrown) }
  } finally {
    clearTimeout(timer)
  }
}

/** What each cell showed on each client's wire, for one wire of a server. */
const drive = async (installed: Installed, wire: Wire, url: string, key: string): Promise<Row> => {
  const cells: Record<string, Record<string, Seen>> = {}
  for (const cell of CELLS) {
    const seen: Record<string, Seen> = {}
    for (const client of CLIENT_WIRES) {
      seen[client] = await tried(cell, client, { url, key, model: `tiny-${wire}` })
      if (!seen[client].right)
        console.error(`  ${installed.name} on ${wire}, ${cell.name}, asked on ${client}: ${seen[client].word}`)
    }
    cells[cell.name] = seen
  }
  return { name: installed.name, title: installed.title, version: installed.version, wire, cells }
}

const rows: Row[] = []
let failed = false
const running: Running[] = []
const started = async (installed: Installed, model: string): Promise<Running> => {
  const behind = INSTALLED.find(({ name }) => name === installed.behind)
  const url = behind === undefined ? '' : (await started(behind, model)).url
  console.error(`${installed.title} ${installed.version}: installing, starting`)
  const one = await startInstalled(installed, placeOf(installed, model, url))
  running.push(one)
  return one
}
const stopAll = async (): Promise<void> => {
  for (const one of running.splice(0).reverse()) await one.stop()
}

try {
  const model = makeModel()
  for (const installed of INSTALLED) {
    if (positionals.length > 0 && !positionals.includes(installed.name)) continue
    try {
      const { place, url } = await started(installed, model)
      const gateway = await startGateway(configOf(installed, place, url), join(root, `gateway-${installed.name}`))
      try {
        for (const wire of installed.wires) rows.push(await drive(installed, wire, gateway.url, gateway.key))
      } finally {
        await gateway.stop()
      }
    } catch (thrown) {
      failed = true
      console.error(`${installed.title}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    } finally {
      await stopAll()
    }
  }
} finally {
  if (values.folder === undefined) rmSync(root, { recursive: true, force: true })
}
failed ||= rows.some(({ cells }) =>
  Object.values(cells).some((cell) => Object.values(cell).some(({ right }) => !right)),
)
if (values.write) await keepSeen(rows)
for (const row of rows) {
  const words = Object.entries(row.cells).map(
    ([name, seen]) =>
      `${name}: ${Object.values(seen)
        .map(({ right, word }) => (right ? word || '-' : '!!'))
        .join('/')}`,
  )
  console.log(`${row.title} ${row.version}, ${row.wire} | ${words.join(' | ')}`)
}
process.exit(failed ? 1 : 0)
