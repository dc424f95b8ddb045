// Writes the parts of an answer as items of a responses stream: one open at a time, each with its `done` event.

import type { ChatEvent } from '../../ir/event.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { Citation, Logprob, Seal } from '../../ir/part.ts'
import { foundSources, isSearchUse, searchAction, searchId, searchSeal } from '../tools/search-calls.ts'
import { clientCall, isTruncated, OWN_PREFIX, toolOf } from './client-calls.ts'
import type { ClientTool, ClientTools } from './client-tools.ts'
import type { Delta, Frames } from './frames.ts'
import {
  type Call,
  callItem,
  callPrefix,
  encodeCitation,
  encodeLogprobs,
  type ItemStatus,
  itemIds,
  messageItem,
  namedCall,
  refusalContent,
  textContent,
} from './output.ts'
import { idIn, reasoningItem } from './reasoning.ts'

type Content = {
  kind: 'text' | 'refusal'
  text: string
  annotations: JsonObject[]
  logprobs: JsonObject[]
  delta: Delta
}
type Message = { kind: 'message'; id: string; content: JsonObject[]; part: Content | undefined }
type ToolCall = { kind: 'call'; id: string; call: Call; input: string; delta: Delta; ended: boolean }
/** A call of a client-run tool. Its item is made from the complete arguments, and so is written when the call ends. */
type OwnCall = {
  kind: 'own'
  tool: ClientTool
  callId: string
  itemId: string | undefined
  input: string[]
  ended: boolean
}
type Thought = { kind: 'reasoning'; id: string; text: string; delta: Delta; summary: boolean; full: boolean }
/** A search that another wire's vendor runs: its result follows. Of several at once one is open, and the others wait. */
type SearchCall = { kind: 'search'; id: string; use: JsonObject; action: JsonObject; waiting: Waiting[] }
/** `result`: where it has come already. */
type Waiting = { use: JsonObject; result?: JsonObject }
type Item = Message | ToolCall | OwnCall | Thought | SearchCall

export type ItemWriter = {
  /** The text to send for a part's event; '' for any other event. */
  write(event: ChatEvent): string
  /** Ends the open item. Messages and calls stay open until the next event tells whether they were cut. */
  close(status?: ItemStatus): string
  /** The items that are done. */
  readonly output: JsonObject[]
  readonly calls: boolean
  readonly refused: boolean
}

/** `base`: the answer's id, from which item ids are made. `own`: the client-run tools, whose calls have their own items. */
export const itemWriter = ({ frame, delta, writeDelta }: Frames, base: string, own: ClientTools): ItemWriter => {
  const idOf = itemIds(base)
  const output: JsonObject[] = []
  let item: Item | undefined
  let refused = false
  let calls = false

  /** The members that identify the open item in a frame. */
  const at = (id: string): JsonObject => ({ item_id: id, output_index: output.length })
  const inMessage = (message: Message): JsonObject => ({ ...at(message.id), content_index: message.content.length })
  const addItem = (value: JsonObject): string =>
    frame('response.output_item.added', { output_index: output.length, item: value })
  const doneItem = (value: JsonObject): string => {
    const text = frame('response.output_item.done', { output_index: output.length, item: value })
    output.push(value)
    item = undefined
    return text
  }

  const endContent = (message: Message): string => {
    const { part } = message
    if (part === undefined) return ''
    message.part = undefined
    const place = inMessage(message)
    const whole =
      part.kind === 'text' ? textContent(part.text, part.annotations, part.logprobs) : refusalContent(part.text)
    const done =
      part.kind === 'text'
        ? frame('response.output_text.done', { ...place, text: part.text, logprobs: part.logprobs })
        : frame('response.refusal.done', { ...place, refusal: part.text })
    const text = done + frame('response.content_part.done', { ...place, part: whole })
    message.content.push(whole)
    return text
  }

  const endCall = (call: ToolCall): string => {
    if (call.ended) return ''
    call.ended = true
    if (call.call.kind === 'custom') {
      return frame('response.custom_tool_call_input.done', { ...at(call.id), input: call.input })
    }
    const none = call.input === '' ? writeDelta(call.delta, '{}') : ''
    if (none !== '') call.input = '{}'
    return none + frame('response.function_call_arguments.done', { ...at(call.id), arguments: call.input })
  }

  const endThought = (thought: Thought, seal: Seal | undefined): string => {
    let text = ''
    if (thought.summary) {
      const place = { ...at(thought.id), summary_index: 0 }
      text += frame('response.reasoning_summary_text.done', { ...place, text: thought.text })
      text += frame('response.reasoning_summary_part.done', {
        ...place,
        part: { type: 'summary_text', text: thought.text },
      })
    }
    const { full } = thought
    const part = {
      type: 'reasoning' as const,
      text: thought.text,
      ...(full ? { full } : {}),
      ...(seal ? { seal } : {}),
    }
    return text + doneItem(reasoningItem(thought.id, part))
  }

  /** `end`: how the answer ends, where it does. */
  const close = (end?: ItemStatus): string => {
    const status = end ?? 'completed'
    switch (item?.kind) {
      case 'message': {
        const text = endContent(item)
        return text + doneItem(messageItem(item.id, item.content, status))
      }
      case 'call': {
        const text = endCall(item)
        return text + doneItem(callItem(item.id, item.call, item.input, status))
      }
      case 'reasoning':
        return endThought(item, undefined)
      case 'search': {
        const { waiting } = item
        // The wire has no other word for one that nothing came of.
        const ended = doneItem(searchItem(item, end === undefined ? 'completed' : 'failed'))
        return ended + waiting.map((one) => searched(one) + close(end)).join('')
      }
      case 'own': {
        const text = item.ended ? endOwn(item, status === 'incomplete') : ''
        item = undefined
        return text
      }
      default:
        return ''
    }
  }

  const beginContent = (kind: Content['kind']): string => {
    let text = ''
    // Some clients cannot read a message that contains a refusal: text before it gets a message of its own.
    if (item?.kind !== 'message' || (kind === 'refusal' && item.content.length > 0)) {
      text = close()
      item = { kind: 'message', id: idOf('msg_', undefined, output.length), content: [], part: undefined }
      text += addItem(messageItem(item.id, [], 'in_progress'))
    }
    text += endContent(item)
    const place = inMessage(item)
    const type = kind === 'text' ? 'response.output_text.delta' : 'response.refusal.delta'
    const rest = kind === 'text' ? ',"logprobs":[]' : ''
    item.part = { kind, text: '', annotations: [], logprobs: [], delta: delta(type, place, rest) }
    if (kind === 'refusal') refused = true
    const empty = kind === 'text' ? textContent('', [], []) : refusalContent('')
    return text + frame('response.content_part.added', { ...place, part: empty })
  }

  const addText = (kind: Content['kind'], text: string, logprobs: Logprob[] | undefined): string => {
    if (item?.kind !== 'message' || item.part?.kind !== kind) return ''
    const { part } = item
    part.text += text
    if (logprobs === undefined || logprobs.length === 0) return text === '' ? '' : writeDelta(part.delta, text)
    const encoded = encodeLogprobs(logprobs)
    part.logprobs.push(...encoded)
    return frame('response.output_text.delta', { ...inMessage(item), delta: text, logprobs: encoded })
  }

  const addCitation = (citation: Citation): string => {
    if (item?.kind !== 'message' || item.part?.kind !== 'text') return ''
    const { part } = item
    const place = inMessage(item)
    return encodeCitation(citation, part.text.length)
      .map((annotation) => {
        part.annotations.push(annotation)
        const annotation_index = part.annotations.length - 1
        return frame('response.output_text.annotation.added', { ...place, annotation_index, annotation })
      })
      .join('')
  }

  const beginCall = (event: Extract<ChatEvent, { type: 'tool-start' }>): string => {
    const text = close()
    const tool = toolOf(event, own)
    if (tool !== undefined) {
      item = { kind: 'own', tool, callId: event.id, itemId: event.itemId, input: [], ended: false }
      return text
    }
    calls = true
    const id = idOf(callPrefix(event.kind), event.itemId, output.length)
    const call = namedCall(event, id, own)
    const type =
      event.kind === 'custom' ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta'
    item = { kind: 'call', id, call, input: '', delta: delta(type, at(id)), ended: false }
    return text + addItem(callItem(id, call, '', 'in_progress'))
  }

  const endOwn = ({ tool, callId, itemId, input }: OwnCall, cut: boolean): string => {
    const written = input.join('')
    if (isTruncated(written, cut)) return ''
    calls = true
    const id = idOf(OWN_PREFIX[tool], itemId, output.length)
    const call = clientCall(tool, id, callId, written)
    const begun = addItem(call.begun)
    const output_index = output.length
    const commands = call.commands.map((command, command_index) => {
      const place = { output_index, command_index }
      return (
        frame('response.shell_call_command.added', { ...place, command: '' }) +
        (command === '' ? '' : frame('response.shell_call_command.delta', { ...place, delta: command })) +
        frame('response.shell_call_command.done', { ...place, command })
      )
    })
    return begun + commands.join('') + doneItem(call.item)
  }

  const beginThought = (full: boolean, seal: Seal | undefined): string => {
    const text = close()
    const id = idOf('rs_', idIn(seal), output.length)
    const place = { ...at(id), summary_index: 0 }
    item = {
      kind: 'reasoning',
      id,
      text: '',
      summary: false,
      full,
      delta: delta('response.reasoning_summary_text.delta', place),
    }
    return text + addItem({ type: 'reasoning', id, summary: [] })
  }

  const addThought = (delta: string): string => {
    if (item?.kind !== 'reasoning' || delta === '') return ''
    let text = ''
    if (!item.summary) {
      item.summary = true
      const place = { ...at(item.id), summary_index: 0 }
      text = frame('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } })
    }
    item.text += delta
    return text + writeDelta(item.delta, delta)
  }

  const searchItem = ({ id, action }: SearchCall, status: string): JsonObject => ({
    type: 'web_search_call',
    id,
    status,
    action,
  })

  const beginSearch = (value: JsonObject): string => {
    if (item?.kind === 'search') {
      item.waiting.push({ use: value })
      return ''
    }
    return close() + openSearch(value)
  }

  const openSearch = (use: JsonObject): string => {
    const id = idOf('ws_', searchId(use), output.length)
    item = { kind: 'search', id, use, action: searchAction(use), waiting: [] }
    return (
      addItem(searchItem(item, 'in_progress')) +
      frame('response.web_search_call.in_progress', at(id)) +
      frame('response.web_search_call.searching', at(id))
    )
  }

  /** One that has waited, with its pages where they have come. */
  const searched = ({ use, result }: Waiting): string =>
    openSearch(use) + (result === undefined ? '' : endSearch(result))

  /** The pages that a search has found, which ends it, and lets those that wait begin. */
  const endSearch = (value: JsonObject): string => {
    if (item?.kind !== 'search') return ''
    if (item.use.id !== value.tool_use_id) {
      const other = item.waiting.find(({ use }) => use.id === value.tool_use_id)
      if (other !== undefined) other.result = value
      return ''
    }
    const { waiting, use } = item
    const text = endOpen(item, value) + sealedSearch(use, value)
    const [next, ...rest] = waiting
    if (next === undefined) return text
    const begun = openSearch(next.use)
    item.waiting = rest
    return text + begun + (next.result === undefined ? '' : endSearch(next.result))
  }

  const endOpen = (search: SearchCall, value: JsonObject): string => {
    const sources = foundSources(value)
    if (sources === undefined) return doneItem(searchItem(search, 'failed'))
    search.action = { ...search.action, sources }
    const text = frame('response.web_search_call.completed', at(search.id))
    return text + doneItem(searchItem(search, 'completed'))
  }

  /** What the search's vendor reads alone goes with the client as a thought does, and returns to it. */
  const sealedSearch = (use: JsonObject, result: JsonObject): string => {
    const seal = searchSeal(use, result)
    if (seal === undefined) return ''
    const id = idOf('rs_', undefined, output.length)
    const thought = reasoningItem(id, { type: 'reasoning', text: '', seal })
    return addItem({ type: 'reasoning', id, summary: [] }) + doneItem(thought)
  }

  /** What another wire's vendor has run is shown where this wire has a word for it. */
  const foreign = (value: JsonObject): string => (isSearchUse(value) ? beginSearch(value) : endSearch(value))

  const whole = (value: JsonObject): string => {
    if (typeof value.type !== 'string' || value.type === 'message') return ''
    const text = close()
    const named = { ...value, id: idOf('', value.id, output.length) }
    return text + addItem(named) + doneItem(named)
  }

  const write = (event: ChatEvent): string => {
    switch (event.type) {
      case 'text-start':
        return beginContent('text')
      case 'refusal-start':
        return beginContent('refusal')
      case 'text-delta':
        return addText('text', event.text, event.logprobs)
      case 'refusal-delta':
        return addText('refusal', event.text, undefined)
      case 'citation':
        return addCitation(event.citation)
      case 'text-end':
      case 'refusal-end':
        return item?.kind === 'message' ? endContent(item) : ''
      case 'reasoning-start':
        return beginThought(event.full === true, event.seal)
      case 'reasoning-delta':
        return addThought(event.text)
      case 'reasoning-end':
        if (item?.kind !== 'reasoning') return ''
        if (event.full !== undefined) item.full = event.full
        return endThought(item, event.seal)
      case 'tool-start':
        return beginCall(event)
      case 'tool-delta':
        if (item?.kind === 'own') item.input.push(event.text)
        if (item?.kind !== 'call' || item.ended || event.text === '') return ''
        item.input += event.text
        return writeDelta(item.delta, event.text)
      case 'tool-end':
        if (item?.kind === 'own') {
          item.ended = true
          // Empty arguments are written on close, when it is known whether the call was cut.
          return endOwn(item, true)
        }
        return item?.kind === 'call' ? endCall(item) : ''
      case 'opaque':
        return event.value.origin === 'responses' ? whole(event.value.value) : foreign(event.value.value)
      default:
        return ''
    }
  }

  return {
    write,
    close,
    output,
    get calls() {
      return calls
    },
    get refused() {
      return refused
    },
  }
}
