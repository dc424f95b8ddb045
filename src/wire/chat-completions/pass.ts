// The chat-completions wire to a provider that speaks it: the members to splice, everything else is the client's.

import { asList, asObject, asObjects, isFilled, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { Edit } from '../../lib/json-splice.ts'
import type { PassCodec } from '../codec.ts'
import { isForeign, modelEdit, refusedMembers, withoutRefused } from '../pass.ts'
import { given } from '../read.ts'
import { type Place, placesOf, valueAt } from '../refusal/member-path.ts'
import { callIdEdits } from './call-ids.ts'
import { NO_SIGNATURE, NO_THOUGHT } from './members.ts'
import { joinedContent } from './parts.ts'
import { isFlat } from './tools.ts'

export const outputCap = (body: JsonObject): number | undefined => {
  if (typeof body.max_completion_tokens === 'number') return body.max_completion_tokens
  return typeof body.max_tokens === 'number' ? body.max_tokens : undefined
}

/** Whether the client wants the usage chunk itself, as the vendor's clients ask for it or as aggregators' do. */
export const includeUsage = ({ stream_options: options, usage }: JsonObject): boolean =>
  (isObject(options) && options.include_usage === true) || (isObject(usage) && usage.include === true)

/** Blocks of the messages wire for which this wire has messages and members of its own. */
const BLOCKS = new Set<Json | undefined>(['tool_use', 'tool_result'])

/** Whether the client wants several answers: the IR holds one, so they can only pass as they are. */
export const wantsSeveral = ({ n }: JsonObject): boolean => given(n) && n !== 1

/** Some editors send other wires' forms of tools and content to this wire's path. */
export const needsTranslation = (body: JsonObject): boolean =>
  !wantsSeveral(body) &&
  (asObjects(body.tools).some(isFlat) ||
    asObjects(body.messages).some(({ content }) => asObjects(content).some(({ type }) => BLOCKS.has(type))))

/** Whether the user, or the system within the conversation, speaks again before the model has. */
export const breaksTurns = ({ messages }: JsonObject): boolean => {
  const speakers = asList(messages).map((message) =>
    isSystem(message) ? 'system' : isObject(message) ? message.role : '',
  )
  const from = speakers.findIndex((role) => role !== 'system')
  const spoken = from === -1 ? [] : speakers.slice(from).map((role) => (role === 'system' ? 'user' : role))
  return spoken.some((role, at) => role === 'user' && (spoken[at - 1] === 'user' || spoken[at - 1] === 'tool'))
}

/** Whether the model has made several calls in one message. */
export const callsAtOnce = ({ messages }: JsonObject): boolean =>
  asObjects(messages).some(({ tool_calls: calls }) => asList(calls).length > 1)

/** Whether an outline's cut strings leave open which edits are due. */
const needsWhole = ({ messages }: JsonObject, { shortCallIds, noMidSystem, needsReasoning }: Quirks): boolean => {
  if (shortCallIds) return true
  if (noMidSystem && asList(messages).slice(0, 2).filter(isSystem).length === 2) return true
  // An outline cuts a long thought before its first escape: one that begins with a new line looks empty.
  return needsReasoning === true && asObjects(messages).some(({ reasoning_content: thought }) => thought === '')
}

/** With `reasoning_content` among the refused members, also those of the assistant's messages. */
const refusedIn = (body: JsonObject, quirks: Quirks): Edit['path'][] => {
  const refused = refusedMembers(body, quirks)
  if (quirks.rejects?.includes('reasoning_content') !== true) return refused
  for (const [at, message] of asList(body.messages).entries())
    if (isObject(message) && message.reasoning_content !== undefined)
      refused.push(['messages', at, 'reasoning_content'])
  return refused
}

export const passEdits: PassCodec['passEdits'] = (outline, options, whole = () => outline) => {
  const { quirks } = options
  const body = needsWhole(outline, quirks) ? whole() : outline
  const edits: Edit[] = [modelEdit(options)]
  if (quirks.streams ?? body.stream === true) {
    // Made even where it is asked for: written twice, the provider might read the other one, and reasoning that is not told
    // of is not billed.
    edits.push(
      isObject(body.stream_options)
        ? { path: ['stream_options', 'include_usage'], value: 'true' }
        : { path: ['stream_options'], value: '{"include_usage":true}' },
    )
  } else if (quirks.streams === false && given(body.stream_options)) {
    edits.push({ path: ['stream_options'], value: undefined })
  }
  edits.push(...capEdits(body, options.outputCap, quirks.maxTokensField))
  const messages = asList(body.messages)
  const system = quirks.noDeveloperRole || quirks.noMidSystem ? systemEdits(messages, quirks) : []
  // What the system says may have been joined.
  const isJoined = system.some(({ path }) => path[2] === 'content')
  edits.push(...emptyEdits(messages, isJoined ? 1 : 0), ...thoughtEdits(messages, quirks), ...system)
  if (quirks.needsSignatures) edits.push(...signatureEdits(messages))
  if (quirks.shortCallIds) edits.push(...callIdEdits(messages))
  if (quirks.noNullContent) edits.push(...placesOf(body, 'messages.*.content').flatMap((path) => nullEdit(body, path)))
  return withoutRefused(edits, refusedIn(body, quirks), quirks, body)
}

const nullEdit = (body: JsonObject, path: Place): Edit[] =>
  valueAt(body, path) === null ? [{ path, value: '""' }] : []

/** An empty list of parts becomes an empty text: editors send one with calls, and the vendor refuses the whole request. */
const emptyEdits = (messages: readonly Json[], from: number): Edit[] =>
  messages.flatMap((message, at) => {
    if (at < from || !isObject(message) || !Array.isArray(message.content) || message.content.length > 0) return []
    return [{ path: ['messages', at, 'content'], value: given(message.tool_calls) ? 'null' : '""' }]
  })

/** Changes the roles of system messages to those that the provider takes, and joins those that begin the conversation. */
const systemEdits = (messages: Json[], { noDeveloperRole, noMidSystem }: Quirks): Edit[] => {
  const end = messages.findIndex((message) => !isSystem(message))
  const leading = noMidSystem ? messages.slice(0, end === -1 ? undefined : end) : []
  const roles = messages.flatMap((message, at): Edit[] => {
    const path = ['messages', at, 'role']
    if (0 < at && at < leading.length) return [{ path: ['messages', at], value: undefined }]
    if (isSystem(message) && at >= leading.length && noMidSystem) return [{ path, value: '"user"' }]
    return isObject(message) && message.role === 'developer' && noDeveloperRole ? [{ path, value: '"system"' }] : []
  })
  if (leading.length < 2) return roles
  return [{ path: ['messages', 0, 'content'], value: JSON.stringify(joinedContent(leading)) }, ...roles]
}

const isSystem = (message: Json | undefined): boolean =>
  isObject(message) && (message.role === 'system' || message.role === 'developer')

const CAPS = ['max_completion_tokens', 'max_tokens'] as const

// The cap is lowered under each name that the client used, and added under the provider's where there is none. Of two
// names, the provider may read the other one than was admitted. One with a configured name takes no other.
const capEdits = (body: JsonObject, cap: number | undefined, own: Quirks['maxTokensField']): Edit[] => {
  const used = CAPS.filter((name) => typeof body[name] === 'number')
  const unknown = own === undefined ? [] : used.filter((name) => name !== own)
  const due = cap ?? (unknown.length > 0 || used.length > 1 ? outputCap(body) : undefined)
  if (due === undefined) return []
  const set = own === undefined && used.length > 0 ? used : [own ?? 'max_completion_tokens']
  return [
    ...unknown.map((name) => ({ path: [name], value: undefined })),
    ...set.map((name) => ({ path: [name], value: String(due) })),
  ]
}

/** Adds a signature to the first call of a message that has none. */
const signatureEdits = (messages: readonly Json[]): Edit[] =>
  messages.flatMap((message, at) => {
    const [call] = asList(asObject(message).tool_calls)
    if (!isObject(call) || isFilled(call.extra_content)) return []
    return [{ path: ['messages', at, 'tool_calls', 0, 'extra_content'], value: JSON.stringify(NO_SIGNATURE) }]
  })

/** Removes what carries other providers' thoughts, which this one does not know, and adds the blank ones that it wants. */
const thoughtEdits = (messages: readonly unknown[], { readsTags, needsReasoning, rejects }: Quirks): Edit[] => {
  const wantsThoughts = needsReasoning === true && rejects?.includes('reasoning_content') !== true
  return messages.flatMap((message, at): Edit[] => {
    if (!isObject(message)) return []
    const { role, reasoning_details: details, reasoning_content: thought } = message
    const isTagged =
      readsTags !== true && asObjects(details).some(({ data, signature }) => isForeign(data) || isForeign(signature))
    const path = ['messages', at, 'reasoning_content']
    const isMissing = isTagged || typeof thought !== 'string' || thought === ''
    return [
      ...(isTagged ? [{ path: ['messages', at, 'reasoning_details'], value: undefined }] : []),
      ...(isTagged && message.reasoning !== undefined
        ? [{ path: ['messages', at, 'reasoning'], value: undefined }]
        : []),
      ...(wantsThoughts && role === 'assistant' && isMissing
        ? [{ path, value: JSON.stringify(NO_THOUGHT) }]
        : isTagged && thought !== undefined
          ? [{ path, value: undefined }]
          : []),
    ]
  })
}
