// Turns as messages. Every call is directly followed by its result, as the vendor requires.

import { asObjects, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, TextPart, ToolCallPart, ToolResultPart } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { ChatRequest, Turn } from '../../ir/request.ts'
import { inTags } from '../../ir/tagged-thoughts.ts'
import { isStepOver, type Steps } from '../../lib/steps.ts'
import { thoughtMember } from '../seal.ts'
import { objectInput } from '../tools/call-input.ts'
import { failedText } from '../tools/failed-result.ts'
import { type WaitingCalls, waitingCalls } from '../tools/waiting-calls.ts'
import { asFunction, encodeCall } from './assistant.ts'
import { LISTS, type List } from './details.ts'
import { NO_SIGNATURE, NO_THOUGHT } from './members.ts'
import type { Outgoing } from './outgoing.ts'
import { encodeContent, encodePart, joinedContent } from './parts.ts'

/** An assistant message with calls, and their results. `waiting`: the ids of calls without a result so far. */
type Round = { message: JsonObject; waiting: Set<string>; results: JsonObject[]; attachments: JsonObject[] }
/** A call without a result so far, and the id it went out under. */
type Open = WaitingCalls<{ round: Round; sent: string }>

/** A result directly follows its call, wherever the client put it; a missing one is replaced by a text that says so. */
export function* encodeTurns(request: ChatRequest, out: Outgoing): Steps<JsonObject[]> {
  const messages: (JsonObject | Round)[] = []
  const open: Open = waitingCalls()
  let hasBegun = false
  /** The instructions that begin the conversation. */
  let opening: { message: JsonObject; parts: JsonObject[] } | undefined
  for (const [number, { turn, at }] of joined(request, out).entries()) {
    if (isStepOver(number)) yield
    if (turn.role !== 'system') hasBegun = true
    if (turn.role === 'system') {
      const parts = turn.parts.flatMap((part, index) => encodePart(part, placeOf(part, out.pathOf(at, index)), out))
      if (parts.length === 0 && !out.verbatim) continue
      if (opening !== undefined && !hasBegun && out.oneSystem) {
        opening.parts.push(...parts)
        opening.message.content = encodeContent(opening.parts, out)
        continue
      }
      const role = hasBegun && out.quirks.noMidSystem ? 'user' : roleOf(turn, out)
      const message = { role, content: encodeContent(parts, out), ...nameOf(turn) }
      opening ??= { message, parts }
      messages.push(message)
    } else if (turn.role === 'assistant') {
      const round = encodeAssistant(turn, at, open, out)
      if (round !== undefined) messages.push(round)
    } else {
      const content: JsonObject[] = []
      let results = 0
      for (const [index, part] of turn.parts.entries()) {
        const path = placeOf(part, out.pathOf(at, index))
        if (part.type !== 'tool-result') content.push(...encodePart(part, path, out))
        else if (encodeResult(part, path, { open, content }, out)) results += 1
      }
      const hasContent = content.length > 0 || (turn.parts.length === 0 && results === 0)
      if (hasContent) messages.push({ role: 'user', content: encodeContent(content, out), ...nameOf(turn) })
    }
  }
  yield
  const all = messages.flatMap((entry) => (isRound(entry) ? settled(entry, out) : [entry]))
  const sent = out.quirks.noRepeatedUser === true ? withoutRepeatedUser(all) : all
  return out.quirks.noUserAfterTool === true ? withReplies(sent, out) : sent
}

/** The messages with those of the user's that follow one another as one. */
const withoutRepeatedUser = (messages: readonly JsonObject[]): JsonObject[] => {
  const rows: [JsonObject, ...JsonObject[]][] = []
  for (const message of messages) {
    const row = rows.at(-1)
    if (message.role === 'user' && row?.[0].role === 'user') row.push(message)
    else rows.push([message])
  }
  return rows.map((row) => (row.length === 1 ? row[0] : { ...row[0], content: joinedContent(row) }))
}

/** The messages with a reply of the model's between a tool's and any other but its own. */
const withReplies = (messages: readonly JsonObject[], { needsReasoning }: Outgoing): JsonObject[] => {
  const thought = needsReasoning ? { reasoning_content: NO_THOUGHT } : {}
  return messages.flatMap((message, at) =>
    messages[at - 1]?.role === 'tool' && message.role !== 'tool' && message.role !== 'assistant'
      ? [{ role: 'assistant', ...thought, content: 'I have the result.' }, message]
      : [message],
  )
}

const isRound = (entry: JsonObject | Round): entry is Round => 'waiting' in entry

const settled = ({ message, waiting, results: given, attachments }: Round, out: Outgoing): JsonObject[] => {
  const none = Array.from(waiting, (id) => ({
    ...{ role: 'tool', tool_call_id: id, content: 'No result was given for this call.' },
  }))
  const results = [...given, ...none]
  return [
    ...(out.quirks.callsInTurn === true ? inTurn(message, results, out) : [message, ...results]),
    ...(attachments.length === 0 ? [] : [{ role: 'user', content: attachments }]),
  ]
}

/** Each call with its result: all that the model has said beside stands with the first. */
const inTurn = (message: JsonObject, results: JsonObject[], { quirks, needsReasoning }: Outgoing): JsonObject[] => {
  const thought = needsReasoning ? { reasoning_content: NO_THOUGHT } : {}
  const bare = { role: 'assistant', ...thought, content: quirks.noNullContent ? '' : null }
  const ofCalls = Map.groupBy(results, (result) => result.tool_call_id)
  return asObjects(message.tool_calls).flatMap((call, at) => [
    { ...(at === 0 ? message : bare), tool_calls: [call] },
    ...(ofCalls.get(call.id) ?? []),
  ])
}

/** The vendor takes both roles. Requests of other wires are mostly for other servers, many of which take `system` only. */
const roleOf = (turn: Extract<Turn, { role: 'system' }>, { origin, quirks }: Outgoing): string =>
  turn.developer && origin === 'chat-completions' && !quirks.noDeveloperRole ? 'developer' : 'system'

const nameOf = (turn: Turn): JsonObject => (turn.name === undefined ? {} : { name: turn.name })

/** Turns with their index. Other wires may spread an answer with parallel calls over several turns: they are joined. */
const joined = (request: ChatRequest, out: Outgoing): { turn: Turn; at: number }[] => {
  const turns: { turn: Turn; at: number }[] = []
  const answers = new Set<Turn>()
  for (const [at, turn] of request.turns.entries()) {
    const last = turns.at(-1)
    if (!out.verbatim && turn.role === 'assistant' && last?.turn.role === 'assistant') {
      if (turn.phase !== undefined) out.drop(`${placeOf(turn, out.pathOf(at))}.phase`)
      if (!answers.has(last.turn)) {
        last.turn = placed({ ...last.turn, parts: [...last.turn.parts] }, placeOf(last.turn, `messages.${last.at}`))
        answers.add(last.turn)
      }
      for (const part of turn.parts) last.turn.parts.push(part)
    } else {
      turns.push({ turn, at })
    }
  }
  return turns
}

const encodeAssistant = (
  turn: Extract<Turn, { role: 'assistant' }>,
  at: number,
  open: Open,
  out: Outgoing,
): JsonObject | Round | undefined => {
  const content: JsonObject[] = []
  const calls: JsonObject[] = []
  const details: { [list in List]?: Json[] } = {}
  const thoughts: JsonObject[] = []
  const message: JsonObject = { role: 'assistant' }
  const round: Round = { message, waiting: new Set(), results: [], attachments: [] }
  /** The next call's. */
  let signature: Json | undefined
  /** Thoughts that stand in the text, before the next. */
  let tagged = ''
  for (const [index, part] of turn.parts.entries()) {
    const path = placeOf(part, out.pathOf(at, index))
    switch (part.type) {
      case 'text':
        if (part.text === '') break
        content.push(...encodePart(tagged === '' ? part : { ...part, text: tagged + part.text }, path, out))
        tagged = ''
        if (isCut(turn.parts[index - 1], part)) joinLast(content)
        break
      case 'refusal':
        content.push({ type: 'refusal', refusal: part.text })
        break
      case 'reasoning': {
        const own = part.seal?.origin === 'chat-completions' ? part.seal.value : {}
        if (own.extra_content !== undefined) signature = own.extra_content
        const name = thoughtMember(part)
        const list = LISTS.find((one) => Array.isArray(own[one]))
        if (list !== undefined) {
          details[list] ??= []
          for (const detail of own[list] as Json[]) details[list].push(detail)
        } else if (name !== undefined && out.takesThoughts(name)) {
          if (name === 'content') tagged += inTags(part.text)
          else if (name === 'thinking') thoughts.push({ type: name, thinking: [{ type: 'text', text: part.text }] })
          else message[name] = `${message[name] ?? ''}${part.text}`
        } else if ((part.seal === undefined || name !== undefined) && part.text !== '') out.drop(path)
        break
      }
      case 'opaque':
        if (part.origin !== 'chat-completions') {
          if (!part.met) out.drop(path)
        } else if (part.value.audio !== undefined) message.audio = audioReference(part.value.audio)
        else content.push(part.value)
        break
      case 'tool-call': {
        if (part.cache !== undefined) out.drop(`${path}.cache_control`)
        const again = round.waiting.has(out.callId(part.id)) ? `${part.id} ${index}` : part.id
        const sent = out.callId(again)
        const name = out.names.of(part.name, part.namespace)
        const made = encodeCall(withObjectInput(out.quirks.noCustomTools ? asFunction(part) : part, out), sent, name)
        // The first of calls that were made at once speaks for all.
        if (out.quirks.needsSignatures && calls.length === 0) signature ??= NO_SIGNATURE
        calls.push(signature === undefined ? made : { ...made, extra_content: signature })
        signature = undefined
        round.waiting.add(sent)
        open.add(part.id, round, { round, sent })
        break
      }
    }
  }
  if (tagged !== '' && calls.length > 0) content.push({ type: 'text', text: tagged.trimEnd() })
  const bare = content.length === 0 && calls.length === 0 && message.audio === undefined
  if (bare && !out.verbatim) {
    const thought =
      tagged !== '' || thoughts.length > 0 || message.reasoning_content !== undefined || message.reasoning !== undefined
    if (thought || Object.keys(details).length > 0) out.drop(placeOf(turn, out.pathOf(at)))
    return undefined
  }
  Object.assign(message, details)
  if (out.needsReasoning) message.reasoning_content ??= NO_THOUGHT
  if (content.length + thoughts.length > 0) message.content = encodeContent([...thoughts, ...content], out)
  else message.content = (calls.length > 0 || message.audio !== undefined) && !out.quirks.noNullContent ? null : ''
  if (turn.name !== undefined) message.name = turn.name
  if (turn.phase !== undefined) out.drop(`${placeOf(turn, out.pathOf(at))}.phase`)
  if (calls.length === 0) return message
  message.tool_calls = calls
  return round
}

/** Those of the messages wire always are an object. */
const withObjectInput = (call: ToolCallPart, { verbatim, origin }: Outgoing): ToolCallPart =>
  verbatim || origin === 'messages' || call.kind === 'custom' ? call : { ...call, input: objectInput(call.input) }

/** Whether two texts are one that was cut where a citation begins or ends. */
const isCut = (before: AssistantPart | undefined, part: TextPart): boolean =>
  before?.type === 'text' && before.text !== '' && (before.citations ?? part.citations) !== undefined

const joinLast = (content: JsonObject[]): void => {
  const last = content.pop()
  // One at a time: joining all of them each time would take quadratic time.
  content.push({ type: 'text', text: `${content.pop()?.text ?? ''}${last?.text ?? ''}` })
}

/** Requests refer to earlier audio by its id. */
const audioReference = (audio: Json): Json =>
  isObject(audio) && typeof audio.id === 'string' ? { id: audio.id } : null

/** Adds a result to its call's round. False for one without a call, which goes to `content` as text. */
const encodeResult = (
  part: ToolResultPart,
  path: string,
  { open, content }: { open: Open; content: JsonObject[] },
  out: Outgoing,
): boolean => {
  if (part.cache !== undefined) out.drop(`${path}.cache_control`)
  const slot = open.take(part.callId)
  const texts: JsonObject[] = []
  const attached: JsonObject[] = []
  for (const inner of part.parts) {
    for (const one of encodePart(inner, placeOf(inner, path), out)) (one.type === 'text' ? texts : attached).push(one)
  }
  const [first] = texts
  if (part.isError) texts.splice(0, 1, { ...first, type: 'text', text: failedText(String(first?.text ?? '')) })
  if (slot === undefined) {
    content.push({ type: 'text', text: `Result of the tool call ${part.callId}:` }, ...texts, ...attached)
    return false
  }
  const { round, sent } = slot
  round.waiting.delete(sent)
  if (attached.length > 0) {
    // A tool's message holds only text: images and files follow in a user message that names the call.
    if (texts.every(({ text }) => text === ''))
      texts.splice(0, texts.length, { type: 'text', text: 'The result follows in the next user message.' })
    round.attachments.push({ type: 'text', text: `Attached to the result of the tool call ${sent}:` }, ...attached)
  }
  round.results.push({ role: 'tool', tool_call_id: sent, content: encodeContent(texts, out) })
  return true
}
