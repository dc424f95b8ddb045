// Drives the real command lines that are installed: `sluice connect`, then a task of two steps (a tool is called, its result
// answered) on a model of each vendor of the demo. Prints a table for docs/clients.md.
//
// Looks for them on PATH. Each gets an empty home of its own, nothing but this machine to talk to, and a limit of time.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLIENTS } from '../src/clients/index.ts'

const MAIN = join(import.meta.dir, '..', 'src', 'main.ts')
const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5']
const SECRET = 'lock-4711'
const LIMIT_S = 120
/** Nobody listens there: what is not on this machine is out of reach. */
const NOWHERE = 'http://127.0.0.1:9'

/** What the demo's models are told, so that they call the agent's tool for commands, by its name. */
const ask = (tool: string): string => `Use ${tool}: "cat note.txt"`

type Drive = { program: string; words(model: string): string[]; env?: Record<string, string> }

const DRIVES: Record<string, Drive> = {
  'claude-code': {
    program: 'claude',
    words: () => ['-p', ask('Bash'), '--dangerously-skip-permissions'],
    // Without it this flag is refused to root.
    env: { IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  codex: {
    program: 'codex',
    words: () => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ask('exec_command')],
  },
  opencode: { program: 'opencode', words: () => ['run', ask('bash')] },
  pi: { program: 'pi', words: () => ['-p', ask('bash')] },
  'qwen-code': { program: 'qwen', words: () => ['--yolo', '-p', ask('run_shell_command')] },
  cline: { program: 'cline', words: () => ['--yolo', ask('run_commands')] },
  continue: { program: 'cn', words: () => ['--auto', '-p', ask('Bash')] },
  aider: {
    program: 'aider',
    words: () => ['--yes-always', '--no-check-update', '--no-analytics', '--no-git', '-m', ask('a tool')],
  },
  'copilot-cli': { program: 'copilot', words: () => ['--allow-all-tools', '-p', ask('bash')] },
  droid: {
    program: 'droid',
    words: (model) => ['exec', '--auto', 'high', '-m', droidModel(model), ask('Execute')],
    env: { FACTORY_AIRGAP_ENABLED: 'true' },
  },
  'mistral-vibe': { program: 'vibe', words: () => ['--yolo', '-p', ask('bash')] },
  hermes: { program: 'hermes', words: () => ['chat', '--yolo', '-q', ask('terminal')] },
  llm: { program: 'llm', words: (model) => ['-m', `sluice/${model}`, ask('a tool')] },
}

/** droid numbers custom models in their order. */
const droidModel = (model: string): string => `custom:sluice/${model}-${droidOrder.indexOf(model)}`
let droidOrder: string[] = []

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

const root = mkdtempSync(join(tmpdir(), 'sluice-agents-'))
const demo = await startDemo(root)
const wanted = process.argv.slice(2)
const rows: string[] = []
let failed = false
try {
  const listed = await fetch(`${demo.url}/v1/models`, { headers: { 'x-api-key': demo.key } })
  const { data } = (await listed.json()) as { data: { id: string; output_modalities: string[] }[] }
  droidOrder = data.filter((model) => model.output_modalities.includes('text')).map(({ id }) => id)
  for (const { name, title } of CLIENTS) {
    const drive = DRIVES[name]
    if (drive === undefined || (wanted.length > 0 && !wanted.includes(name))) continue
    const program = Bun.which(drive.program)
    if (program === null) {
      console.error(`${name}: "${drive.program}" is not installed, left out`)
      continue
    }
    const cells: string[] = []
    let version = ''
    for (const model of MODELS) {
      const home = join(root, `${name}-${model}`)
      const work = join(home, 'work')
      await Bun.write(join(work, 'note.txt'), `the word is ${SECRET}\n`)
      const env = {
        PATH: process.env.PATH ?? '',
        ...{ HOME: home, TERM: 'dumb', CI: '1', SLUICE_SERVER: demo.url, SLUICE_API_KEY: demo.key },
        ...{ HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, http_proxy: NOWHERE, https_proxy: NOWHERE },
        ...{ NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' },
      }
      const connected = await runIn([process.execPath, MAIN, 'connect', name, '--model', model], work, env)
      const { SLUICE_API_KEY: _, ...without } = env
      const shell = 'if [ -f ~/.copilot/sluice.env ]; then set -a; . ~/.copilot/sluice.env; set +a; fi; exec "$@"'
      const command = ['sh', '-c', shell, 'sh', program, ...drive.words(model)]
      const ran = await runIn(command, work, { ...without, ...drive.env })
      version ||= /\d+(?:\.\d+)+/.exec((await runIn([program, '--version'], work, without)).text)?.[0] ?? '?'
      const word =
        connected.code !== 0
          ? 'connect failed'
          : ran.text.includes(SECRET)
            ? 'read the file and answered'
            : ran.text.includes('The tool answered')
              ? 'called the tool and answered'
              : ran.text.includes('from a demo model')
                ? 'answered'
                : `failed (exit ${ran.code})`
      failed ||= word.includes('failed')
      if (word.includes('failed')) console.error(connected.text, ran.text.slice(-1_500))
      console.error(`${name} ${version} on ${model}: ${word}, ${ran.seconds.toFixed(0)} s`)
      writeFileSync(join(home, 'output.txt'), ran.text)
      cells.push(word)
    }
    rows.push(`| ${title} | ${version} | ${cells.join(' | ')} |`)
  }
} finally {
  // Before its folder goes: it writes its last word there.
  await demo.stop()
  if (process.env.KEEP === undefined) rmSync(root, { recursive: true, force: true })
  else console.error(root)
}
console.log([`| client | version | ${MODELS.join(' | ')} |`, '| --- | --- | --- | --- |', ...rows].join('\n'))
process.exit(failed ? 1 : 0)
