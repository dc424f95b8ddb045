// Encodes turns as input items, as the provider requires: every call has its result right after the model's items, no
// result is without its call, and no thought comes last among the model's items.

import type { JsonObject } from '../../ir/json.ts'
import type {
  AssistantPart,
  ContentPart,
  RefusalPart,
  Seal,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../ir/part.ts'
import { placeOf } from '../../ir/place.ts'
import type { ChatRequest, Turn } from '../../ir/request.ts'
import { isStepOver, type Steps } from '../../lib/steps.ts'
import { isEmptyInput, objectInput } from '../tools/call-input.ts'
import { failedText } from '../tools/failed-result.ts'
import { waitingCalls } from '../tools/waiting-calls.ts'
import { dropMark } from '../turns/breakpoint.ts'
import { encodeContent, shortest } from './content.ts'
import { callId, withTakenId } from './names.ts'
import type { Outgoing } from './outgoing.ts'
import { encodeCitation, encodeLogprobs, refusalContent, textContent } from './output.ts'
import { sealedItem } from './reasoning.ts'

type Assistant = Extract<Turn, { role: 'assistant' }>
/** `turn`: the index of its turn; `order`: its position among all results. */
type Result = { part: ToolResultPart; turn: number; order: number }
type Pairs = { results: Map<ToolCallPart, Result>; paired: Set<ToolResultPart> }

const NOT_CARRIED_OUT = 'The call was not carried out.'

export function* encodeTurns(
  request: ChatRequest,
  out: Outgoing,
): Steps<{ instructions?: string; input: JsonObject[] }> {
  const input: JsonObject[] = []
  const pairs = pair(request.turns)
  // Where the conversation continues one that the provider keeps, a call or its result may be in that.
  const partial = out.own && request.opaque.some(({ name, essential }) => essential && name !== 'tool_choice')
  const mayLabel = !out.own && out.quirks.noReasoning !== true
  // From the first thought on, as the model that labels has made it: what has gone out without labels stays as it is cached.
  let needsPhases = false
  let run: JsonObject[] = []
  let calls: ToolCallPart[] = []

  /** `goesOn`: the turn of the model's does. */
  const flush = (goesOn = false): void => {
    while (run.at(-1)?.type === 'reasoning') run.pop()
    if (needsPhases) labelPhases(run, goesOn || calls.length > 0)
    input.push(...run)
    const given: { order: number; item: JsonObject }[] = []
    for (const call of calls) {
      const found = pairs.results.get(call)
      if (found !== undefined) given.push({ order: found.order, item: resultItem(found, call.kind, out) })
      else if (!partial && call.native === undefined) {
        const none = { part: notCarriedOut(call), turn: 0 }
        given.push({ order: Number.MAX_SAFE_INTEGER, item: resultItem(none, call.kind, out) })
      }
    }
    given.sort((a, b) => a.order - b.order)
    for (const { item } of given) input.push(item)
    run = []
    calls = []
  }

  const instructions = instructionsOf(request.turns[0])
  const write = (turn: Turn, at: number): void => {
    if (turn.role === 'assistant') {
      needsPhases ||= mayLabel && turn.parts.some(isSealed)
      run.push(...assistantItems(turn, at, input.length + run.length, out))
      calls.push(...turn.parts.filter((part) => part.type === 'tool-call'))
      return
    }
    flush(turn.role === 'user' && turn.within)
    if (turn.name !== undefined) out.drop(`${out.pathOf(at)}.name`)
    if (at === 0 && instructions !== undefined) return
    if (turn.role === 'system') {
      input.push(...messageItems(roleOf(turn, out), turn.parts, at, out))
    } else {
      input.push(...userItems(turn.parts, at, { paired: pairs.paired, partial }, out))
    }
  }
  yield
  for (const [at, turn] of request.turns.entries()) {
    write(turn, at)
    if (isStepOver(at)) yield
  }
  flush()
  if (instructions === undefined) return { input }
  // The provider refuses an empty input, so instructions without a conversation become a message.
  if (input.length > 0 || partial) return { instructions, input }
  return { input: [{ type: 'message', role: 'system', content: instructions }] }
}

const roleOf = ({ developer }: Extract<Turn, { role: 'system' }>, { quirks }: Outgoing): 'developer' | 'system' =>
  (developer && !quirks.noDeveloperRole) || quirks.noSystemRole ? 'developer' : 'system'

const pair = (turns: readonly Turn[]): Pairs => {
  const waiting = waitingCalls<ToolCallPart>()
  const pairs: Pairs = { results: new Map(), paired: new Set() }
  let order = 0
  /** Consecutive turns of the model count as one. */
  let round = 0
  turns.forEach((turn, at) => {
    if (turn.role !== 'assistant' && !(turn.role === 'user' && turn.within)) round = at
    for (const part of turn.parts) {
      if (part.type === 'tool-call') waiting.add(part.id, round, part)
      if (part.type !== 'tool-result') continue
      const call = waiting.take(part.callId)
      if (call === undefined) continue
      pairs.results.set(call, { part, turn: at, order: order++ })
      pairs.paired.add(part)
    }
  })
  return pairs
}

/**
 * Without encrypted content the item is a reference to one that the provider stores; translated requests say `store: false`.
 * Some servers sign the thought itself instead.
 */
const isReadable = ({ value }: Seal): boolean => value.encrypted_content !== undefined || value.signature !== undefined

const isSealed = (part: AssistantPart): boolean =>
  part.type === 'reasoning' && part.seal?.origin === 'responses' && part.seal.value.encrypted_content !== undefined

/**
 * Sets the `phase` of the model's messages: the final answer, or commentary before calls. Models that label their messages
 * stop early when the history lacks the labels. Other wires do not keep them, so they are derived from position.
 */
const labelPhases = (run: readonly JsonObject[], goesOn: boolean): void => {
  run.forEach((item, at) => {
    if (item.type !== 'message' || item.phase !== undefined) return
    item.phase = goesOn || at < run.length - 1 ? 'commentary' : 'final_answer'
  })
}

/**
 * Only what a client of this wire sent as `instructions` goes out as such: newer models read that member after the
 * conversation, and do not cache it. For JSON answers the provider also requires the word JSON in a message.
 */
const instructionsOf = (first: Turn | undefined): string | undefined => {
  const [part] = first !== undefined && placeOf(first, '') === 'instructions' ? first.parts : []
  return part?.type === 'text' ? part.text : undefined
}

const isItem = (part: ContentPart): boolean =>
  part.type === 'opaque' && !(typeof part.value.type === 'string' && /^(input|output)_/.test(part.value.type))

/** One message, split where an item of the wire's own is among its parts. */
const messageItems = (role: string, parts: readonly ContentPart[], turn: number, out: Outgoing): JsonObject[] => {
  const items: JsonObject[] = []
  let content: ContentPart[] = []
  const close = (): void => {
    const encoded = encodeContent(content, turn, out)
    const nonEmpty = encoded.filter((part) => part.type !== 'input_text' || part.text !== '')
    if (encoded.length > 0)
      items.push({ type: 'message', role, content: shortest(nonEmpty.length > 0 ? nonEmpty : encoded.slice(0, 1)) })
    content = []
  }
  for (const part of parts) {
    if (!isItem(part)) {
      content.push(part)
      continue
    }
    close()
    items.push(...encodeContent([part], turn, out))
  }
  close()
  return items
}

const userItems = (
  parts: Extract<Turn, { role: 'user' }>['parts'],
  turn: number,
  { paired, partial }: Pick<Pairs, 'paired'> & { partial: boolean },
  out: Outgoing,
): JsonObject[] => {
  const items: JsonObject[] = []
  let content: ContentPart[] = []
  for (const part of parts) {
    if (part.type !== 'tool-result') {
      content.push(part)
      continue
    }
    if (paired.has(part)) continue
    if (partial || (out.own && part.native !== undefined)) {
      items.push(...messageItems('user', content, turn, out), resultItem({ part, turn }, part.kind, out))
      content = []
    } else {
      // The provider refuses a result without its call: its content stays in the conversation as the user's text.
      const what = part.isError === true ? 'Error' : 'Result'
      content.push({ type: 'text', text: `${what} of the tool call ${part.callId}:` }, ...part.parts)
    }
  }
  return [...items, ...messageItems('user', content, turn, out)]
}

const notCarriedOut = (call: ToolCallPart): ToolResultPart => ({
  type: 'tool-result',
  callId: call.id,
  kind: call.kind,
  parts: [{ type: 'text', text: NOT_CARRIED_OUT }],
  isError: true,
})

const resultItem = ({ part, turn }: Omit<Result, 'order'>, kind: ToolCallPart['kind'], out: Outgoing): JsonObject => {
  if (out.own && part.native !== undefined) return part.native
  dropMark(part, placeOf(part, out.pathOf(turn)), out)
  const content = encodeContent(part.parts, turn, out).filter(({ type, text }) => type !== 'input_text' || text !== '')
  return {
    type: kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output',
    call_id: callId(part.callId),
    output: content.length === 0 && part.isError !== true ? '' : shortest(markError(content, part)),
  }
}

/** The wire has no member for a failed call: the text must say so. */
const markError = (content: JsonObject[], part: ToolResultPart): JsonObject[] => {
  if (part.isError !== true) return content
  const [first, ...rest] = content
  if (first?.type !== 'input_text' || typeof first.text !== 'string')
    return [{ type: 'input_text', text: failedText('') }, ...content]
  return first.text === NOT_CARRIED_OUT ? content : [{ ...first, text: failedText(first.text) }, ...rest]
}

const assistantItems = (turn: Assistant, at: number, position: number, out: Outgoing): JsonObject[] => {
  const items: JsonObject[] = []
  let texts: (TextPart | RefusalPart)[] = []
  const close = (): void => {
    const said = { phase: turn.phase, id: `msg_${position + items.length}` }
    const item = textItem(texts, said, out.quirks.longMessages === true, (part) =>
      out.drop(`${placeOf(part, out.pathOf(at))}.citations`),
    )
    if (item !== undefined) items.push(item)
    texts = []
  }
  if (turn.name !== undefined) out.drop(`${out.pathOf(at)}.name`)
  turn.parts.forEach((part, number) => {
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.type === 'text') dropMark(part, placeOf(part, out.pathOf(at, number)), out)
      if (part.text !== '' || out.verbatim) texts.push(part)
      return
    }
    close()
    items.push(...partItem(part, placeOf(part, out.pathOf(at, number)), out))
  })
  close()
  return items
}

const partItem = (part: Exclude<AssistantPart, TextPart | RefusalPart>, path: string, out: Outgoing): JsonObject[] => {
  switch (part.type) {
    case 'reasoning':
      if (part.seal === undefined) {
        if (part.text !== '') out.drop(path)
        return []
      }
      if (part.seal.origin !== 'responses') return []
      if (!out.own && (!isReadable(part.seal) || out.quirks.noReasoning === true)) return []
      return [withTakenId(sealedItem(part))]
    case 'tool-call':
      dropMark(part, path, out)
      return [encodeCall(part, out)]
    case 'opaque':
      if (part.origin === 'responses') return [withTakenId(part.value)]
      if (!part.met) out.drop(path)
      return []
  }
}

/** The message item of what the model said, with a plain string as content where possible. `isLong`: it never is. */
const textItem = (
  texts: readonly (TextPart | RefusalPart)[],
  { phase, id }: { phase: string | undefined; id: string },
  isLong: boolean,
  dropCitations: (part: TextPart) => void,
): JsonObject | undefined => {
  const [first] = texts
  if (first === undefined) return undefined
  const known = phase === 'commentary' || phase === 'final_answer' ? { phase } : {}
  const isPlain = first.type === 'text' && first.citations === undefined && first.logprobs === undefined
  if (texts.length === 1 && isPlain && !isLong) {
    return { type: 'message', role: 'assistant', content: first.text, ...known }
  }
  const content = texts.map((part) => {
    if (part.type === 'refusal') return refusalContent(part.text)
    const annotations = (part.citations ?? []).flatMap((citation) => encodeCitation(citation, part.text.length))
    if (annotations.length < (part.citations ?? []).length) dropCitations(part)
    return textContent(part.text, annotations, encodeLogprobs(part.logprobs ?? []))
  })
  return { type: 'message', id, role: 'assistant', status: 'completed', content, ...known }
}

const encodeCall = (part: ToolCallPart, out: Outgoing): JsonObject => {
  if (out.own && part.native !== undefined) return part.native
  const custom = part.kind === 'custom'
  const itemId = part.itemId?.startsWith(custom ? 'ctc_' : 'fc_') ? { id: part.itemId } : {}
  const call = { ...itemId, call_id: callId(part.id), name: out.names.sent(part.name, part.namespace) }
  const namespace = part.namespace === undefined ? {} : { namespace: part.namespace }
  return withTakenId(
    custom
      ? { type: 'custom_tool_call', ...call, input: part.input, ...namespace }
      : { type: 'function_call', ...call, arguments: argumentsOf(part, out), ...namespace },
  )
}

/** Those of the messages wire always are an object. */
const argumentsOf = ({ input }: ToolCallPart, { verbatim, origin }: Outgoing): string => {
  if (isEmptyInput(input)) return '{}'
  return verbatim || origin === 'messages' ? input : objectInput(input)
}
