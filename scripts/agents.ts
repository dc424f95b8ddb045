// Drives the real command lines: `sluice connect`, then a task of two steps (a tool is called, its result answered) on a
// model of each vendor of the demo, then `--undo`.
//   bun scripts/agents.ts [NAME…] [--folder FOLDER] [--write]
// Installs those of BY_NPM and BY_PIP, pinned, in a temporary folder, or in FOLDER, which stays; others, and those that do not
// install here, are looked for on PATH. Each gets an empty home of its own, nothing but this machine to talk to, and a limit of
// time. Prints a table; --write puts it into docs/clients.md.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CLIENTS } from '../src/clients/index.ts'
import { LOOPBACK_ONLY } from '../test/support/loopback-only.ts'
import { DRIVES, type Drive, SECRET } from './agents/drives.ts'
import { FOUND, startSearching } from './agents/searching.ts'
import { aligned, inserted } from './clients/table.ts'
import { done, installPython } from './servers/run.ts'

/** By Bun: npm installs older majors in silence where Node.js is older than they ask for. */
const BY_NPM = {
  '@anthropic-ai/claude-code': '2.1.332',
  '@continuedev/cli': '1.5.47',
  '@earendil-works/pi-coding-agent': '1.6.0',
  '@github/copilot': '1.0.102',
  '@kilocode/cli': '7.7.7',
  '@openai/codex': '0.171.0',
  '@qwen-code/qwen-code': '0.24.4',
  cline: '3.0.65',
  droid: '0.215.0',
  node: '22.23.3',
  'opencode-ai': '1.18.33',
}
/** Each in an environment of its own. */
const BY_PIP = {
  aider: 'aider-chat==0.86.2',
  cecli: 'cecli-dev==1.10.0',
  gptme: 'gptme==0.35.1',
  hermes: 'hermes-agent==0.19.0',
  llm: 'llm==0.36',
  'mini-swe-agent': 'mini-swe-agent==2.4.6',
}
const PAGE = new URL('../docs/clients.md', import.meta.url)

const MAIN = join(import.meta.dir, '..', 'src', 'main.ts')
const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5']
const LIMIT_S = 120

type Ran = { code: number; text: string; seconds: number }

/** Ends what takes too long, with all that it started. */
const runIn = async (command: string[], cwd: string, env: Record<string, string>): Promise<Ran> => {
  const began = performance.now()
  const child = Bun.spawn(['setsid', '--wait', 'timeout', '-k', '5', `${LIMIT_S}`, ...command], {
    ...{ cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const code = await child.exited
  return { code, text: out + err, seconds: (performance.now() - began) / 1000 }
}

const startDemo = async (data: string) => {
  const child = Bun.spawn([process.execPath, MAIN, 'demo', '--port', '0', '--data', data], {
    ...{ cwd: data, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const url = await lineOf(child.stderr, /^API +(\S+)\/v1$/m)
  const key = await lineOf(child.stdout, /^Key +(\S+)$/m)
  const stop = async (): Promise<void> => {
    child.kill('SIGINT')
    await child.exited
  }
  return { url, key, stop }
}

const lineOf = async (stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> => {
  let text = ''
  const reader = stream.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    text += new TextDecoder().decode(value)
    const found = pattern.exec(text)?.[1]
    if (found !== undefined) {
      reader.releaseLock()
      void stream.pipeTo(new WritableStream())
      return found
    }
    if (done) throw new Error(`the demo did not start: ${text}`)
  }
}

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: 'string' }, write: { type: 'boolean', default: false } },
})
const unknown = wanted.filter((name) => !Object.hasOwn(DRIVES, name))
if (unknown.length > 0) throw new Error(`not known: ${unknown.join(', ')}; ${Object.keys(DRIVES).join('; ')}`)

/** Where their programs are. */
const installAgents = (folder: string): string[] => {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'node_modules'))) {
    const made = { private: true, dependencies: BY_NPM, trustedDependencies: Object.keys(BY_NPM) }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(made))
    done([process.execPath, 'install'], folder)
  }
  const pythons = Object.entries(BY_PIP).map(([name, wanted]) => {
    installPython(folder, join(folder, name), [wanted])
    return join(folder, name, 'bin')
  })
  return [join(folder, 'node_modules', '.bin'), ...pythons]
}

const driven = async (name: string, drive: Drive, program: string, model: string): Promise<string> => {
  const { url, key: secret } = drive.searches === true ? searching : demo
  const home = join(root, `${name.replace(/\W+/g, '-')}-${model}`)
  const work = join(home, 'work')
  await Bun.write(join(work, 'note.txt'), `the word is ${SECRET}\n`)
  const env = {
    PATH,
    ...{ HOME: home, TERM: 'dumb', CI: '1', SLUICE_SERVER: url, SLUICE_API_KEY: secret },
    ...LOOPBACK_ONLY,
  }
  const { SLUICE_API_KEY: _, ...without } = env
  const { file, key, searches } = drive
  let told = ''
  if (file === undefined) {
    const connected = await runIn([process.execPath, MAIN, 'connect', drive.as ?? name, '--model', model], work, env)
    told = connected.text
    if (connected.code !== 0) return `connect failed: ${told}`
  } else {
    await Bun.write(join(home, file.path), file.text(url, model, secret))
  }
  const shell = 'if [ -f ~/.copilot/sluice.env ]; then set -a; . ~/.copilot/sluice.env; set +a; fi; exec "$@"'
  const command = ['sh', '-c', shell, 'sh', program, ...drive.words(model, order.indexOf(model))]
  const own = { ...without, ...drive.env, ...(key === undefined ? {} : { [key]: secret }) }
  const ran = await runIn(command, work, own)
  const word = (file === undefined ? await stillConnected(drive.as ?? name, work, env) : undefined) ?? wordOf(ran)
  if (word.includes('failed')) console.error(told, ran.text.slice(-1_500), searches === true ? searching.asked : '')
  console.error(`${name} on ${model}: ${word}, ${ran.seconds.toFixed(0)} s`)
  writeFileSync(join(home, 'output.txt'), ran.text)
  return word
}

/** What `--undo` leaves of the gateway in the client's files, if anything. */
const stillConnected = async (name: string, cwd: string, env: Record<string, string>): Promise<string | undefined> => {
  const { code, text } = await runIn([process.execPath, MAIN, 'connect', name, '--undo'], cwd, env)
  if (code !== 0) return `taking back failed: ${text}`
  const home = { home: env.HOME ?? '', env, platform: process.platform }
  const paths = CLIENTS.find((client) => client.name === name)?.files.map((file) => file.path(home)) ?? []
  const told = [env.SLUICE_SERVER, env.SLUICE_API_KEY].filter((each) => each !== undefined)
  const left = paths.filter(
    (path) => existsSync(path) && told.some((each) => readFileSync(path, 'utf8').includes(each)),
  )
  return left.length === 0 ? undefined : `taking back failed: ${left.join(', ')}`
}

const wordOf = ({ text, code }: Ran): string => {
  if (text.includes(FOUND)) return 'searched and told what was found'
  if (text.includes(SECRET)) return 'read the file and answered'
  if (text.includes('The tool answered')) return 'called the tool and answered'
  return text.includes('from a demo model') ? 'answered' : `failed (exit ${code})`
}

/** Its own, with what is different about this drive. */
const titleOf = (name: string, { title }: Drive): string => {
  const [own = '', ...rest] = name.split(', ')
  return [title ?? CLIENTS.find((client) => client.name === own)?.title ?? own, ...rest].join(', ')
}

const root = mkdtempSync(join(tmpdir(), 'sluice-agents-'))
const places = installAgents(values.folder === undefined ? join(root, 'installed') : resolve(values.folder))
const PATH = [...places, process.env.PATH ?? ''].join(':')
const demo = await startDemo(root)
const searching = await startSearching()
/** The models that agents are told of. */
let order: string[] = []
const rows: string[][] = []
let failed = false
try {
  const listed = await fetch(`${demo.url}/v1/models`, { headers: { 'x-api-key': demo.key } })
  const { data } = (await listed.json()) as { data: { id: string; output_modalities: string[] }[] }
  order = data.filter((model) => model.output_modalities.includes('text')).map(({ id }) => id)
  for (const [name, drive] of Object.entries<Drive>(DRIVES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const program = Bun.which(drive.program, { PATH })
    if (program === null) {
      console.error(`${name}: "${drive.program}" is not installed, left out`)
      continue
    }
    const said = await runIn([program, '--version'], root, { PATH, HOME: join(root, 'version') })
    const cells: string[] = []
    for (const model of MODELS) cells.push(await driven(name, drive, program, model))
    failed ||= cells.some((word) => word.includes('failed'))
    const title = titleOf(name, drive)
    rows.push([title, /\d+(?:\.\d+)+/.exec(said.text)?.[0] ?? '?', ...cells])
  }
} finally {
  // Before its folder goes: it writes its last word there.
  await demo.stop()
  await searching.stop()
  if (process.env.KEEP === undefined) rmSync(root, { recursive: true, force: true })
  else console.error(root)
}
const table = [['client', 'version', ...MODELS], ...rows]
console.log(aligned(table))
if (values.write) await Bun.write(PAGE, inserted(await Bun.file(PAGE).text(), 'agents', table))
process.exit(failed ? 1 : 0)
