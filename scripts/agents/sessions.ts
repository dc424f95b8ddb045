// Sessions of real coding agents with scripted models of each wire, strict about what they are sent: several calls at once,
// one that fails, a picture read, a long output, a tool that is not there, and the session taken up again.
//   bun scripts/agents/sessions.ts --folder FOLDER [NAME…]
// FOLDER is what `test:agents --folder` leaves. Prints for each agent and wire what was wrong with any request: it breaks the
// vendor's published type or pairing, or does not begin with the one before it, so that the prompt cache is lost.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { listed, type Prompt, promptOf } from '../../test/support/prompt.ts'
import type { Script } from '../../test/support/provider/scripted.ts'
import type { Answer, Piece } from '../../test/wire/matrix/story.ts'
import { answered, differs, faultsIn, namesIn } from './checked.ts'
import { type Place, playEvery } from './every-session.ts'

type Agent = {
  program: string
  /** What it speaks with a model of this wire; absent: chat-completions. */
  speaks?(vendor: ChatWire): ChatWire
  first: string[]
  /** Takes the last session up again. */
  again: string[]
  env?: Record<string, string>
  shell(command: string): Piece & { name: string }
  read?(path: string): Piece & { name: string }
}

const call = (name: string, input: JsonObject) => ({ call: '', name, input: JSON.stringify(input) })
const TASK = 'Look around.'
const MORE = 'Once more.'
const SANDBOX = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']

const AGENTS: Record<string, Agent> = {
  'claude-code': {
    program: 'claude',
    speaks: () => 'messages',
    first: ['-p', TASK, '--dangerously-skip-permissions'],
    again: ['--continue', '-p', MORE, '--dangerously-skip-permissions'],
    env: { IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    shell: (command) => call('Bash', { command, description: 'Looks' }),
    read: (file_path) => call('Read', { file_path }),
  },
  codex: {
    program: 'codex',
    speaks: () => 'responses',
    first: ['exec', ...SANDBOX, TASK],
    again: ['exec', ...SANDBOX, 'resume', '--last', MORE],
    shell: (cmd) => call('exec_command', { cmd }),
    read: (path) => call('view_image', { path }),
  },
  opencode: {
    program: 'opencode',
    first: ['run', TASK],
    again: ['run', '--continue', MORE],
    shell: (command) => call('bash', { command, description: 'Looks' }),
    read: (filePath) => call('read', { filePath }),
  },
  pi: {
    program: 'pi',
    speaks: () => 'responses',
    first: ['-p', TASK],
    again: ['-c', '-p', MORE],
    shell: (command) => call('bash', { command }),
    read: (path) => call('read', { path }),
  },
  'qwen-code': {
    program: 'qwen',
    first: ['--yolo', '-p', TASK],
    again: ['--yolo', '--continue', '-p', MORE],
    shell: (command) => call('run_shell_command', { command, is_background: false, description: 'Looks' }),
    read: (file_path) => call('read_file', { file_path }),
  },
}

const FIRST_END = 'The first task is done.'
const LAST_END = 'The second task is done.'
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const usage = { input: 900, cacheRead: 100, output: 40, reasoning: 5 }

/** What the model says next. `results`: how many have come in this session. */
const nextOf = (agent: Agent, text: string, results: number, work: string): Answer => {
  const numbered = (pieces: Piece[]): Answer => ({
    pieces: pieces.map((piece, at) => ('call' in piece ? { ...piece, call: `call_${results}_${at}` } : piece)),
    finish: 'calls',
    usage,
  })
  const thought: Piece = { thought: `I think of step ${results}.`, seal: `c2VhbA${results}==` }
  const say = (words: string): Answer => ({ pieces: [thought, { text: words }], finish: 'stop', usage })
  if (text.includes(LAST_END)) return say('There is nothing more.')
  if (text.includes(FIRST_END)) {
    return text.split(FIRST_END).at(-1)?.includes('again-mark')
      ? say(LAST_END)
      : numbered([thought, { text: 'Again.' }, agent.shell('echo again-mark')])
  }
  if (results === 0) {
    const read = agent.read?.(join(work, 'dot.png'))
    const calls = [agent.shell('echo "a \\"b\\" ü"'), agent.shell('echo wrong >&2; exit 3')]
    return numbered([thought, { text: 'I look in three ways.' }, ...calls, ...(read === undefined ? [] : [read])])
  }
  if (!text.includes('2999')) return numbered([thought, agent.shell('seq 1 3000')])
  if (!text.includes('no_such_tool')) return numbered([{ text: 'A tool that is not there:' }, call('no_such_tool', {})])
  return say(FIRST_END)
}

const isResult = (item: Json): boolean =>
  isObject(item) && (item.role === 'tool' || `${item.type}`.endsWith('_call_output') || item.type === 'tool_result')

const resultsIn = ({ messages, input }: JsonObject): number =>
  listed(messages ?? input)
    .flatMap((item) => [item, ...(isObject(item) ? listed(item.content) : [])])
    .filter(isResult).length

const ran = async (command: string[], cwd: string, env: Record<string, string>): Promise<string> => {
  const child = Bun.spawn(['setsid', '--wait', 'timeout', '-k', '5', '100', ...command], {
    ...{ cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return out + err
}

const session = async ({ agent, vendor, bench, home, work, env, connect }: Place<Agent>) => {
  writeFileSync(join(work, 'dot.png'), Buffer.from(PIXEL, 'base64'))
  const faults: string[] = []
  const prompts: Prompt[] = []
  let requests = 0
  const passes = (agent.speaks?.(vendor) ?? 'chat-completions') === vendor
  for (const wire of CHAT_WIRES) {
    bench.play(wire, (sent): Script => {
      requests++
      // What passes is the client's own.
      if (!passes) faults.push(...faultsIn(wire, sent).map((fault) => `request ${requests}: ${fault}`))
      writeFileSync(join(home, `request-${requests}.json`), JSON.stringify(sent))
      const mine = namesIn(sent).includes(agent.shell('').name)
      const answer = mine
        ? nextOf(agent, JSON.stringify(sent.messages ?? sent.input), resultsIn(sent), work)
        : { pieces: [{ text: 'A title' }], finish: 'stop' as const, usage }
      if (mine) {
        const now = promptOf(sent)
        const before = prompts.at(-1)
        const fault = before === undefined ? undefined : differs(before, now, passes)
        if (fault !== undefined) faults.push(`request ${requests}: not the one before, ${fault}`)
        prompts.push(now)
      }
      return answered(wire, sent, answer, requests)
    })
  }
  const connected = await ran(connect, work, env)
  const { SLUICE_API_KEY: _, ...own } = { ...env, ...agent.env }
  const first = await ran([agent.program, ...agent.first], work, own)
  if (!first.includes(FIRST_END))
    faults.push(`the first task did not end: ${connected.slice(-200)} ${first.slice(-500)}`)
  const again = await ran([agent.program, ...agent.again], work, own)
  if (!again.includes(LAST_END)) faults.push(`the second task did not end: ${again.slice(-500)}`)
  return { counted: `${requests} requests, ${prompts.length} of the session`, faults }
}

await playEvery('sessions', AGENTS, session)
