// A full answer is the fold of its stream; unfold goes back.

import { GatewayError } from '../errors.ts'
import type { ChatEvent, ChatResponse } from './event.ts'
import type { AssistantPart, Citation, Logprob } from './part.ts'
import type { Usage } from './usage.ts'

/** For an answer without its end. */
export const brokenOff = (): GatewayError =>
  new GatewayError(
    'upstream_error',
    'Connection error: the provider broke off before the end of its answer. Try again.',
  )

/** Throws the error of a stream that failed, and `upstream_error` for one without an end. */
export const fold = (events: Iterable<ChatEvent>): ChatResponse => {
  const parts: (AssistantPart | undefined)[] = []
  const texts: string[][] = []
  const response: ChatResponse = { id: '', parts: [], finish: 'stop', usage: {} }
  let finished = false
  const append = (part: number, text: string) => texts[part]?.push(text)
  const usage = (more: Usage) => {
    response.usage = { ...response.usage, ...more }
  }
  const begin = (part: number, value: AssistantPart) => {
    parts[part] = value
    texts[part] = []
  }
  for (const event of events) {
    switch (event.type) {
      case 'start':
        response.id = event.id
        if (event.model !== undefined) response.model = event.model
        if (event.createdAt !== undefined) response.createdAt = event.createdAt
        if (event.usage !== undefined) usage(event.usage)
        break
      case 'text-start':
        begin(event.part, { type: 'text', text: '' })
        break
      case 'text-delta': {
        append(event.part, event.text)
        const part = parts[event.part]
        if (event.logprobs !== undefined && part?.type === 'text') {
          part.logprobs ??= []
          part.logprobs.push(...event.logprobs)
        }
        break
      }
      case 'citation': {
        const part = parts[event.part]
        if (part?.type !== 'text') break
        part.citations ??= []
        part.citations.push(event.citation)
        break
      }
      case 'refusal-start':
        begin(event.part, { type: 'refusal', text: '' })
        break
      case 'reasoning-start':
        begin(event.part, { type: 'reasoning', text: '', ...(event.full === undefined ? {} : { full: event.full }) })
        break
      case 'reasoning-end': {
        const part = parts[event.part]
        if (part?.type !== 'reasoning') break
        if (event.seal !== undefined) part.seal = event.seal
        if (event.full !== undefined) part.full = event.full
        break
      }
      case 'tool-start': {
        const { type: _, part, ...call } = event
        begin(part, { type: 'tool-call', ...call, input: '' })
        break
      }
      case 'refusal-delta':
      case 'reasoning-delta':
      case 'tool-delta':
        append(event.part, event.text)
        break
      case 'opaque':
        begin(event.part, event.value)
        break
      case 'usage':
        usage(event.usage)
        break
      case 'finish':
        response.finish = event.reason
        usage(event.usage)
        if (event.stopSequence !== undefined) response.stopSequence = event.stopSequence
        if (event.serviceTier !== undefined) response.serviceTier = event.serviceTier
        if (event.moderation !== undefined) response.moderation = event.moderation
        finished = true
        break
      case 'error':
        throw event.error
    }
    if (finished) break
  }
  if (!finished) throw brokenOff()
  parts.forEach((part, at) => {
    if (part === undefined) return
    const text = (texts[at] ?? []).join('')
    if (part.type === 'text' || part.type === 'refusal' || part.type === 'reasoning') part.text = text
    else if (part.type === 'tool-call') part.input = text === '' && part.kind === 'function' ? '{}' : text
    response.parts.push(part)
  })
  return response
}

/** The shortest stream whose fold is this answer. */
export const unfold = (response: ChatResponse): ChatEvent[] => {
  const start: ChatEvent = { type: 'start', id: response.id }
  if (response.model !== undefined) start.model = response.model
  if (response.createdAt !== undefined) start.createdAt = response.createdAt
  const finish: ChatEvent = { type: 'finish', reason: response.finish, usage: response.usage }
  if (response.stopSequence !== undefined) finish.stopSequence = response.stopSequence
  if (response.serviceTier !== undefined) finish.serviceTier = response.serviceTier
  if (response.moderation !== undefined) finish.moderation = response.moderation
  return [start, ...response.parts.flatMap(unfoldPart), finish]
}

const unfoldPart = (value: AssistantPart, part: number): ChatEvent[] => {
  switch (value.type) {
    case 'text':
      return [
        { type: 'text-start', part },
        ...textDelta(part, value.text, value.logprobs),
        ...(value.citations ?? []).map((citation: Citation): ChatEvent => ({ type: 'citation', part, citation })),
        { type: 'text-end', part },
      ]
    case 'refusal':
      return [
        { type: 'refusal-start', part },
        ...(value.text === '' ? [] : [{ type: 'refusal-delta' as const, part, text: value.text }]),
        { type: 'refusal-end', part },
      ]
    case 'reasoning': {
      const seal = value.seal === undefined ? {} : { seal: value.seal }
      return [
        { type: 'reasoning-start', part, ...(value.full === undefined ? {} : { full: value.full }), ...seal },
        ...(value.text === '' ? [] : [{ type: 'reasoning-delta' as const, part, text: value.text }]),
        { type: 'reasoning-end', part, ...seal },
      ]
    }
    case 'tool-call': {
      const { type: _, input, cache: __, ...call } = value
      return [
        { type: 'tool-start', part, ...call },
        ...(input === '' ? [] : [{ type: 'tool-delta' as const, part, text: input }]),
        { type: 'tool-end', part },
      ]
    }
    case 'opaque':
      return [{ type: 'opaque', part, value }]
  }
}

const textDelta = (part: number, text: string, logprobs: Logprob[] | undefined): ChatEvent[] => {
  if (text === '' && logprobs === undefined) return []
  return [{ type: 'text-delta', part, text, ...(logprobs === undefined ? {} : { logprobs }) }]
}
