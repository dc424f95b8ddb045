// Whole answers, both ways.

import type { ChatResponse } from '../../ir/event.ts'
import { asList, asObject, asObjects, asText, isFilled, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, Citation, Logprob } from '../../ir/part.ts'
import { withPrompt } from '../../ir/usage.ts'
import { digest } from '../../lib/digest.ts'
import type { Ask, Asked, Undo } from '../codec.ts'
import { decodeModeration } from '../moderation.ts'
import { malformedAnswer } from '../pass.ts'
import { isPicture, picturesIn } from '../turns/drawn.ts'
import { isFiltered } from '../turns/ending.ts'
import {
  decodeCitations,
  decodeLogprobs,
  decodeSources,
  encodeCitation,
  encodeLogprob,
  encodeVerdicts,
  placedIn,
} from './annotations.ts'
import {
  callsIn,
  decodeAssistant,
  encodeCall,
  encodeThoughts,
  idText,
  inputText,
  partsSaid,
  readsReasoning,
  withThoughtMember,
} from './assistant.ts'
import { failureIn } from './error.ts'
import { decodeFinish, encodeFinish, stopIn, stoppedAt } from './finish.ts'
import { tierOf } from './members.ts'
import { isTextCut, undoCall } from './undo.ts'
import { decodeUsage, encodeUsage } from './usage.ts'

/** Throws `upstream_error` on a body that is no answer of this wire, and a provider's error that came with a 200. */
export const decodeResponse = (body: JsonObject, undo: Undo = {}): ChatResponse => {
  const failure = failureIn(body)
  if (failure !== undefined) throw failure
  const choices = asObjects(body.choices)
  const choice = choices.find((one) => one.index === 0) ?? choices[0]
  if (choice === undefined) throw malformedAnswer()
  const id = asText(body.id)
  // Some servers write the text and each call of an answer as choices of one index.
  const parts = choices
    .filter(({ index }) => index === choice.index)
    .flatMap((one, at) => decodeChoice(one, body, (call) => `call_${digest(id)}_${at + call}`))
  const undone = parts.map((part) => (part.type === 'tool-call' ? undoCall(part, undo) : part))
  const cut = parts.some((part) => part.type === 'tool-call' && isTextCut(part, undo))
  const finish = decodeFinish(choice.finish_reason, {
    calls: undone.some((part) => part.type === 'tool-call'),
    refused: undone.some((part) => part.type === 'refusal'),
  })
  const response: ChatResponse = {
    id,
    parts: undone,
    ...stoppedAt(finish, stopIn(choice, undo.stop)),
    usage: decodeUsage(body.usage) ?? {},
  }
  if (cut && response.finish === 'tool-calls') throw malformedAnswer()
  if (typeof body.model === 'string' && body.model !== '') response.model = body.model
  if (typeof body.created === 'number') response.createdAt = Math.floor(body.created)
  if (typeof body.service_tier === 'string') response.serviceTier = body.service_tier
  return { ...response, ...decodeModeration(body.moderation) }
}

const decodeChoice = (choice: JsonObject, body: JsonObject, madeId: (call: number) => string): AssistantPart[] => {
  const message = messageOf(choice)
  if (message === undefined) throw malformedAnswer()
  let parts: AssistantPart[]
  try {
    const content = typeof message.content === 'string' ? message.content : partsSaid(message.content)
    const said: JsonObject = { ...message, content, tool_calls: callsIn(message).filter(saysAnything) }
    if (Array.isArray(content)) said.content = content.filter((part) => !isPicture(part))
    parts = withThoughtMember(decodeAssistant(said, 'choices.0.message', madeId), message)
    const shown = [...picturesIn(asList(content).filter(isPicture)), ...picturesIn(message.images)]
    // Calls end an answer.
    const at = parts.findIndex(({ type }) => type === 'tool-call')
    parts.splice(at === -1 ? parts.length : at, 0, ...shown)
  } catch (cause) {
    throw malformedAnswer(cause)
  }
  annotate(parts, message, choice, body)
  return parts
}

/** Some servers list a call of nothing beside a text. */
const saysAnything = (call: JsonObject): boolean => {
  const { name, arguments: input } = asObject(call.function)
  return [idText(call.id), asText(name), inputText(input)].join('') !== '' || isFilled(call.custom)
}

/** The message of a choice. An answer that was filtered before its first output has none. */
export const messageOf = (choice: Json | undefined): JsonObject | undefined => {
  if (!isObject(choice)) return undefined
  const { message = null, finish_reason: reason } = choice
  return isObject(message) ? message : message === null && isFiltered(reason) ? {} : undefined
}

const isWithin = (citation: Citation, from: number, to: number): boolean => {
  const start = citation.kind === 'url' ? (citation.start ?? 0) : 0
  return from <= start && start < to
}

/** Adds citations and log probabilities, which this wire has beside the text. */
const annotate = (parts: AssistantPart[], message: JsonObject, choice: JsonObject, body: JsonObject): void => {
  const texts = parts.filter((part) => part.type === 'text')
  const [text] = texts
  if (text === undefined) return
  const annotations = decodeCitations(message.annotations)
  const citations = annotations.length > 0 ? annotations : decodeSources(body)
  // Places are told within all of the content, of which thoughts may part the texts.
  let before = 0
  for (const [at, part] of texts.entries()) {
    const end = at === texts.length - 1 ? Number.POSITIVE_INFINITY : before + part.text.length
    const own = citations.filter((one) => isWithin(one, at === 0 ? 0 : before, end))
    if (own.length > 0) part.citations = own.map((one) => placedIn(one, before))
    before += part.text.length
  }
  const logprobs = isObject(choice.logprobs) ? decodeLogprobs(choice.logprobs.content) : []
  if (logprobs.length > 0) text.logprobs = logprobs
}

export const encodeResponse = (response: ChatResponse, ask: Ask): JsonObject => {
  const { parts } = response
  const legacy = wantsFunctionCall(ask.body)
  const logprobs = parts.flatMap((part): Logprob[] => (part.type === 'text' ? (part.logprobs ?? []) : []))
  const body: JsonObject = {
    id: responseId(response.id, ask),
    object: 'chat.completion',
    created: response.createdAt ?? ask.now,
    model: ask.model,
    choices: [
      {
        index: 0,
        message: encodeMessage(parts, legacy, readsReasoning(ask.body)),
        logprobs: logprobs.length === 0 ? null : { content: logprobs.map(encodeLogprob), refusal: null },
        finish_reason: encodeFinish(response.finish, {
          calls: parts.some((part) => part.type === 'tool-call'),
          refused: parts.some((part) => part.type === 'refusal'),
          legacy,
        }),
      },
    ],
    usage: encodeUsage(withPrompt(response.usage, ask.inputEstimate)),
    system_fingerprint: null,
  }
  const tier = tierOf(response.serviceTier)
  if (tier !== undefined) body.service_tier = tier
  return { ...body, ...encodeVerdicts(response.moderation) }
}

/** The wire has one text: several are joined, and the ranges of their citations shifted. */
const encodeMessage = (parts: AssistantPart[], legacy: boolean, twice: boolean): JsonObject => {
  let content: string | null = null
  let refusal: string | null = null
  const annotations: Json[] = []
  const calls: JsonObject[] = []
  const images: JsonObject[] = []
  const message: JsonObject = { role: 'assistant' }
  for (const part of parts) {
    switch (part.type) {
      case 'text': {
        const offset: number = content?.length ?? 0
        content = (content ?? '') + part.text
        annotations.push(
          ...(part.citations ?? []).flatMap((one: Citation) => encodeCitation(one, offset, part.text.length)),
        )
        break
      }
      case 'refusal':
        refusal = (refusal ?? '') + part.text
        break
      case 'tool-call':
        calls.push(encodeCall(part, part.id, part.name))
        break
      case 'opaque':
        if (part.origin !== 'chat-completions') break
        if (isObject(part.value.audio)) message.audio = part.value.audio
        else if (isPicture(part.value)) images.push({ index: images.length, ...part.value })
        break
    }
  }
  if (content === null && refusal === null && calls.length === 0 && message.audio === undefined) content = ''
  Object.assign(message, { content, refusal, annotations, ...(images.length === 0 ? {} : { images }) })
  Object.assign(message, encodeThoughts(parts, twice))
  const [first] = calls
  if (legacy && isObject(first?.function)) message.function_call = first.function
  else if (first !== undefined) message.tool_calls = calls
  return message
}

/** Whether the client uses the legacy `functions`: it reads `function_call`, which holds one call. */
export const wantsFunctionCall = (body: JsonObject): boolean =>
  Array.isArray(body.functions) && !Array.isArray(body.tools)

/** An id in the wire's own form is kept; any other is put into that form. */
export const responseId = (id: string, ask: Asked): string => {
  if (id.startsWith('chatcmpl-')) return id
  return `chatcmpl-${id === '' ? ask.now : id.replace(/[^a-zA-Z0-9_-]/g, '')}`
}
