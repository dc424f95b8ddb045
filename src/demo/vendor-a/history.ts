// The history of a messages request: turns in order, calls and results in pairs, thinking as the vendor signed it.

import { asList, asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { createSeal } from '../seal.ts'
import { invalid } from './error.ts'

/** `at`: the turn's place in the request, as the vendor's error texts name it. */
export type Turn = { role: string; blocks: JsonObject[]; at: number }

/** Signatures of thinking blocks, bound to the text shown, and the data of redacted ones. */
export const signature = createSeal('vendor_a thinking')
export const redaction = createSeal('vendor_a redacted thinking')

/** A turn's content as blocks: a string is one text block. */
export const blocksOf = (content: Json | undefined): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content).map(asObject)

/** Turns with a role the vendor knows; neighbours of one role are one turn, as the vendor reads them. */
export const turnsOf = (body: JsonObject): Turn[] => {
  const messages = asList(body.messages).map(asObject)
  if (messages.length === 0) throw invalid('messages: at least one message is required')
  const turns: Turn[] = []
  messages.forEach((message, at) => {
    const role = asText(message.role)
    if (!['user', 'assistant', 'system'].includes(role)) {
      throw invalid(`messages.${at}.role: Input should be 'user' or 'assistant'`)
    }
    const blocks = blocksOf(message.content)
    if (blocks.length === 0 && !(role === 'assistant' && at === messages.length - 1)) {
      throw invalid(
        `messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
      )
    }
    if (blocks.some((block) => block.type === 'text' && asText(block.text) === '')) {
      throw invalid('messages: text content blocks must be non-empty')
    }
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, blocks, at })
  })
  if (turns[0]?.role === 'assistant') throw invalid('messages: first message must use the "user" role')
  return turns
}

export const checkHistory = (turns: Turn[], mustThink: boolean): void => {
  const ids = new Set<string>()
  turns.forEach((turn, index) => {
    checkBlocks(turn)
    const calls = idsOf(turn, 'tool_use', 'id')
    for (const id of calls) {
      if (ids.has(id)) throw invalid('messages: `tool_use` ids must be unique')
      ids.add(id)
    }
    const answered = leadingResults(turns[index + 1])
    const open = calls.filter((id) => !answered.includes(id))
    if (open.length > 0) {
      throw invalid(
        `messages.${turn.at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      )
    }
    const before = turns[index - 1]
    const asked = before === undefined ? [] : idsOf(before, 'tool_use', 'id')
    for (const [place, block] of turn.blocks.entries()) {
      if (block.type === 'tool_result' && !asked.includes(asText(block.tool_use_id))) {
        throw invalid(
          `messages.${turn.at}.content.${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${asText(block.tool_use_id)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        )
      }
    }
  })
  const last = turns.findLast((turn) => turn.role === 'assistant')
  const opening = asText(last?.blocks[0]?.type)
  if (mustThink && last?.blocks.some((block) => block.type === 'tool_use') && !opening.endsWith('thinking')) {
    throw invalid(
      `messages.${last.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${opening}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
    )
  }
}

const idsOf = (turn: Turn, type: string, member: string): string[] =>
  turn.blocks.filter((block) => block.type === type).map((block) => asText(block[member]))

// Results come first in their turn; after a text the vendor no longer takes them for the answer of the call.
const leadingResults = (turn: Turn | undefined): string[] => {
  if (turn === undefined || turn.role !== 'user') return []
  const other = turn.blocks.findIndex((block) => block.type !== 'tool_result')
  const leading = other === -1 ? turn.blocks : turn.blocks.slice(0, other)
  return leading.map((block) => asText(block.tool_use_id))
}

const checkBlocks = ({ blocks, role, at }: Turn): void => {
  blocks.forEach((block, place) => {
    const path = `messages.${at}.content.${place}`
    const assistantOnly = ['thinking', 'redacted_thinking', 'tool_use'].includes(asText(block.type))
    if (assistantOnly && role !== 'assistant') {
      throw invalid(`messages.${at}: \`${asText(block.type)}\` blocks can only be in \`assistant\` messages`)
    }
    if (block.type === 'tool_result' && role !== 'user') {
      throw invalid(`messages.${at}: \`tool_result\` blocks can only be in \`user\` messages`)
    }
    if (block.type === 'tool_use' && (typeof block.input !== 'object' || block.input === null)) {
      throw invalid(`${path}.tool_use.input: Input should be a valid dictionary`)
    }
    if (block.type === 'thinking' && signature.open(asText(block.signature), asText(block.thinking)) === undefined) {
      throw invalid(`${path}: Invalid \`signature\` in \`thinking\` block`)
    }
    if (block.type === 'redacted_thinking' && redaction.open(asText(block.data), '') === undefined) {
      throw invalid(`${path}: Invalid \`data\` in \`redacted_thinking\` block`)
    }
    const source = asObject(block.source)
    if (source.type === 'base64' && !/^[A-Za-z0-9+/]+={0,2}$/.test(asText(source.data))) {
      throw invalid(`${path}.${asText(block.type)}.source.base64.data: Invalid base64 data`)
    }
  })
}
