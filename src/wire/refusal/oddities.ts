// What is unusual about a conversation as it was sent: the order of its speakers, calls without results, ids, arguments and
// texts that some servers refuse, each with its place. A refusal that is about one of these seldom says where it stands.

import {
  asList,
  asObject,
  asObjects,
  asText,
  isObject,
  type Json,
  type JsonObject,
  parseObject,
} from '../../ir/json.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { parseDataUrl } from '../turns/data-url.ts'
import { type Place, placesOf, valueAt } from './member-path.ts'
import { PICTURES } from './wishes.ts'

/**
 * `ends`: with a turn of the model's. `system`: within it; `opens`: a system's turn begins it, or instructions stand beside.
 * `stray`, `open`: a result without a call, a call without a result. `after-tool`: the user right after a tool. `again`: one
 * speaker twice. `begins`: with the model. `unasked`: by no user.
 */
export type Disorder = 'ends' | 'system' | 'stray' | 'open' | 'after-tool' | 'again' | 'begins' | 'opens' | 'unasked'

type Speaker = { role: string; calls: string[]; results: string[]; place: Place }

export const disordersIn = (wire: ChatWire, sent: JsonObject): Map<Disorder, Place> => {
  const found = new Map<Disorder, Place>()
  const note = (disorder: Disorder, place: Place): void => {
    if (!found.has(disorder)) found.set(disorder, place)
  }
  const speakers = speakersIn(wire, sent)
  const open = new Map<string, Place>()
  let before: Speaker | undefined
  for (const one of speakers) {
    const { role, place } = one
    if (role === 'system' && before === undefined) {
      note(found.has('opens') ? 'system' : 'opens', place)
      continue
    }
    if (role === 'system') note('system', place)
    if (before === undefined && role !== 'user') note('begins', place)
    for (const id of one.results) if (!open.delete(id)) note('stray', place)
    if (before?.role === 'tool' && (role === 'user' || role === 'system')) note('after-tool', place)
    if (before !== undefined && before.role === role && role !== 'tool' && role !== 'system') note('again', place)
    // One with the id of a call that still waits: no result can be of that any more.
    for (const id of one.calls) {
      const waiting = open.get(id)
      if (waiting !== undefined) note('open', waiting)
      open.set(id, place)
    }
    before = one
  }
  if (isWhole(wire, sent) && !speakers.some(({ role }) => role === 'user'))
    note('unasked', [wire === 'responses' ? 'input' : 'messages'])
  for (const place of open.values()) note('open', place)
  if (before?.role === 'assistant' && before.calls.length === 0) note('ends', before.place)
  for (const member of ['system', 'instructions']) if (asGiven(sent[member])) note('opens', [member])
  return found
}

/** Whether all who have spoken are in it: a text is the user's, and who has spoken before the vendor may know. */
const isWhole = (wire: ChatWire, { input, previous_response_id: previous, conversation }: JsonObject): boolean =>
  wire !== 'responses' || (Array.isArray(input) && !asGiven(previous) && !asGiven(conversation))

const asGiven = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== ''

const speakersIn = (wire: ChatWire, sent: JsonObject): Speaker[] => {
  const member = wire === 'responses' ? 'input' : 'messages'
  return asList(sent[member]).flatMap((turn, at): Speaker[] => {
    if (!isObject(turn)) return []
    const place = [member, at]
    const role = turn.role === 'developer' ? 'system' : asText(turn.role)
    if (wire === 'responses' && role === '') {
      const id = asText(turn.call_id)
      if (`${turn.type}`.endsWith('call_output')) return [{ role: 'tool', calls: [], results: [id], place }]
      return `${turn.type}`.endsWith('_call') ? [{ role: 'assistant', calls: [id], results: [], place }] : []
    }
    const blocks = asObjects(turn.content)
    const calls = [
      ...asObjects(turn.tool_calls).map(({ id }) => asText(id)),
      ...blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => asText(id)),
    ]
    const results = [
      ...(role === 'tool' ? [asText(turn.tool_call_id)] : []),
      ...blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id: id }) => asText(id)),
    ]
    return [{ role, calls, results, place }]
  })
}

/** The first call whose arguments are no JSON, as one is that was cut. */
export const cutCallIn = (wire: ChatWire, sent: JsonObject): Place | undefined =>
  argumentsIn(wire, sent).find(({ text }) => text !== '' && parseObject(text) === undefined)?.place

const argumentsIn = (wire: ChatWire, sent: JsonObject): { text: string; place: Place }[] => {
  if (wire === 'messages') return []
  if (wire === 'responses')
    return asList(sent.input).flatMap((item, at) =>
      isObject(item) && item.type === 'function_call'
        ? [{ text: asText(item.arguments), place: ['input', at, 'arguments'] }]
        : [],
    )
  return callsIn(sent).flatMap(({ call, place }) =>
    isObject(call.function)
      ? [{ text: asText(call.function.arguments), place: [...place, 'function', 'arguments'] }]
      : [],
  )
}

const callsIn = (sent: JsonObject): { call: JsonObject; place: Place }[] =>
  asList(sent.messages).flatMap((message, at) =>
    asList(asObject(message).tool_calls).flatMap((call, index) =>
      isObject(call) ? [{ call, place: ['messages', at, 'tool_calls', index] }] : [],
    ),
  )

/** The first call's id. `holds`: that it is of the kind that is looked for. */
export const callIdIn = (wire: ChatWire, sent: JsonObject, holds: (id: string) => boolean): Place | undefined => {
  const held = (id: Json | undefined): boolean => typeof id === 'string' && holds(id)
  if (wire === 'chat-completions') {
    const found = callsIn(sent).find(({ call }) => held(call.id))
    return found && [...found.place, 'id']
  }
  if (wire === 'responses') {
    const at = asList(sent.input).findIndex((item) => held(asObject(item).call_id))
    return at === -1 ? undefined : ['input', at, 'call_id']
  }
  for (const [at, message] of asList(sent.messages).entries()) {
    const index = asList(asObject(message).content).findIndex((block) => {
      const { type, id } = asObject(block)
      return type === 'tool_use' && held(id)
    })
    if (index !== -1) return ['messages', at, 'content', index, 'id']
  }
  return undefined
}

/** The first call with the id of one before it, or with two results. */
export const repeatedIdIn = (wire: ChatWire, sent: JsonObject): Place | undefined => {
  const called = new Set<string>()
  const answered = new Set<string>()
  for (const { calls, results, place } of speakersIn(wire, sent)) {
    if (isRepeated(called, calls) || isRepeated(answered, results)) return place
  }
  return undefined
}

const isRepeated = (known: Set<string>, ids: readonly string[]): boolean =>
  ids.some((id) => known.size === known.add(id).size)

/** The first text that is empty or white space alone, or a turn without any content. */
export const blankIn = (wire: ChatWire, sent: JsonObject): Place | undefined => {
  const member = wire === 'responses' ? 'input' : 'messages'
  for (const [name, value] of [['system', sent.system] as const, ['instructions', sent.instructions] as const])
    if (value !== undefined) {
      const place = blankWithin(value, [name])
      if (place !== undefined) return place
    }
  for (const [at, turn] of asList(sent[member]).entries()) {
    if (!isObject(turn) || turn.role === undefined || asList(turn.tool_calls).length > 0) continue
    const place = blankWithin(turn.content, [member, at, 'content'])
    if (place !== undefined) return place.length > 3 || turn.content !== undefined ? place : [member, at]
  }
  return undefined
}

const blankWithin = (content: Json | undefined, place: Place): Place | undefined => {
  if (typeof content === 'string') return content.trim() === '' ? place : undefined
  if (content === null || content === undefined) return place
  if (!Array.isArray(content)) return undefined
  if (content.length === 0) return place
  const at = content.findIndex((part) => isObject(part) && typeof part.text === 'string' && part.text.trim() === '')
  return at === -1 ? undefined : [...place, at]
}

export const isPicture = (part: Json | undefined): boolean => PICTURES.has(asObject(part).type)

/** Whether a place is a picture, or within one. */
export const isInPicture = (sent: JsonObject, place: Place): boolean =>
  place.some((_, at) => isPicture(valueAt(sent, place.slice(0, at + 1))))

/** Whether a place is within a thought of the model's, as any wire has one. */
export const isInThought = (sent: JsonObject, place: Place): boolean =>
  place.some(
    (step, at) =>
      (at === 2 && place[0] === 'messages' && THOUGHTS.has(step)) ||
      THOUGHT_TYPES.has(asObject(valueAt(sent, place.slice(0, at + 1))).type),
  )
const THOUGHTS: ReadonlySet<string | number> = new Set([
  ...['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'thinking'],
])
const THOUGHT_TYPES: ReadonlySet<Json | undefined> = new Set(['thinking', 'redacted_thinking', 'reasoning'])

/** The first thought of that type, where that is one of thoughts. */
export const thoughtOf = (sent: JsonObject, type: string | undefined): Place | undefined =>
  THOUGHT_TYPES.has(type)
    ? ['messages.*.content.*', 'input.*']
        .flatMap((path) => placesOf(sent, path))
        .find((place) => asObject(valueAt(sent, place)).type === type)
    : undefined

/** Whether some picture is of another type than its bytes show: vendors refuse it, on the wire that it came by, too. */
export const hasMislabelled = (value: Json | undefined): boolean => {
  if (Array.isArray(value)) return value.some(hasMislabelled)
  if (!isObject(value)) return false
  if (PICTURES.has(value.type) && isMislabelled(value)) return true
  return Object.values(value).some((one) => typeof one === 'object' && hasMislabelled(one))
}

const isMislabelled = ({ source, image_url: given }: JsonObject): boolean => {
  const url = asText(isObject(given) ? given.url : given)
  const { media_type: type, data } = isObject(source) ? source : { media_type: MEDIA_TYPE.exec(url)?.[1], data: url }
  const shown = parseDataUrl(asText(data).slice(0, MOST_HEAD), '')?.mediaType
  return typeof type === 'string' && shown !== undefined && shown !== '' && shown !== type
}

const MEDIA_TYPE = /^data:([^;,]+)/
/** Of a picture, in characters. */
const MOST_HEAD = 200

/** Whether any picture stands in the conversation. */
export const showsPicture = ({ messages = null, input = null }: JsonObject): boolean => holdsPicture([messages, input])

export const holdsPicture = (value: Json | undefined): boolean => picturesAmong(value) > 0

/** How many there are. */
export const picturesAmong = (value: Json | undefined): number =>
  JSON.stringify(value ?? null).match(/"type":"(?:image|image_url|input_image)"/g)?.length ?? 0
