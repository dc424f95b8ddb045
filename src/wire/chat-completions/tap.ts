// Watches a chat-completions stream that passes through: the model id in every chunk, the usage chunk that the gateway
// asked for, the end and the failure. Only clients that asked for usage get it.

import { brokenOff } from '../../ir/fold.ts'
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
import { FrameTemplate } from '../../lib/frame-template.ts'
import { type JsonNesting, jsonNesting } from '../../lib/json-nesting.ts'
import { findMember } from '../../lib/json-scan.ts'
import { type Edit, splice } from '../../lib/json-splice.ts'
import type { OutputText } from '../../lib/output-text.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { errorFrame, malformedAnswer, openNotes, saysMore, textOf } from '../pass.ts'
import { wordOf } from '../turns/ending.ts'
import { callsIn, inputText, reasoningText, textIn, thoughtIn } from './assistant.ts'
import { endsAudio } from './audio.ts'
import { decodeError, failureIn } from './error.ts'
import { isDone } from './finish.ts'
import { decodeUsage, usageIn, withReport } from './usage.ts'

const NO_USAGE = ',"usage":null'

export const tap = (options: TapOptions): Tap => {
  const modelText = JSON.stringify(options.model)
  const noted = openNotes()
  const template = new FrameTemplate()
  // Chunks of one stream begin with the same text up to the model: its place is found once and then recognised.
  let prefix = ''
  let renamed = ''
  let hasFinishReason = false
  /** The choices that are still being written. */
  const open = new Set<Json | undefined>()
  /** Whether the audio has ended: answers in audio may have no finish reason. */
  let audioEnded = false
  /** Whether the answer comes in deltas: a message beside or after them repeats it. */
  let inDeltas = false
  /** How much had been written when figures were told last. */
  let toldAt = 0
  const calls = openArguments()

  const report = (usage: JsonObject): void => {
    noted.rawUsage = withReport(noted.rawUsage, usage)
    noted.usage = decodeUsage(noted.rawUsage)
    noted.complete = hasFinishReason && open.size === 0
    toldAt = noted.output.chars
  }

  const rename = (data: string): string => {
    if (prefix === '' || !data.startsWith(prefix)) {
      const span = findMember(data, 'model')
      if (span === undefined) return data
      prefix = data.slice(0, span.end)
      renamed = data.slice(0, span.start) + modelText
    }
    // Of a member that is written twice, both are.
    if (data.includes('"model"', prefix.length)) return splice(data, [{ path: ['model'], value: modelText }])
    return renamed + data.slice(prefix.length)
  }

  const see = (frame: Frame): string => {
    if (noted.state !== 'open') return ''
    const match = template.match(frame)
    if (match !== undefined) {
      noted.output.add(match.text)
      noted.complete = false
      return match.out
    }
    let { data } = frame
    if (isDone(data)) {
      // Clients treat an end without a finish reason as a broken stream, and ask again.
      if (!hasFinishReason && !audioEnded) return noted.failed(brokenOff())
      noted.state = 'done'
      noted.summed = toldAt === noted.output.chars
      return writeFrame({ data })
    }
    const chunk = parseObject(data)
    if (chunk === undefined) return noted.failed(malformedAnswer())
    const failure = frame.event === 'error' ? decodeError(200, chunk) : failureIn(chunk)
    const { usage } = chunk
    if (failure !== undefined) {
      if (isObject(usage)) report(usage)
      return noted.failed(failure)
    }
    if (isOfRelay(chunk)) return ''
    noted.serviceTier = textOf(chunk.service_tier) ?? noted.serviceTier
    const choices = asList(chunk.choices)
    let hasInnerUsage = false
    const cut: Edit[] = []
    for (const [at, choice] of choices.entries()) {
      if (!isObject(choice)) continue
      const { delta, finish_reason: reason } = choice
      inDeltas ||= isObject(delta)
      const content = inDeltas ? delta : choice.message
      addText(noted.output, content)
      if (isObject(content)) calls.see(choice.index, content)
      if (options.looseCalls && isObject(content))
        for (const [nth, place] of calls.placed(choice.index, content))
          cut.push({
            path: ['choices', at, inDeltas ? 'delta' : 'message', 'tool_calls', nth, 'index'],
            value: `${place}`,
          })
      noted.complete = false
      noted.begun ||= isObject(content) && saysMore(content, NAMING)
      if (isObject(content) && isObject(content.audio)) audioEnded = endsAudio(content.audio)
      const word = wordOf(reason)
      if (word !== '') {
        hasFinishReason = noted.begun = true
        open.delete(choice.index)
        // Its client would run half a call, or none.
        const ending = COMPLETE.has(word) ? calls.endingOf(choice.index) : undefined
        const isMended = ending === 'length' || (ending === 'tool_calls' && word === 'stop' && options.looseCalls)
        if (isMended || isObject(reason))
          cut.push({ path: ['choices', at, 'finish_reason'], value: JSON.stringify(isMended ? ending : word) })
      } else open.add(choice.index)
      if (isObject(choice.usage)) report(choice.usage)
      hasInnerUsage ||= choice.usage !== undefined
    }
    const told = usageIn(chunk)
    if (told !== undefined) report(told)
    if (isObject(usage)) {
      if (!options.includeUsage && choices.length === 0) return ''
    }
    if (!options.includeUsage) {
      if (usage !== undefined) data = withoutUsage(data, usage)
      if (hasInnerUsage) data = withoutInnerUsage(data, choices)
    }
    data = rename(cut.length === 0 ? data : splice(data, cut))
    const out = frame.event === undefined ? writeFrame({ data }) : writeFrame({ event: frame.event, data })
    if (noted.begun && !isObject(usage) && isTextOnly(choices)) template.learn(frame, CONTENT, out)
    return out
  }

  return Object.assign(noted, {
    see,
    end: (() =>
      // Servers that leave it out end behind the reason and the figures.
      (options.noDone || (noted.complete && toldAt === noted.output.chars)) && (hasFinishReason || audioEnded)
        ? see({ data: '[DONE]' })
        : '') satisfies Tap['end'],
    fail: errorFrame,
  })
}

const CONTENT = ['choices', 0, 'delta', 'content'] as const

/** A relay's own event, a sign of life for one: this wire has none, and clients take all that comes for a chunk. */
const isOfRelay = ({ type, object, choices, usage }: JsonObject): boolean =>
  typeof type === 'string' && object === undefined && choices === undefined && usage === undefined

/** What says of a delta only whose it is. */
const NAMING: ReadonlySet<string> = new Set(['role', 'name'])

/** Reasons by which a client takes the calls of an answer for whole. */
const COMPLETE = new Set(['stop', 'tool_calls', 'function_call'])
/** Calls of one answer whose arguments are followed. */
const MOST_CALLS = 1_000

/** The arguments of functions that are being written, told closed or not without keeping them. Of free text it cannot be told. */
const openArguments = () => {
  const written = new Map<string, { choice: Json | undefined; nesting: JsonNesting; closed: boolean }>()
  /** How many calls each choice has whose places are told. */
  const places = new Map<Json | undefined, number>()
  /** The choices that call. */
  const calling = new Set<Json | undefined>()
  const add = (choice: Json | undefined, call: Json | undefined, text: string): void => {
    if (text === '') return
    const name = `${choice ?? 0} ${call ?? ''}`
    const known = written.get(name) ?? { choice, nesting: jsonNesting(), closed: true }
    if (written.size >= MOST_CALLS && !written.has(name)) return
    written.set(name, known)
    known.closed = known.nesting.isClosedBy(text)
  }
  return {
    see: (choice: Json | undefined, delta: JsonObject): void => {
      if (isObject(delta.function_call)) add(choice, 'legacy', inputText(delta.function_call.arguments))
      if (!delta.tool_calls) return
      for (const call of callsIn(delta)) {
        if (calling.size < MOST_CALLS) calling.add(choice)
        if (isObject(call.function)) add(choice, call.index, inputText(call.function.arguments))
      }
    },
    /** Where the calls of a delta belong that do not say so: those with a name follow those before them. */
    placed: (choice: Json | undefined, delta: JsonObject): [nth: number, place: number][] =>
      asObjects(delta.tool_calls).flatMap((call, nth): [number, number][] => {
        const before = places.get(choice) ?? 0
        const isNew = typeof call.index !== 'number' && asText(asObject(call.function).name) !== ''
        const place = typeof call.index === 'number' ? call.index : isNew ? before : Math.max(0, before - 1)
        if (places.size < MOST_CALLS || places.has(choice)) places.set(choice, Math.max(before, place + 1))
        return typeof call.index === 'number' ? [] : [[nth, place]]
      }),
    /** The reason that is due for a choice with calls. */
    endingOf: (choice: Json | undefined): 'length' | 'tool_calls' | undefined => {
      for (const one of written.values()) if (one.choice === choice && !one.closed) return 'length'
      return calling.has(choice) ? 'tool_calls' : undefined
    },
  }
}

/** Whether a chunk holds nothing but a piece of text. */
const isTextOnly = (choices: Json[]): boolean => {
  if (choices.length !== 1 || !isObject(choices[0])) return false
  const { delta } = choices[0]
  if (!isObject(delta) || typeof delta.content !== 'string') return false
  return !delta.tool_calls && !delta.function_call && !delta.refusal && reasoningText(delta) === undefined
}

/** In this usual form the member is cut without parsing: within a string its quotes would be escaped. */
const withoutUsage = (data: string, usage: Json): string => {
  const at = usage === null ? data.lastIndexOf(NO_USAGE) : -1
  return at === -1
    ? splice(data, [{ path: ['usage'], value: undefined }])
    : data.slice(0, at) + data.slice(at + NO_USAGE.length)
}

/** Some servers report usage within the choices. */
const withoutInnerUsage = (data: string, choices: Json[]): string =>
  splice(
    data,
    choices.map((_, at) => ({ path: ['choices', at, 'usage'], value: undefined })),
  )

const addText = (output: OutputText, delta: Json | undefined): void => {
  if (!isObject(delta)) return
  if (Array.isArray(delta.content)) for (const piece of delta.content) output.add(pieceText(piece))
  else output.add(textIn(delta.content))
  output.add(textIn(delta.refusal))
  output.add(reasoningText(delta))
  if (isObject(delta.function_call)) output.add(inputText(delta.function_call.arguments))
  for (const call of callsIn(delta)) output.add(inputOf(call))
}

const pieceText = (piece: Json): string => (isObject(piece) ? textIn(thoughtIn(piece) ?? piece.text) : '')

const inputOf = (call: JsonObject): string => {
  if (isObject(call.function)) return inputText(call.function.arguments)
  return isObject(call.custom) ? inputText(call.custom.input) : ''
}
