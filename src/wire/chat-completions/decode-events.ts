// A provider's stream as events: strict about its end, tolerant of everything else in which servers differ.

import type { GatewayError } from '../../errors.ts'
import type { ChatEvent, Start } from '../../ir/event.ts'
import { brokenOff } from '../../ir/fold.ts'
import { asList, asObjects, asText, isFilled, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Citation, Logprob, Seal } from '../../ir/part.ts'
import type { Usage } from '../../ir/usage.ts'
import { digest } from '../../lib/digest.ts'
import { parseExact } from '../../lib/json-exact.ts'
import { parseBounded } from '../../lib/json-reader.ts'
import type { EventDecoder, Undo } from '../codec.ts'
import { decodeModeration } from '../moderation.ts'
import { malformedAnswer } from '../pass.ts'
import { plainSeal, type ThoughtMember } from '../seal.ts'
import { picturesIn } from '../turns/drawn.ts'
import { wordOf } from '../turns/ending.ts'
import { decodeCitations, decodeLogprobs, decodeSources, namesSources, placedIn } from './annotations.ts'
import {
  callIn,
  callsIn,
  oldCallIn,
  partsSaid,
  reasoningText,
  taggedThoughtIn,
  textIn,
  thoughtIn,
  thoughtMemberIn,
} from './assistant.ts'
import { audioCollector } from './audio.ts'
import { openCalls } from './calls.ts'
import { addPiece, detailSeal, detailText, isSealed, LISTS, type List } from './details.ts'
import { decodeError, failureIn } from './error.ts'
import { decodeFinish, isDone, stopIn, stoppedAt } from './finish.ts'
import { decodeUsage, usageIn, withReport } from './usage.ts'

/** At most one text, refusal or thought is open at a time; calls may overlap. See `openCalls`. */
type Prose = {
  kind: 'text' | 'refusal' | 'reasoning'
  part: number
  list: List
  details: JsonObject[]
  name?: ThoughtMember
}

export const decodeEvents = (undo: Undo = {}): EventDecoder => {
  let ended = false
  let start: Start | undefined
  /** The index of the one choice that is read. */
  let choiceIndex: number | undefined
  let parts = 0
  let prose: Prose | undefined
  let refused = false
  /** Whether the answer comes in deltas: a message beside or after them repeats it. */
  let inDeltas = false
  /** Whether thoughts also come as plain text. */
  let plainThoughts = false
  let reason: Json | undefined
  /** The stop sequence that the server says it met. */
  let met: string | undefined
  let usage: Usage | undefined
  let rawUsage: JsonObject | undefined
  let complete = false
  let summed = true
  let serviceTier: string | undefined
  let moderation: Json | undefined
  /** Whether there have been annotations. */
  let annotated = false
  /** Citations that came while no text was open, of none before: the next text has them, or the last where none comes. */
  let waiting: Citation[] = []
  /** The texts that have ended: their parts, and how many characters stood before each. */
  const texts: { part: number; before: number }[] = []
  /** The last chunk that lists sources of the whole answer. */
  let sourced: JsonObject | undefined
  /** Characters of all texts, and before the one that is open: the wire tells places within all of them. */
  let written = 0
  let before = 0
  const audio = audioCollector()

  const closeProse = (): ChatEvent[] => {
    if (prose === undefined) return []
    const { kind, part, list, details, name = 'reasoning_content' } = prose
    prose = undefined
    if (details.some(isSealed)) return [{ type: 'reasoning-end', part, seal: detailSeal(list, details) }]
    if (kind === 'text') {
      const cited = citationsOf(within(waiting), part)
      waiting = []
      texts.push({ part, before })
      return [...cited, { type: 'text-end', part }]
    }
    // The usual member need not be noted.
    if (name === 'reasoning_content') return [{ type: `${kind}-end`, part }]
    return [{ type: 'reasoning-end', part, seal: plainSeal(name) }]
  }

  const calls = openCalls({
    undo,
    nextPart: () => parts++,
    madeId: (at) => `call_${digest(start?.id ?? '')}_${at}`,
    before: closeProse,
  })

  /** The open part of this kind, opened if need be. `name`: the member that holds a plain thought. */
  const inProse = (kind: Prose['kind'], out: ChatEvent[], name?: ThoughtMember): number => {
    if (prose?.kind === kind) return prose.part
    out.push(...closeProse(), ...calls.close(false))
    const part = parts++
    if (kind === 'text') before = written
    prose = { kind, part, list: 'reasoning_details', details: [], ...(name === undefined ? {} : { name }) }
    if (name !== undefined) out.push({ type: 'reasoning-start', part, full: true })
    else out.push({ type: `${kind}-start`, part })
    return part
  }

  /** Seals the open thought where its text is the same, else adds a thought. */
  const seal = (text: string, full: boolean | undefined, value: Seal, out: ChatEvent[]): void => {
    if (prose?.kind === 'reasoning' && text !== '') {
      // The open thought was taken to be full: the tag knows better.
      out.push({ type: 'reasoning-end', part: prose.part, seal: value, ...(full === true ? {} : { full: false }) })
      prose = undefined
      return
    }
    if (prose?.kind === 'reasoning') out.push(...closeProse())
    const part = parts++
    out.push({ type: 'reasoning-start', part, ...(full === undefined ? {} : { full }) })
    if (text !== '') out.push({ type: 'reasoning-delta', part, text })
    out.push({ type: 'reasoning-end', part, seal: value })
  }

  const readDetails = (list: List, details: JsonObject[], out: ChatEvent[]): void => {
    for (const detail of details) {
      const opened = taggedThoughtIn(detail)?.part
      if (opened?.seal !== undefined) {
        seal(opened.text, opened.full, opened.seal, out)
        continue
      }
      // Most servers send the same text as plain text, too.
      if (!plainThoughts) readThought(detailText(detail), out, 'reasoning_content')
      if (prose?.kind === 'reasoning') {
        prose.list = list
        addPiece(prose.details, detail)
      } else if (detail.type === 'reasoning.encrypted' || detail.type === 'redacted_thinking')
        seal('', undefined, detailSeal(list, [detail]), out)
    }
  }

  const readContent = (content: Json | undefined, logprobs: Logprob[], out: ChatEvent[]): void => {
    if (typeof content === 'object') {
      for (const piece of partsSaid(content)) readPart(piece, out)
    } else if (typeof content === 'string' && (content !== '' || logprobs.length > 0)) {
      const part = inProse('text', out)
      written += content.length
      out.push(
        logprobs.length === 0
          ? { type: 'text-delta', part, text: content }
          : { type: 'text-delta', part, text: content, logprobs },
      )
    }
  }

  const readPart = (piece: JsonObject, out: ChatEvent[]): void => {
    switch (piece.type) {
      case 'text':
        readContent(piece.text, [], out)
        break
      case 'thinking':
        readThought(textIn(thoughtIn(piece)), out, 'thinking')
        break
      case 'reasoning':
        readThought(textIn(thoughtIn(piece)), out)
        break
      case 'refusal':
        readRefusal(piece.refusal, out)
        break
      case 'tool_use':
        out.push(...calls.delta([callIn(piece)]))
        break
      default:
        readPictures([piece], out)
    }
  }

  const readRefusal = (text: Json | undefined, out: ChatEvent[]): void => {
    if (typeof text !== 'string' || text === '') return
    refused = true
    out.push({ type: 'refusal-delta', part: inProse('refusal', out), text })
  }

  const readThought = (text: string | undefined, out: ChatEvent[], name?: ThoughtMember): void => {
    if (text === undefined || text === '') return
    out.push({ type: 'reasoning-delta', part: inProse('reasoning', out, name), text })
  }

  const readDelta = (delta: JsonObject, logprobs: Json | undefined, out: ChatEvent[]): void => {
    const thought = reasoningText(delta)
    if (thought !== undefined) {
      plainThoughts = true
      readThought(thought, out, thoughtMemberIn(delta))
    }
    for (const list of LISTS) if (delta[list] !== undefined) readDetails(list, asObjects(delta[list]), out)
    readContent(delta.content, isObject(logprobs) ? decodeLogprobs(logprobs.content) : [], out)
    readRefusal(delta.refusal, out)
    if (delta.annotations !== undefined) readCitations(decodeCitations(delta.annotations), out)
    const old = oldCallIn(delta)
    if (old !== undefined) out.push(...calls.delta([old]))
    if (delta.tool_calls) out.push(...calls.delta(callsIn(delta)))
    if (isFilled(delta.audio)) audio.add(delta.audio)
    if (Array.isArray(delta.images)) readPictures(delta.images, out)
  }

  const within = (citations: Citation[]): Citation[] => citations.map((one) => placedIn(one, before))

  const readPictures = (list: Json[], out: ChatEvent[]): void => {
    for (const value of picturesIn(list)) out.push(...closeProse(), { type: 'opaque', part: parts++, value })
  }

  const readCitations = (citations: Citation[], out: ChatEvent[]): void => {
    annotated ||= citations.length > 0
    if (prose?.kind === 'text') {
      out.push(...citationsOf(within(citations), prose.part))
      return
    }
    for (const citation of citations) {
      const start = citation.kind === 'url' ? citation.start : undefined
      const cited = start === undefined || start >= written ? undefined : texts.findLast((one) => one.before <= start)
      if (cited === undefined) waiting.push(citation)
      else out.push(citedBy(citation, cited))
    }
  }

  const citedBy = (citation: Citation, { part, before }: { part: number; before: number }): ChatEvent => ({
    type: 'citation',
    part,
    citation: placedIn(citation, before),
  })

  const endParts = (): ChatEvent[] => {
    const out: ChatEvent[] = []
    if (sourced !== undefined && !annotated) readCitations(decodeSources(sourced), out)
    const spoken = audio.take()
    const opaque: ChatEvent[] = spoken === undefined ? [] : [{ type: 'opaque', part: parts++, value: spoken }]
    out.push(...closeProse())
    const last = texts.at(-1)
    if (last !== undefined) out.push(...waiting.map((citation) => citedBy(citation, last)))
    return [...out, ...opaque, ...calls.close(true)]
  }

  const begin = (chunk: JsonObject, out: ChatEvent[]): void => {
    if (start !== undefined) return
    start = { type: 'start', id: asText(chunk.id) }
    if (typeof chunk.model === 'string' && chunk.model !== '') start.model = chunk.model
    if (typeof chunk.created === 'number') start.createdAt = Math.floor(chunk.created)
    out.push(start)
  }

  const readUsage = (raw: JsonObject, out: ChatEvent[]): void => {
    rawUsage = withReport(rawUsage, raw)
    usage = decodeUsage(rawUsage)
    complete = reason !== undefined
    summed = true
    if (usage === undefined) return
    if (start !== undefined) out.push({ type: 'usage', usage })
  }

  const fail = (error: GatewayError): ChatEvent[] => {
    ended = true
    return [{ type: 'error', error }]
  }

  const readChunk = (chunk: JsonObject): ChatEvent[] => {
    const out: ChatEvent[] = []
    if (typeof chunk.service_tier === 'string') serviceTier = chunk.service_tier
    if (isObject(chunk.moderation)) moderation = chunk.moderation
    if (namesSources(chunk)) sourced = chunk
    const choices = asList(chunk.choices)
    // A first chunk without choices may come before the answer's id is known.
    if (choices.length > 0 || (typeof chunk.id === 'string' && chunk.id !== '')) begin(chunk, out)
    for (const choice of choices) {
      if (!isObject(choice)) continue
      const index = typeof choice.index === 'number' ? choice.index : 0
      choiceIndex ??= index
      if (index !== choiceIndex) continue
      const { delta, finish_reason: finishReason } = choice
      inDeltas ||= isObject(delta)
      const content = inDeltas ? delta : choice.message
      if (isObject(content)) readDelta(content, choice.logprobs, out)
      complete = false
      if (out.some((event) => 'text' in event && event.text !== '')) summed = false
      // Some servers send one with every chunk: the last counts.
      if (wordOf(finishReason) !== '') reason = finishReason
      met = stopIn(choice, undo.stop) ?? met
      if (isObject(choice.usage)) readUsage(choice.usage, out)
    }
    const told = usageIn(chunk)
    if (told !== undefined) readUsage(told, out)
    return out
  }

  const finish = (): ChatEvent[] => {
    if (reason === undefined && !audio.ended) return fail(brokenOff())
    ended = true
    const out = endParts()
    const { finish, ...stopped } = stoppedAt(decodeFinish(reason, { calls: calls.made, refused }), met)
    out.push({
      type: 'finish',
      reason: finish,
      ...stopped,
      usage: usage ?? {},
      ...(serviceTier === undefined ? {} : { serviceTier }),
      ...decodeModeration(moderation),
    })
    return out
  }

  /** Servers that leave out `[DONE]` end behind the reason and the figures. */
  const mayEnd = (): boolean => undo.noDone === true || (complete && summed)

  return {
    push: ({ event, data }) => {
      if (ended) return []
      if (isDone(data)) return finish()
      let chunk: unknown
      try {
        chunk = parse(data)
      } catch (cause) {
        return fail(malformedAnswer(cause))
      }
      if (!isObject(chunk)) return fail(malformedAnswer())
      const failure = event === 'error' ? decodeError(200, chunk) : failureIn(chunk)
      if (failure === undefined) return readChunk(chunk)
      const out: ChatEvent[] = []
      if (isObject(chunk.usage)) readUsage(chunk.usage, out)
      return [...out, ...fail(failure)]
    },
    end: () => (ended ? [] : mayEnd() ? finish() : fail(brokenOff())),
    get mayEnd() {
      return mayEnd()
    },
    get complete() {
      return complete
    },
    get summed() {
      return summed
    },
    get rawUsage() {
      return rawUsage
    },
    get serviceTier() {
      return serviceTier
    },
  }
}

const citationsOf = (citations: Citation[], part: number): ChatEvent[] =>
  citations.map((citation) => ({ type: 'citation', part, citation }))

/** Some servers send the arguments of calls as objects, whose large integers must keep all their digits. */
const parse = (data: string): unknown => (data.includes('_call') ? parseExact(data) : parseBounded(data))
