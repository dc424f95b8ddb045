// The messages wire to a provider that speaks it: the members to splice, everything else is the client's.

import { asList, asObjects, isObject, type JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import { type Edit, FRONT } from '../../lib/json-splice.ts'
import type { PassCodec, PassEdit } from '../codec.ts'
import { isForeign, modelEdit, refusedMembers, withoutRefused } from '../pass.ts'
import { isMadeSearch } from '../tools/search-calls.ts'
import { isMadeLink } from './decode-content.ts'
import { type Remaining, thinkingEdits } from './pass-thinking.ts'
import { callsUnthought, NO_THOUGHT } from './reasoning.ts'

export const outputCap = (body: JsonObject): number | undefined =>
  typeof body.max_tokens === 'number' ? body.max_tokens : undefined

export const passEdits: PassCodec['passEdits'] = (outline, options, whole = () => outline) => {
  const { outputCap: cap, quirks } = options
  const messagesIn = (body: JsonObject) => (quirks.readsTags ? [] : asList(body.messages))
  // An outline cuts a long string before its first escape: what is sealed and begins with an escaped slash looks empty.
  const isLinked = linkEdits(messagesIn(outline)).length > 0
  const body = isLinked ? whole() : outline
  const messages = messagesIn(body)
  const removals = foreignEdits(messages)
  const remaining = { isShorter: removals.length > 0, messages: () => withoutForeign(messages) }
  const edits: PassEdit[] = [
    modelEdit(options),
    ...thinkingEdits(body, remaining, options),
    ...removals,
    ...(isLinked ? linkEdits(messages, isForeignBlock) : []),
  ]
  if (quirks.needsReasoning) edits.push(...blankThoughts(messages))
  if (cap !== undefined) edits.push({ path: ['max_tokens'], value: String(cap) })
  edits.push(...betaEdits(body, quirks))
  return withoutRefused(edits, refusedMembers(body, quirks), quirks, body)
}

/** Removes what the provider refuses, of every tool, of every message and of the request. */
const betaEdits = (body: JsonObject, { rejectsOfBetas = [] }: Quirks): PassEdit[] => {
  const removed = (path: Edit['path']): PassEdit => ({ path, value: undefined, lost: true })
  return rejectsOfBetas.flatMap((path) => {
    const [first = '', name] = path.split('.')
    const { [first]: value } = body
    if (name === undefined) return value === undefined ? [] : [removed([first])]
    return asList(value).flatMap((one, at) => {
      if (!isObject(one) || one[name] === undefined) return []
      return [removed(first === 'messages' && !saysAnything(one) ? [first, at] : [first, at, name])]
    })
  })
}

/** A system message may hold settings and nothing else. */
const saysAnything = ({ content }: JsonObject): boolean =>
  (typeof content === 'string' || Array.isArray(content)) && content.length > 0

const isForeignBlock = (block: unknown): boolean =>
  isObject(block) &&
  (isForeign(block.signature) || isForeign(block.data) || isMadeSearch(block) || holdsLateLinks(block))

/** Links of another wire's answer that came after its text: this one's provider takes no empty text. */
const holdsLateLinks = ({ type, text, citations }: JsonObject): boolean =>
  type === 'text' && text === '' && Array.isArray(citations) && citations.length > 0 && citations.every(isMadeLink)

/** Removes thoughts, searches and late links of other providers, and messages that hold nothing else. */
const foreignEdits = (messages: readonly unknown[]): Edit[] => {
  const edits: Edit[] = []
  messages.forEach((message, at) => {
    if (!isObject(message) || message.role !== 'assistant' || !Array.isArray(message.content)) return
    const foreign = message.content.flatMap((block, index) => (isForeignBlock(block) ? [index] : []))
    if (foreign.length === 0) return
    const next = messages[at + 1]
    if (foreign.length < message.content.length)
      for (const index of foreign) edits.push({ path: ['messages', at, 'content', index], value: undefined })
    else if (roleOf(messages[at - 1]) === 'system' && next !== undefined && roleOf(next) !== 'assistant')
      edits.push({ path: ['messages', at, 'content'], value: NO_CONTENT })
    else edits.push({ path: ['messages', at], value: undefined })
  })
  return edits
}

/** Removes links of other wires' answers: the provider wants citations with what it has sealed, and these have nothing. */
const linkEdits = (messages: readonly unknown[], isGone = (_: unknown): boolean => false): Edit[] => {
  const edits: Edit[] = []
  messages.forEach((message, at) => {
    if (!isObject(message) || message.role !== 'assistant' || !Array.isArray(message.content)) return
    message.content.forEach((block, index) => {
      if (!isObject(block) || !Array.isArray(block.citations) || isGone(block)) return
      const path = ['messages', at, 'content', index, 'citations']
      const made = block.citations.flatMap((raw, number) => (isMadeLink(raw) ? [number] : []))
      if (made.length === block.citations.length) {
        if (made.length > 0) edits.push({ path, value: undefined })
      } else for (const number of made) edits.push({ path: [...path, number], value: undefined })
    })
  })
  return edits
}

/** A thought before the calls of each message that has none but other providers'. */
const blankThoughts = (messages: readonly unknown[]): Edit[] =>
  messages.flatMap((message, at) => {
    if (!isObject(message) || !Array.isArray(message.content)) return []
    const content = message.content.filter(isObject).filter((block) => !isForeignBlock(block))
    if (!callsUnthought({ role: message.role, content })) return []
    return [{ path: ['messages', at, 'content', FRONT], value: JSON.stringify(NO_THOUGHT) }]
  })

const roleOf = (message: unknown): unknown => (isObject(message) ? message.role : undefined)

/** Keeps the model's message behind a system message: the provider takes no other role there. */
const NO_CONTENT = '[{"type":"text","text":"(no content)"}]'

/** The messages with blocks that `foreignEdits` leaves. Strings, which hold no thought, count as no blocks. */
const withoutForeign = (messages: readonly unknown[]): ReturnType<Remaining['messages']> =>
  messages.filter(isObject).flatMap(({ role, content }) => {
    const blocks = asObjects(content)
    const kept = blocks.filter((block) => !isForeignBlock(block))
    return blocks.length > 0 && kept.length === 0 ? [] : [{ role, content: kept }]
  })
