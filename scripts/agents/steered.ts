// Sessions that their user steers, by the protocols that editors speak to agents: an answer stopped in its middle, a tool
// stopped while it runs, the conversation compacted, the model changed to another vendor's and back; strict scripted models.
//   bun scripts/agents/steered.ts --folder FOLDER [NAME…]
// FOLDER is what `test:agents --folder` leaves. Prints for each agent and wire what was wrong: what breaks the vendor's types
// or pairing, does not begin with the request before it at that vendor, or is not on the books as it was.

import { asObject, type JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { type Prompt, promptOf } from '../../test/support/prompt.ts'
import type { Script } from '../../test/support/provider/scripted.ts'
import type { Answer, Piece } from '../../test/wire/matrix/story.ts'
import { answered, differs, faultsIn, namesIn } from './checked.ts'
import { type Place, playEvery } from './every-session.ts'
import { openLines } from './lines.ts'

/** A session of an agent. Each settles when the agent has nothing more to do. */
type Session = {
  say(words: string): Promise<void>
  /** Stops it once the text has begun to come, or its tool to run. */
  stopped(words: string, at: 'text' | 'tool'): Promise<void>
  compact(): Promise<void>
  choose(model: string): Promise<void>
  end(): Promise<void>
}

type Agent = {
  /** What it speaks. */
  wire: ChatWire
  tool: string
  call(command: string): JsonObject
  open(env: Record<string, string>, cwd: string): Promise<Session>
}

const AGENTS: Record<string, Agent> = {
  'claude-code': {
    wire: 'messages',
    tool: 'Bash',
    call: (command) => ({ command, description: 'Looks' }),
    open: async (env, cwd) => {
      const words = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
      const flags = ['--include-partial-messages', '--dangerously-skip-permissions']
      const own = { ...env, IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }
      const lines = openLines(['claude', '-p', ...words, ...flags], own, cwd)
      let asked = 0
      const control = async (request: JsonObject): Promise<void> => {
        const request_id = `r${++asked}`
        const done = lines.next(({ response }) => asObject(response).request_id === request_id)
        lines.send({ type: 'control_request', request_id, request })
        await done
      }
      const say = async (content: string, during?: () => Promise<void>): Promise<void> => {
        const done = lines.next(({ type }) => type === 'result')
        lines.send({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' })
        await during?.()
        await done
      }
      await control({ subtype: 'initialize' })
      return {
        say,
        stopped: (content, at) =>
          say(content, async () => {
            await lines.next((line) =>
              at === 'text'
                ? asObject(asObject(line.event).delta).text !== undefined
                : line.type === 'assistant' && JSON.stringify(line).includes('sleep 60'),
            )
            await control({ subtype: 'interrupt' })
          }),
        compact: () => say('/compact'),
        choose: (model) => control({ subtype: 'set_model', model }),
        end: lines.end,
      }
    },
  },
  codex: {
    wire: 'responses',
    tool: 'exec_command',
    call: (cmd) => ({ cmd }),
    open: async (env, cwd) => {
      const lines = openLines(['codex', 'app-server'], env, cwd)
      let asked = 0
      let model: string | undefined
      const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
        const mine = ++asked
        const done = lines.next(({ id, method: none }) => id === mine && none === undefined)
        lines.send({ id: mine, method, params })
        return asObject((await done).result)
      }
      await ask('initialize', { clientInfo: { name: 'sluice', title: null, version: '1' }, capabilities: null })
      lines.send({ method: 'initialized' })
      const rights = { approvalPolicy: 'never', sandbox: 'danger-full-access' }
      const threadId = String(asObject((await ask('thread/start', { cwd, ...rights })).thread).id)
      const turn = async (text: string, during?: (turnId: string) => Promise<void>): Promise<void> => {
        const done = lines.next(({ method }) => method === 'turn/completed')
        const input = [{ type: 'text', text, text_elements: [] }]
        const begun = await ask('turn/start', { threadId, input, ...(model === undefined ? {} : { model }) })
        await during?.(String(asObject(begun.turn).id))
        await done
      }
      return {
        say: turn,
        stopped: (text, at) =>
          turn(text, async (turnId) => {
            await lines.next(({ method, params }) =>
              at === 'text'
                ? method === 'item/agentMessage/delta'
                : method === 'item/started' && asObject(asObject(params).item).type === 'commandExecution',
            )
            await ask('turn/interrupt', { threadId, turnId })
          }),
        compact: async () => {
          const done = lines.next(({ method }) => method === 'turn/completed' || method === 'thread/compacted')
          await ask('thread/compact/start', { threadId })
          await done
        },
        choose: async (id) => {
          model = id
        },
        end: lines.end,
      }
    },
  },
  opencode: {
    wire: 'chat-completions',
    tool: 'bash',
    call: (command) => ({ command, description: 'Looks' }),
    open: async (env, cwd) => {
      const lines = openLines(['opencode', 'acp'], env, cwd)
      let asked = 0
      const ask = async (method: string, params: JsonObject, during?: () => Promise<void>): Promise<JsonObject> => {
        const mine = ++asked
        const done = lines.next(({ id, method: none }) => id === mine && none === undefined)
        lines.send({ jsonrpc: '2.0', id: mine, method, params })
        await during?.()
        return asObject((await done).result)
      }
      await ask('initialize', { protocolVersion: 1, clientCapabilities: {} })
      const { sessionId = '' } = await ask('session/new', { cwd, mcpServers: [] })
      const say = async (text: string, during?: () => Promise<void>): Promise<void> => {
        await ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }, during)
      }
      return {
        say,
        stopped: (text, at) =>
          say(text, async () => {
            const kind = at === 'text' ? 'agent_message_chunk' : 'tool_call_update'
            await lines.next(({ params }) => asObject(asObject(params).update).sessionUpdate === kind)
            lines.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } })
          }),
        compact: () => say('/compact'),
        choose: async (model) => {
          await ask('session/set_config_option', { sessionId, configId: 'model', value: `sluice/${model}` })
        },
        end: lines.end,
      }
    },
  },
}

const usage = { input: 900, cacheRead: 100, output: 40, reasoning: 5 }

/** What the model says next, by the last task that the text holds. Of the first only a part comes. */
const nextOf = ({ tool, call }: Agent, text: string, step: number): Answer => {
  const tasks = [...text.matchAll(/Task (\d)/g)].map(([, number]) => Number(number))
  const task = Math.max(...tasks)
  const thought: Piece = { thought: `I think at step ${step}.`, seal: Buffer.from(`seal ${step}`).toString('base64') }
  const run = (command: string, at: number): Piece => ({
    ...{ call: `call_${step}_${at}`, name: tool, input: JSON.stringify(call(command)) },
  })
  if (task === 1) return { pieces: [{ text: 'A long story of a lock and a boat.' }], finish: 'stop', usage }
  if (task === 2) return { pieces: [thought, run('sleep 60', 0), run('echo second', 1)], finish: 'calls', usage }
  if (text.includes(`mark-${task}`)) return { pieces: [thought, { text: `Done ${task}.` }], finish: 'stop', usage }
  const calls = [run(`echo mark-${task}`, 0), run('false', 1)]
  return { pieces: [thought, { text: 'I look.' }, ...calls], finish: 'calls', usage }
}

/** Up to where some of its text has come, and then silence. */
const begun = ({ steps = [], ...script }: Script): Script => {
  const frames = [...(steps as Iterable<Uint8Array>)].map((bytes) => new TextDecoder().decode(bytes)).join('')
  const at = frames.lastIndexOf('\n\n', frames.indexOf('boat') - 1)
  return { ...script, steps: [frames.slice(0, at + 2)], end: 'stall' }
}

const session = async ({ agent, vendor, bench, work, env, connect }: Place<Agent>) => {
  const faults: string[] = []
  const prompts = new Map<ChatWire, Prompt>()
  let requests = 0
  let compacting = false
  for (const wire of CHAT_WIRES) {
    bench.play(wire, (sent): Script => {
      const step = ++requests
      if (agent.wire !== wire) faults.push(...faultsIn(wire, sent).map((fault) => `request ${step}: ${fault}`))
      const text = JSON.stringify(sent.messages ?? sent.input)
      const isOwn = namesIn(sent).includes(agent.tool) && text.includes('Task ')
      const short: Answer = { pieces: [{ text: '<summary>What was done, in short.</summary>' }], finish: 'stop', usage }
      if (compacting || !isOwn) return answered(wire, sent, short, step)
      const now = promptOf(sent)
      const before = prompts.get(wire)
      const fault = before === undefined ? undefined : differs(before, now, agent.wire === wire)
      if (fault !== undefined) faults.push(`request ${step}: not the one before, ${fault}`)
      prompts.set(wire, now)
      const answer = answered(wire, sent, nextOf(agent, text, step), step)
      return text.includes('Task 2') || !text.includes('Task 1') ? answer : begun(answer)
    })
  }
  const { server, idle } = bench.gateway
  const connected = Bun.spawn([...connect, '--untried'], { env, cwd: work, stdout: 'ignore', stderr: 'pipe' })
  if ((await connected.exited) !== 0) throw new Error(await new Response(connected.stderr).text())
  const { SLUICE_API_KEY: _, ...own } = env
  const opened = await agent.open(own, work)
  await opened.stopped('Task 1', 'text')
  await opened.stopped('Task 2', 'tool')
  await opened.say('Task 3')
  compacting = true
  await opened.compact()
  compacting = false
  prompts.clear()
  await opened.say('Task 4')
  for (const wire of [...CHAT_WIRES.filter((each) => each !== vendor), vendor]) {
    await opened.choose(bench.model(wire))
    await opened.say('Task 5')
  }
  await opened.end()
  await idle()
  const rows = await server.gateway.store.exchanges({ limit: requests + 1 })
  const mine = rows.slice(0, requests)
  const aborted = mine.filter(({ outcome }) => outcome === 'aborted')
  if (aborted.length !== 1 || aborted[0]?.estimated !== true) faults.push(`${aborted.length} answers left on the books`)
  const others = mine.filter(
    (row) => row.outcome !== 'aborted' && (row.outcome !== 'done' || row.output !== usage.output),
  )
  for (const { id, outcome, output } of others) faults.push(`on the books: ${id} ${outcome} ${output}`)
  return { counted: `${requests} requests`, faults }
}

await playEvery('steered', AGENTS, session)
