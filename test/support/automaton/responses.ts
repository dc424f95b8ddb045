// The strict automaton of the responses wire: what a stream must be for every client to follow it.

import type { Frame } from '../../../src/lib/sse.ts'

type Value = { [name: string]: unknown }

type OpenItem = {
  index: number
  id: string
  type: string
  /** Text of the part or call that is open, by what opened it. */
  content?: { index: number; type: string; text: string; textDone: boolean }
  contents: number
  summary?: { index: number; text: string; textDone: boolean }
  summaries: number
  input: string
  inputDone: boolean
  annotations: unknown[]
  /** Of a shell's call that did not come whole. */
  commands?: { text: string; done: boolean }[]
}

const isValue = (value: unknown): value is Value => typeof value === 'object' && value !== null && !Array.isArray(value)
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const parse = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

const asValue = (value: unknown): Value => (isValue(value) ? value : {})

/** Calls that the client carries out, in items of their own. */
const OWN_CALLS = new Set(['local_shell_call', 'shell_call', 'apply_patch_call'])
const isOwnCall = ({ type, execution }: Value): boolean =>
  OWN_CALLS.has(String(type)) || (type === 'tool_search_call' && execution === 'client')

/** What the vendor puts into every response; strict clients read none without. */
const MEMBERS = [
  ...['id', 'object', 'created_at', 'status', 'background', 'error', 'incomplete_details', 'instructions', 'metadata'],
  ...['model', 'output', 'parallel_tool_calls', 'previous_response_id', 'reasoning', 'service_tier', 'store'],
  ...['temperature', 'text', 'tool_choice', 'tools', 'top_p', 'truncation', 'usage'],
]

const TERMINAL = ['response.completed', 'response.incomplete', 'response.failed']

/** The violations of a stream, in order; empty for a correct one. */
export const checkResponsesStream = (frames: Frame[]): string[] => {
  const violations: string[] = []
  const done: Value[] = []
  let open: OpenItem | undefined
  let id: unknown
  let terminal: string | undefined
  let errors = 0
  let added = 0

  const step = (frame: Frame, at: number): void => {
    const bad = (rule: string, what: string): void => {
      violations.push(`${rule} at ${at} (${frame.event}): ${what}`)
    }
    if (frame.data === '[DONE]') {
      bad('R0', '[DONE]')
      return
    }
    const event = parse(frame.data)
    if (!isValue(event)) {
      bad('F7', 'data is no JSON object')
      return
    }
    const type = String(event.type)
    if (frame.event !== type) bad('R1', `type is ${type}`)
    if (event.sequence_number !== at) bad('R2', `sequence_number ${String(event.sequence_number)}`)
    if (errors > 0) bad('R3', 'after the error frame')
    if (terminal !== undefined && !(terminal === 'response.failed' && type === 'error'))
      bad('R3', 'after the terminal event')

    if (at === 0 && type !== 'response.created') bad('R4', 'does not begin with response.created')
    if (at === 1 && !['response.in_progress', 'response.queued', 'error', 'response.failed'].includes(type)) {
      bad('R4', 'response.in_progress does not follow')
    }

    if (isValue(event.response)) {
      const { response } = event
      if (id === undefined) id = response.id
      if (typeof response.id !== 'string' || response.id === '' || response.id !== id) bad('R5', 'another id')
      if (!TERMINAL.includes(type)) {
        if (response.usage !== null && response.usage !== undefined) bad('R6', 'usage before the end')
        if (list(response.output).length > 0) bad('R6', 'output before the end')
        if (response.status !== 'in_progress' && response.status !== 'queued') bad('R6', 'status before the end')
      }
    }

    const mine = (rule: string): OpenItem | undefined => {
      if (open === undefined) {
        bad(rule, 'no item is open')
        return undefined
      }
      if (event.output_index !== open.index) bad('R16', `output_index ${String(event.output_index)}`)
      if (event.item_id !== open.id) bad('R16', `item_id ${String(event.item_id)}`)
      return open
    }
    const inContent = (rule: string, kind: string) => {
      const item = mine(rule)
      if (item === undefined) return undefined
      if (item.content === undefined) {
        bad('R14', 'no content part is open')
        return undefined
      }
      if (event.content_index !== item.content.index) bad('R14', `content_index ${String(event.content_index)}`)
      if (item.content.type !== kind) bad('R14', `part is ${item.content.type}`)
      return item.content
    }
    const inSummary = () => {
      const item = mine('R15')
      if (item === undefined) return undefined
      if (item.summary === undefined) {
        bad('R15', 'no summary part is open')
        return undefined
      }
      if (event.summary_index !== item.summary.index) bad('R19', `summary_index ${String(event.summary_index)}`)
      return item.summary
    }
    const inCall = (callType: string): OpenItem | undefined => {
      const item = mine('R13')
      if (item !== undefined && item.type !== callType) bad('R13', `item is ${item.type}`)
      if (item?.inputDone === true) bad('R13', 'after its done')
      return item
    }

    switch (type) {
      case 'response.created':
        if (at !== 0) bad('R4', 'a second response.created')
        return
      case 'response.in_progress':
      case 'response.queued':
        return
      case 'response.output_item.added': {
        const item = isValue(event.item) ? event.item : {}
        if (open !== undefined) bad('R10', `item ${open.index} is still open`)
        if (event.output_index !== added) bad('R10', `output_index ${String(event.output_index)}, expected ${added}`)
        if (typeof item.id !== 'string' || item.id === '') bad('R11', 'item without id')
        if (done.some((other) => other.id === item.id)) bad('R11', 'duplicate item id')
        if (item.type === 'message') {
          if (item.status !== 'in_progress' || list(item.content).length > 0 || item.role !== 'assistant') {
            bad('R11', 'message is not empty and in progress')
          }
        }
        if (item.type === 'function_call') {
          if (item.status !== 'in_progress' || item.arguments !== '') bad('R11', 'call is not empty and in progress')
          if (!item.call_id || !item.name) bad('R11', 'call without call_id or name')
        }
        if (item.type === 'custom_tool_call' && (item.input !== '' || !item.call_id || !item.name)) {
          bad('R11', 'custom call is not empty, or without call_id or name')
        }
        if (item.type === 'reasoning' && list(item.summary).length > 0) bad('R11', 'reasoning with a summary')
        const whole = item.status !== 'in_progress'
        if (isOwnCall(item) && !whole) {
          const { commands, command, diff } = { ...asValue(item.action), ...asValue(item.operation) }
          const search = Object.keys(asValue(item.arguments))
          if (!item.call_id) bad('R11', 'call without call_id')
          if (list(commands).length + list(command).length + search.length > 0 || (diff !== undefined && diff !== ''))
            bad('R11', 'call is not empty')
        }
        open = {
          index: added++,
          id: String(item.id),
          type: String(item.type),
          contents: 0,
          summaries: 0,
          input: '',
          inputDone: false,
          annotations: [],
          ...(item.type === 'shell_call' && !whole ? { commands: [] } : {}),
        }
        return
      }
      case 'response.output_item.done': {
        const item = isValue(event.item) ? event.item : {}
        if (open === undefined) {
          bad('R12', 'done without added')
          return
        }
        if (event.output_index !== open.index) bad('R12', `output_index ${String(event.output_index)}`)
        if (item.id !== open.id || item.type !== open.type) bad('R12', 'another id or type')
        if (open.content !== undefined || open.summary !== undefined) bad('R14', 'a part is still open')
        if (open.type === 'message' && list(item.content).length !== open.contents) bad('R14', 'parts missing')
        if (open.type === 'function_call') {
          if (!open.inputDone) bad('R13', 'arguments not done')
          if (item.arguments !== open.input) bad('R13', 'arguments differ from their deltas')
          if (item.status === 'completed' && !isValue(parse(String(item.arguments)))) {
            bad('R13', 'arguments are no JSON object')
          }
        }
        if (open.type === 'custom_tool_call') {
          if (!open.inputDone) bad('R13', 'input not done')
          if (item.input !== open.input) bad('R13', 'input differs from its deltas')
        }
        if (isOwnCall(item) && item.status === 'in_progress') bad('R13', 'call is not over')
        if (open.commands !== undefined) {
          const { commands } = asValue(item.action)
          if (open.commands.some((command) => !command.done)) bad('R13', 'command not done')
          if (list(commands).join('\0') !== open.commands.map(({ text }) => text).join('\0'))
            bad('R13', 'commands differ from their deltas')
        }
        if (open.type === 'reasoning' && list(item.summary).length !== open.summaries)
          bad('R15', 'summary parts missing')
        done.push(item)
        open = undefined
        return
      }
      case 'response.content_part.added': {
        const item = mine('R14')
        const part = isValue(event.part) ? event.part : {}
        if (item === undefined) return
        if (item.content !== undefined) bad('R14', 'the last part is still open')
        if (event.content_index !== item.contents) bad('R14', `content_index ${String(event.content_index)}`)
        if ((part.text ?? part.refusal) !== '') bad('R14', 'part is not empty')
        item.content = { index: item.contents++, type: String(part.type), text: '', textDone: false }
        item.annotations = []
        return
      }
      case 'response.content_part.done': {
        const item = mine('R14')
        const part = isValue(event.part) ? event.part : {}
        if (item?.content === undefined) {
          bad('R14', 'no content part is open')
          return
        }
        if (event.content_index !== item.content.index) bad('R14', `content_index ${String(event.content_index)}`)
        if (!item.content.textDone) bad('R14', 'text not done')
        if ((part.text ?? part.refusal) !== item.content.text) bad('R17', 'text differs from its deltas')
        if (list(part.annotations).length !== item.annotations.length) bad('R18', 'annotations were not announced')
        delete item.content
        return
      }
      case 'response.output_text.delta': {
        const content = inContent('R14', 'output_text')
        if (!Array.isArray(event.logprobs)) bad('R14', 'no logprobs array')
        if (content?.textDone === true) bad('R14', 'after its done')
        if (content !== undefined) content.text += String(event.delta)
        return
      }
      case 'response.refusal.delta': {
        const content = inContent('R14', 'refusal')
        if (content !== undefined) content.text += String(event.delta)
        return
      }
      case 'response.output_text.done':
      case 'response.refusal.done': {
        const content = inContent('R14', type === 'response.refusal.done' ? 'refusal' : 'output_text')
        if (content === undefined) return
        if ((event.text ?? event.refusal) !== content.text) bad('R17', 'text differs from its deltas')
        content.textDone = true
        return
      }
      case 'response.output_text.annotation.added': {
        const content = inContent('R18', 'output_text')
        if (content?.textDone === true) bad('R18', 'after the text is done')
        if (event.annotation_index !== open?.annotations.length) bad('R18', 'annotation_index')
        open?.annotations.push(event.annotation)
        return
      }
      case 'response.reasoning_summary_part.added': {
        const item = mine('R15')
        if (item === undefined) return
        if (item.type !== 'reasoning') bad('R15', `item is ${item.type}`)
        if (item.summary !== undefined) bad('R15', 'the last summary part is still open')
        if (event.summary_index !== item.summaries) bad('R19', `summary_index ${String(event.summary_index)}`)
        item.summary = { index: item.summaries++, text: '', textDone: false }
        return
      }
      case 'response.reasoning_summary_text.delta': {
        const summary = inSummary()
        if (summary !== undefined) summary.text += String(event.delta)
        return
      }
      case 'response.reasoning_summary_text.done': {
        const summary = inSummary()
        if (summary === undefined) return
        if (event.text !== summary.text) bad('R15', 'text differs from its deltas')
        summary.textDone = true
        return
      }
      case 'response.reasoning_summary_part.done': {
        const summary = inSummary()
        if (summary?.textDone !== true) bad('R15', 'text not done')
        delete open?.summary
        return
      }
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta': {
        const call = inCall(type.includes('custom') ? 'custom_tool_call' : 'function_call')
        if (call !== undefined) call.input += String(event.delta)
        return
      }
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done': {
        const call = inCall(type.includes('custom') ? 'custom_tool_call' : 'function_call')
        if (call === undefined) return
        if ((event.arguments ?? event.input) !== call.input) bad('R13', 'differs from its deltas')
        call.inputDone = true
        return
      }
      case 'response.shell_call_command.added':
      case 'response.shell_call_command.delta':
      case 'response.shell_call_command.done': {
        if (open?.commands === undefined || event.output_index !== open.index) {
          bad('R13', 'no call of a shell is open')
          return
        }
        if (type.endsWith('added')) {
          if (event.command_index !== open.commands.length) bad('R13', `command_index ${String(event.command_index)}`)
          open.commands.push({ text: String(event.command), done: false })
          return
        }
        const command = open.commands[Number(event.command_index)]
        if (command === undefined || command.done) bad('R13', 'no such command is open')
        else if (type.endsWith('delta')) command.text += String(event.delta)
        else {
          if (event.command !== command.text) bad('R13', 'differs from its deltas')
          command.done = true
        }
        return
      }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed': {
        terminal = type
        const response = isValue(event.response) ? event.response : {}
        if (`response.${String(response.status)}` !== type) bad('R7', `status is ${String(response.status)}`)
        if (type === 'response.failed') {
          if (!isValue(response.error) || typeof response.error.code !== 'string') bad('R7', 'no error')
          const missing = MEMBERS.filter((name) => !Object.hasOwn(response, name))
          if (missing.length > 0) bad('R7', `no ${missing.join(', ')}`)
          return
        }
        if (!isValue(response.usage)) bad('R6', 'no usage at the end')
        if (type === 'response.incomplete' && !isValue(response.incomplete_details)) bad('R7', 'no incomplete_details')
        if (open !== undefined) bad('R8', `item ${open.index} is still open`)
        const output = list(response.output)
        if (output.length !== done.length) bad('R9', `${output.length} items in output, ${done.length} done`)
        output.forEach((item, index) => {
          if (bare(item) !== bare(done[index])) bad('R9', `output ${index} differs from its done`)
        })
        return
      }
      case 'error': {
        errors++
        const error = isValue(event.error) ? event.error : event
        if (typeof error.message !== 'string' || typeof error.code !== 'string') bad('error', 'no code or message')
        return
      }
      default: {
        if (!type.startsWith('response.')) {
          bad('R1', `unknown event ${type}`)
          return
        }
        // What a provider's own tools report belongs to their item.
        if (open !== undefined && event.item_id !== undefined && event.item_id !== open.id)
          bad('R16', 'another item_id')
      }
    }
  }
  frames.forEach(step)

  if (terminal === undefined) violations.push('R20: no terminal event')
  if (terminal === 'response.failed' && errors !== 1)
    violations.push(`error: ${errors} error frames after response.failed`)
  return violations
}

/** An item without what differs between its `done` and the response, by members in one order. */
const bare = (item: unknown): string =>
  JSON.stringify(item, (name, value) => {
    if (name === 'encrypted_content') return undefined
    if (!isValue(value)) return value
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
