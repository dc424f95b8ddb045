// Parts of an answer as content blocks, in whole answers and in streams.

import type { JsonObject } from '../../ir/json.ts'
import type { AssistantPart, Citation, ReasoningPart, Seal, ToolCallPart } from '../../ir/part.ts'
import { sealTag, slotTag } from '../seal.ts'
import { callInput } from '../tools/call-input.ts'
import { searchBlocks } from '../tools/search-calls.ts'
import { type NameRead, sentCallId } from './names.ts'

export const encodePart = (part: AssistantPart, nameOf: NameRead): JsonObject[] => {
  switch (part.type) {
    case 'text': {
      if (part.text === '') return []
      const citations = (part.citations ?? []).flatMap(encodeCitation)
      return [{ type: 'text', text: part.text, ...(citations.length === 0 ? {} : { citations }) }]
    }
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'tool-call':
      return [{ ...openCall(part, nameOf), input: callInput(part.kind, part.input) }]
    case 'reasoning': {
      const slot = slotOf(part)
      if (slot === undefined) return []
      return [
        'data' in slot
          ? { type: 'redacted_thinking', data: slot.data }
          : { type: 'thinking', thinking: part.text, signature: slot.signature },
      ]
    }
    case 'opaque':
      return part.origin === 'messages' ? [part.value] : searchBlocks(part.value)
  }
}

/** The block of a call with an empty input, as it begins in a stream. */
export const openCall = (
  { id, name, namespace }: Pick<ToolCallPart, 'id' | 'name' | 'namespace'>,
  nameOf: NameRead,
): JsonObject => ({
  type: 'tool_use',
  id: sentCallId(id),
  name: nameOf(name, namespace),
  input: {},
  caller: { type: 'direct' },
})

/**
 * The member that carries a thought's seal: this wire's own value, or another wire's as a tag. Undefined for a thought
 * with neither seal nor text.
 */
export const slotOf = (part: ReasoningPart): { signature: string } | { data: string } | undefined => {
  const own = ownSlot(part.seal)
  if (own !== undefined) return 'data' in own && part.text !== '' ? { signature: own.data } : own
  if (part.text !== '') return { signature: slotTag(part) }
  return part.seal === undefined ? undefined : { data: sealTag(part) }
}

const ownSlot = (seal: Seal | undefined): { signature: string } | { data: string } | undefined => {
  if (seal?.origin !== 'messages') return undefined
  const { signature, data } = seal.value
  if (typeof data === 'string') return { data }
  return typeof signature === 'string' ? { signature } : undefined
}

/** A link of another wire has no `encrypted_index`: with '' it is recognised as one when the client sends it back. */
export const encodeCitation = (citation: Citation): JsonObject[] => {
  const own = citation.kind === 'opaque' ? citation : citation.native
  if (own?.origin === 'messages') return [own.value]
  if (citation.kind === 'opaque') return []
  return [
    {
      type: 'web_search_result_location',
      cited_text: citation.citedText ?? '',
      encrypted_index: '',
      title: citation.title ?? null,
      url: citation.url,
    },
  ]
}
