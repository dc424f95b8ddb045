// What is said in an exchange, as the semantic conventions have messages: JSON in three attributes of its span, each within a bound.
// Of pictures, sound and files it is told what they are and how large.

import type { ChatEvent, FinishReason } from '../../ir/event.ts'
import { type Json, parseObject } from '../../ir/json.ts'
import type { AssistantPart, Source, UserPart } from '../../ir/part.ts'
import type { Turn } from '../../ir/request.ts'
import { withoutSecrets } from '../../keys/secret.ts'
import type { Outcome } from '../../ledger/ledger.ts'
import { bytesOfBase64 } from '../../lib/base64.ts'
import type { Modality, Said, Told } from '../../relay/trace.ts'

const APART = 'gen_ai.system_instructions'
const ASKED = 'gen_ai.input.messages'
const ANSWERED = 'gen_ai.output.messages'

/** Bytes of JSON: of all messages that were asked, of the instructions that stand apart, of all answers, and of one text. */
const ASKED_BYTES = 64 * 1024
const APART_BYTES = 16 * 1024
const ANSWERED_BYTES = 64 * 1024
const TEXT_BYTES = 16 * 1024
/** What a message and a part take beside their texts, at least. */
const FRAME_BYTES = 48
/** Parts of one answer that are told apart, and answers to one request: their places are any number that a provider says. */
const MOST_PARTS = 256
const MOST_ANSWERS = 128

type Part = { type: string; [member: string]: Json | undefined }
type Message = { role: string; parts: Part[]; name?: string; finish_reason?: string }
type Any = UserPart | AssistantPart | Told

export const capture = (): Said => {
  let asked: string | undefined
  let apart: string | undefined
  let cut: Cut = { messages: 0, characters: 0 }
  const answers = new Map<number, Answer>()
  const answerOf = (at: number): Answer | undefined => {
    const known = answers.get(at)
    if (known !== undefined || answers.size >= MOST_ANSWERS) return known
    const answer = createAnswer()
    answers.set(at, answer)
    return answer
  }
  const noteCut = ({ cut: { messages, characters } }: Room): void => {
    cut = { messages: cut.messages + messages, characters: cut.characters + characters }
  }
  const ask = (turns: readonly Turn[]): void => {
    const room = createRoom(ASKED_BYTES)
    asked = JSON.stringify(latest(turns, room))
    noteCut(room)
  }
  return {
    asked: (turns, first) => {
      const room = createRoom(APART_BYTES)
      const instructions = turns.slice(0, first).flatMap(({ parts }) => allOf(parts, room))
      if (instructions.length > 0) apart = JSON.stringify(instructions)
      noteCut(room)
      ask(turns.slice(first))
    },
    askedFor: (parts) => {
      const room = createRoom(ASKED_BYTES)
      const message: Message = { role: 'user', parts: allOf(parts, room) }
      asked = JSON.stringify([message])
      noteCut(room)
    },
    begin: () => answers.clear(),
    heard: (at, events) => {
      const answer = answerOf(at)
      for (const event of events) answer?.hear(event)
    },
    made: (parts) => answerOf(0)?.made(parts),
    came: (modality, mediaType, bytes) => answerOf(0)?.came(modality, mediaType, bytes),
    told: (outcome) => {
      const room = createRoom(ANSWERED_BYTES)
      const inOrder = [...answers].toSorted(([a], [b]) => a - b)
      const messages = inOrder.flatMap(([, answer]) => answer.message(room, outcome))
      return {
        [APART]: apart,
        [ASKED]: asked,
        [ANSWERED]: messages.length === 0 ? undefined : JSON.stringify(messages),
        'sluice.capture.messages_left_out': cut.messages || undefined,
        'sluice.capture.characters_left_out': cut.characters + room.cut.characters || undefined,
      }
    },
  }
}

type Cut = { messages: number; characters: number }

/** Room for texts, in bytes of JSON. */
type Room = { readonly cut: Cut; isFull(): boolean; fit(text: string): string }

const createRoom = (bytes: number): Room => {
  const cut: Cut = { messages: 0, characters: 0 }
  let left = bytes
  return {
    cut,
    isFull: () => left <= 0,
    fit: (text) => {
      const most = Math.min(left, TEXT_BYTES)
      // No character takes less than a byte, and what is said of bytes is shorter than they are.
      const told = withoutSecrets(withoutBytes(text.slice(0, LOOKED_AT)))
      const kept = beginning(told, most)
      left -= FRAME_BYTES + jsonBytes(kept)
      const out = told.length - kept.length + Math.max(0, text.length - LOOKED_AT)
      if (out === 0) return kept
      cut.characters += out
      return `${kept} … [${out} more characters]`
    },
  }
}

/** Of a longer text, no more is looked through for bytes. */
const LOOKED_AT = 1024 * 1024

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text))

/** As much of a text as fits. */
const beginning = (text: string, most: number): string => {
  // The quotes alone take two bytes.
  if (most <= 2) return ''
  let kept = text.slice(0, most)
  for (let bytes = jsonBytes(kept); bytes > most; bytes = jsonBytes(kept))
    kept = kept.slice(0, Math.floor(((kept.length * most) / bytes) * 0.98))
  // Not half a character.
  return /[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept
}

/** Base64 in a text: with what it says that it is, or as long as no word is. */
const DATA_URL = /data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.-]+)*;base64,([\w+/=-]+)/g
const LONG_RUN = /(?<![\w+/-])[\w+/-]{256,}={0,2}/g

const withoutBytes = (text: string): string =>
  text
    .replace(
      DATA_URL,
      (_, type: string | undefined, data: string) => `[${type ?? 'base64'}, ${bytesOfBase64(data)} bytes]`,
    )
    .replace(LONG_RUN, (run) => `[base64, ${bytesOfBase64(run)} bytes]`)

/** From the newest on, as many as there is room for; in their order. */
const latest = (turns: readonly Turn[], room: Room): Message[] => {
  const messages: Message[] = []
  for (const [at, turn] of turns.toReversed().entries()) {
    if (room.isFull()) {
      room.cut.messages = turns.length - at
      break
    }
    messages.push(messageOf(turn, room))
  }
  return messages.reverse()
}

const messageOf = (turn: Turn, room: Room): Message => {
  const isResults = turn.parts.length > 0 && turn.parts.every(({ type }) => type === 'tool-result')
  return {
    role: isResults ? 'tool' : turn.role,
    parts: allOf(turn.parts, room),
    ...(turn.name === undefined ? {} : { name: named(turn.name) }),
  }
}

/** Names and ids are short; what is not is none. A secret is looked for before one is cut in two. */
const named = (name: string): string => withoutSecrets(name.slice(0, 2 * NAME_CHARS)).slice(0, NAME_CHARS)
const NAME_CHARS = 200

/** As many as there is room for. */
const allOf = (parts: readonly Any[], room: Room): Part[] => {
  const told: Part[] = []
  for (const [at, part] of parts.entries()) {
    if (room.isFull()) return [...told, { type: 'text', content: `… [${parts.length - at} more parts]` }]
    told.push(...partsOf(part, room))
  }
  return told
}

/** None for what only its provider can read. */
const partsOf = (part: Any, room: Room): Part[] => {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', content: room.fit(part.text) }]
    case 'reasoning':
      return part.text === '' ? [] : [{ type: 'reasoning', content: room.fit(part.text) }]
    case 'tool-call':
      return [
        { type: 'tool_call', id: named(part.id), name: named(part.name), arguments: argumentsOf(part.input, room) },
      ]
    case 'tool-result':
      return [{ type: 'tool_call_response', id: named(part.callId), response: responseOf(part.parts, room) }]
    case 'image':
      return [sourceOf(part.source, 'image', room)]
    case 'document':
      return part.blocks === undefined ? [sourceOf(part.source, 'document', room)] : allOf(part.blocks, room)
    case 'file':
      return [fileOf(part.modality, part.mediaType, part.bytes)]
    case 'value':
      return [{ type: part.kind, content: room.fit(JSON.stringify(part.value)) }]
    case 'opaque':
      return [{ type: named(String(part.value.type ?? 'other')), content: room.fit(JSON.stringify(part.value)) }]
  }
}

const fileOf = (modality: Modality, mediaType: string | undefined, bytes: number): Part => ({
  type: 'blob',
  ...(mediaType === undefined ? {} : { mime_type: named(mediaType) }),
  ...{ modality, content: '', bytes },
})

/** An address without what may let its reader in: links are signed in their queries. */
const sourceOf = (source: Source, modality: Modality, room: Room): Part => {
  switch (source.kind) {
    case 'base64':
      return fileOf(modality, source.mediaType, bytesOfBase64(source.data))
    case 'url':
      return { type: 'uri', modality, uri: room.fit(withoutQuery(source.url)) }
    case 'file':
      return { type: 'file', modality, file_id: named(source.id) }
    case 'text':
      return { type: 'text', content: room.fit(source.text) }
  }
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '').replace(/^(\w+:\/\/)[^/@]*@/, '$1')

/** Arguments that are JSON, and whole, as such. */
const argumentsOf = (input: string, room: Room): Json => {
  const told = room.fit(input)
  return parseObject(told) ?? told
}

const responseOf = (parts: readonly UserPart[], room: Room): Json => {
  const told = allOf(parts, room)
  return told.every(({ type }) => type === 'text') ? told.map(({ content }) => content).join('\n') : told
}

const FINISHES: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'context-length': 'length',
  'tool-calls': 'tool_call',
  'content-filter': 'content_filter',
  refusal: 'refusal',
  pause: 'pause',
}

/** What has no end of its own ended as its exchange did. */
const ENDS: Readonly<Record<Outcome, string>> = { done: 'stop', failed: 'error', aborted: 'aborted', refused: 'error' }

type Answer = {
  hear(event: ChatEvent): void
  made(parts: readonly Any[]): void
  came(modality: Modality, mediaType: string | undefined, bytes: number): void
  message(room: Room, outcome: Outcome): Message[]
}

/** A part as it grows: what is kept of its text, and how long that is by now. */
type Growing = { part: AssistantPart; pieces: string[]; chars: number }

const createAnswer = (): Answer => {
  const growing: Growing[] = []
  const others: Any[] = []
  const files = new Map<Modality, { mediaType: string | undefined; bytes: number }>()
  let kept = 0
  let finish: string | undefined
  const begin = (at: number, part: AssistantPart): Growing | undefined => {
    if (at >= MOST_PARTS) return undefined
    growing[at] ??= { part, pieces: [], chars: 0 }
    return growing[at]
  }
  const add = (one: Growing | undefined, text: string): void => {
    if (one === undefined) return
    one.chars += text.length
    const room = ANSWERED_BYTES - kept
    if (room <= 0) return
    const piece = text.slice(0, room)
    kept += piece.length
    // Joined now and then, so that pieces cut from frames do not keep those.
    if (one.pieces.push(piece) === PIECES) one.pieces = [one.pieces.join('')]
  }
  const hear = (event: ChatEvent): void => {
    const text = 'text' in event ? event.text : ''
    switch (event.type) {
      case 'text-start':
      case 'text-delta':
        add(begin(event.part, { type: 'text', text: '' }), text)
        break
      case 'refusal-start':
      case 'refusal-delta':
        add(begin(event.part, { type: 'refusal', text: '' }), text)
        break
      case 'reasoning-start':
      case 'reasoning-delta':
        add(begin(event.part, { type: 'reasoning', text: '' }), text)
        break
      case 'tool-start': {
        const { part, type: _, ...call } = event
        begin(part, { type: 'tool-call', ...call, input: '' })
        break
      }
      case 'tool-delta':
        add(growing[event.part], text)
        break
      case 'opaque':
        begin(event.part, event.value)
        break
      case 'finish':
        finish = FINISHES[event.reason]
        break
      case 'error':
        finish ??= 'error'
        break
      default:
        break
    }
  }
  return {
    hear,
    made: (parts) => {
      others.push(...parts.slice(0, MOST_PARTS - others.length))
    },
    came: (modality, mediaType, bytes) => {
      const before = files.get(modality)?.bytes ?? 0
      files.set(modality, { mediaType, bytes: before + bytes })
    },
    message: (room, outcome) => {
      const told = [
        ...growing.flatMap((one) => (one === undefined ? [] : [grown(one, room)])),
        ...others,
        ...[...files].map(([modality, file]): Told => ({ type: 'file', modality, ...file })),
      ]
      const parts = allOf(told, room)
      if (parts.length === 0 && finish === undefined) return []
      return [{ role: 'assistant', parts, finish_reason: finish ?? ENDS[outcome] }]
    },
  }
}

const PIECES = 64

const grown = ({ part, pieces, chars }: Growing, { cut }: Room): AssistantPart => {
  const text = pieces.join('')
  const out = chars - text.length
  cut.characters += out
  const whole = out === 0 ? text : `${text} … [${out} more characters]`
  if (part.type === 'tool-call') return { ...part, input: whole === '' && part.kind === 'function' ? '{}' : whole }
  return part.type === 'opaque' ? part : { ...part, text: whole }
}

/** Of a span: what it holds beside its figures. */
export const capturedBytes = ({ attributes }: { attributes: { [name: string]: unknown } }): number =>
  [APART, ASKED, ANSWERED].reduce((sum, name) => sum + lengthOf(attributes[name]), 0)

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0)
