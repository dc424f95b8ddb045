// What a vendor's own items and blocks say: the results of tools that ran there, as text and pictures, for the providers of
// other wires. Only what is sealed for that vendor is lost to them.

import type { Json, JsonObject } from '../../ir/json.ts'
import type { ContentPart, DocumentPart, ImagePart, OpaquePart, UserPart } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { ChatRequest, Turn } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { given } from '../read.ts'
import { withOwnSearches } from '../tools/search-calls.ts'
import { parseDataUrl, sniffMediaType } from './data-url.ts'

type Assistant = Extract<Turn, { role: 'assistant' }>

/**
 * The request as a provider of `wire` is to read it: what only the client's wire can hold is said in other words, by the
 * user, as a model that saw itself write results would go on inventing some. `blind`: the model sees no pictures; those
 * of tools are left out.
 */
export const withSaid = (original: ChatRequest, wire: ChatWire, blind = false): ChatRequest => {
  if (original.origin === wire) return original
  const request = withOwnSearches(original, wire)
  const turns = request.turns.flatMap((turn): Turn[] => {
    if (turn.role === 'user') return [saidByUser(turn, blind)]
    return turn.role === 'assistant' && turn.parts.some(isToldElsewhere) ? apart(turn, wire, blind) : [turn]
  })
  return { ...request, turns }
}

const isToldElsewhere = (part: Turn['parts'][number]): part is OpaquePart =>
  part.type === 'opaque' && part.met !== true && !UNTOLD.has(part.value.type)

/** Of no use where their vendor's tools do not run, or read elsewhere: listed as left out. */
const UNTOLD = new Set<Json | undefined>([
  'mcp_list_tools',
  'mcp_tool_listing',
  'tool_search_call',
  'tool_search_output',
  'tool_search_tool_result',
  'fallback',
  'thinking',
  'redacted_thinking',
])

const saidByUser = (turn: Extract<Turn, { role: 'user' }>, blind: boolean): Turn => {
  if (!turn.parts.some((part) => isToldElsewhere(part) || hasBlocks(part))) return turn
  const parts = turn.parts.flatMap((part): UserPart[] => {
    if (part.type === 'tool-result' && hasBlocks(part))
      return [placed({ ...part, parts: part.parts.flatMap(unfolded) }, placeOf(part, 'messages'))]
    if (part.type === 'document') return unfolded(part)
    return isToldElsewhere(part) ? said(part, blind) : [part]
  })
  return placed({ ...turn, parts }, placeOf(turn, 'messages'))
}

const hasBlocks = (part: Turn['parts'][number]): boolean =>
  part.type === 'document'
    ? part.blocks !== undefined
    : part.type === 'tool-result' && part.parts.some((inner) => inner.type === 'document' && inner.blocks !== undefined)

/** A document of blocks as what it holds, in order. */
const unfolded = (part: ContentPart): ContentPart[] => {
  if (part.type !== 'document' || part.blocks === undefined) return [part]
  const head = [part.name, part.context].filter((line) => line !== undefined && line !== '').join('\n\n')
  return [...(head === '' ? [] : [{ type: 'text' as const, text: head }]), ...part.blocks]
}

/** The turn with what is said of the vendor's own in turns of the user's, in its place. */
const apart = (turn: Assistant, wire: ChatWire, blind: boolean): Turn[] => {
  const path = placeOf(turn, 'messages')
  const turns: Turn[] = []
  for (const part of turn.parts) {
    const told = isToldElsewhere(part) && part.origin !== wire ? said(part, blind) : undefined
    const last = turns.at(-1)
    // Where nothing is said, nothing parts what stands around it.
    if (told === undefined || told.every(({ type }) => type === 'opaque')) {
      if (last?.role === 'assistant') last.parts.push(part)
      else turns.push(placed({ ...turn, parts: [part] }, path))
    } else if (last?.role === 'user') last.parts.push(...told)
    else turns.push(placed({ role: 'user', within: true, parts: [{ type: 'text', text: HEAD }, ...told] }, path))
  }
  return turns
}

const HEAD = 'From tools that ran within the assistant’s turn:'

/** What is sealed stays opaque, by its own path, and so does a value that says nothing. */
const said = (part: OpaquePart, blind: boolean): ContentPart[] => {
  const path = placeOf(part, 'messages')
  const { text, shown, untold } = tell(part.value)
  const seen = shown.filter(({ type }) => !blind || type !== 'image')
  if (text === '' && seen.length === 0) return [part]
  const lost = [...untold, ...(seen.length < shown.length ? ['result'] : [])]
  return [
    ...(text === '' ? [] : [placed({ type: 'text' as const, text }, path)]),
    ...seen.map((one) => placed(one, path)),
    ...lost.map((member) => placed<OpaquePart>({ ...part, value: {} }, `${path}.${member}`)),
  ]
}

/** `untold`: the members that another vendor cannot read: sealed, data, or files that are kept at this one. */
type Told = { text: string; shown: (ImagePart | DocumentPart)[]; untold: string[] }

/** An item or a block in words: its tool, and what it was given and gave, by their members. */
export const tell = (value: JsonObject): Told => {
  const told: Told = { text: '', shown: [], untold: [] }
  const { type, name, server_label: label, server_name: server, ...rest } = value
  const tool = [label ?? server, name].filter((one) => typeof one === 'string').join('.')
  const body = membersIn(rest, '', told)
  if (body === '' && told.shown.length === 0 && tool === '') return told
  told.text = `[${[type, tool].filter((one) => typeof one === 'string' && one !== '').join(' ')}]${body === '' ? '' : `\n${body}`}`
  return told
}

/** Ids, and what steers the vendor. */
const UNSAID = new Set([
  'type',
  'id',
  'index',
  'status',
  'call_id',
  'tool_use_id',
  'approval_request_id',
  'container_id',
  'file_id',
  'safety_identifier',
  'fingerprint',
  'cache_control',
  'caller',
  'agent',
  'created_by',
  'media_type',
])

const SEALED = /^encrypted_|^signature$/
/** Where what was done is told by a type: a click, a search. */
const ACT = /(?:^|\.)actions?(?:\.\d+)?$/

/** The members that say anything, one a line; a value alone where there is one. */
const membersIn = (value: JsonObject, path: string, told: Told): string => {
  const lines: [string, string][] = []
  for (const [name, member] of Object.entries(value)) {
    if ((UNSAID.has(name) && !(name === 'type' && ACT.test(path))) || !given(member)) continue
    const at = path === '' ? name : `${path}.${name}`
    if (SEALED.test(name)) {
      told.untold.push(at)
      continue
    }
    const text = wordsOf(member, at, told)
    if (text !== '') lines.push([name, text])
  }
  // Of a file that is told by nothing else, its id is no mere id.
  if (lines.length === 0 && typeof value.file_id === 'string')
    told.untold.push(path === '' ? 'file_id' : `${path}.file_id`)
  const [only] = lines
  if (lines.length === 1 && only !== undefined && path !== '') return only[1]
  return lines.map(([name, text]) => `${name}:${text.includes('\n') ? '\n' : ' '}${text}`).join('\n')
}

const wordsOf = (value: Json, path: string, told: Told): string => {
  if (typeof value === 'string') return textOrShown(value, path, told)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) {
    const words = value.map((one, at) => wordsOf(one, `${path}.${at}`, told))
    return words.filter((text) => text !== '').join('\n')
  }
  return membersIn(value, path, told)
}

/** Pictures and PDFs are shown, whatever member holds them; other data cannot be. */
const textOrShown = (text: string, path: string, told: Told): string => {
  const held = text.startsWith('data:') || sniffMediaType(text) !== undefined ? parseDataUrl(text, '') : undefined
  if (held === undefined && !isData(text)) return text
  if (held === undefined) {
    told.untold.push(path)
    return ''
  }
  const source = { kind: 'base64' as const, ...held }
  if (held.mediaType.startsWith('image/')) told.shown.push({ type: 'image', source })
  else if (held.mediaType === 'application/pdf') told.shown.push({ type: 'document', source })
  else told.untold.push(path)
  return ''
}

const LONG_CHARS = 512
const isData = (text: string): boolean => text.length >= LONG_CHARS && /^[A-Za-z0-9+/_-]+=*$/.test(text)
