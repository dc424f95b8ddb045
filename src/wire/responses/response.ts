// Decodes and encodes a whole answer, with the same parts as a stream.

import type { ChatResponse } from '../../ir/event.ts'
import { fold } from '../../ir/fold.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, ToolCallPart } from '../../ir/part.ts'
import type { Ask, Undo } from '../codec.ts'
import { malformedAnswer } from '../pass.ts'
import { DECLINED, finalResponse, incompleteReason, initialResponse, needsRefusalText, responseId } from './answer.ts'
import { clientCall, isTruncated, OWN_PREFIX, toolOf } from './client-calls.ts'
import { type ClientTool, clientTools } from './client-tools.ts'
import { asksCompaction, compactedAnswer } from './compaction.ts'
import { answerReader } from './decode-events.ts'
import { bareId } from './names.ts'
import {
  callItem,
  callPrefix,
  encodeCitation,
  encodeLogprobs,
  itemIds,
  messageItem,
  namedCall,
  refusalContent,
  textContent,
} from './output.ts'
import { idIn, reasoningItem } from './reasoning.ts'

/** Throws `upstream_error` for a body that is not an answer of this wire, and the provider's error in a 200 answer. */
export const decodeResponse = (body: JsonObject, undo: Undo = {}): ChatResponse => {
  if (!Array.isArray(body.output) && !isObject(body.error)) {
    throw malformedAnswer()
  }
  return fold(answerReader(undo).whole(body))
}

export const encodeResponse = (answer: ChatResponse, ask: Ask): JsonObject => {
  const tools = clientTools(holds(answer, 'tool-call') ? ask.body : {})
  const toolFor = (part: ToolCallPart) => toolOf(part, tools)
  const response = withRefusalText(
    withoutTruncatedCalls(asksCompaction(ask.body) ? compactedAnswer(answer) : answer, toolFor),
  )
  const parts = response.parts.filter((part) => part.type !== 'opaque' || part.origin === 'responses')
  const idOf = itemIds(bareId(response.id))
  const output: JsonObject[] = []
  let content: JsonObject[] = []
  const cut = incompleteReason(response.finish, holds(response, 'tool-call')) !== undefined
  /** Only the last item can have been cut. */
  const close = (last: boolean): void => {
    if (content.length === 0) return
    output.push(messageItem(idOf('msg_', undefined, output.length), content, last && cut ? 'incomplete' : 'completed'))
    content = []
  }
  parts.forEach((part, at) => {
    const last = at === parts.length - 1
    switch (part.type) {
      case 'text': {
        const annotations = (part.citations ?? []).flatMap((citation) => encodeCitation(citation, part.text.length))
        content.push(textContent(part.text, annotations, encodeLogprobs(part.logprobs ?? [])))
        break
      }
      case 'refusal':
        // Some clients cannot read a message that contains a refusal: text before it gets a message of its own.
        close(false)
        content.push(refusalContent(part.text))
        break
      case 'tool-call': {
        close(false)
        const own = toolFor(part)
        if (own !== undefined) {
          output.push(clientCall(own, idOf(OWN_PREFIX[own], part.itemId, output.length), part.id, part.input).item)
          break
        }
        const input = part.input === '' && part.kind === 'function' ? '{}' : part.input
        const id = idOf(callPrefix(part.kind), part.itemId, output.length)
        output.push(callItem(id, namedCall(part, id, tools), input, last && cut ? 'incomplete' : 'completed'))
        break
      }
      case 'reasoning':
        close(false)
        output.push(reasoningItem(idOf('rs_', idIn(part.seal), output.length), part))
        break
      case 'opaque':
        close(false)
        output.push({ ...part.value, id: idOf('', part.value.id, output.length) })
        break
    }
  })
  close(true)
  const base = initialResponse(ask, responseId(response.id), response.createdAt ?? ask.now)
  return finalResponse(base, output, { ...response, reason: response.finish }, ask)
}

const holds = ({ parts }: ChatResponse, wanted: AssistantPart['type']): boolean =>
  parts.some(({ type }) => type === wanted)

/** Leaves out calls of client-run tools whose arguments break off. Only the last part can have been cut. */
const withoutTruncatedCalls = (
  response: ChatResponse,
  toolFor: (part: ToolCallPart) => ClientTool | undefined,
): ChatResponse => {
  const { parts, finish } = response
  const cut = incompleteReason(finish, true) !== undefined
  const whole = parts.filter(
    (part, at) =>
      part.type !== 'tool-call' ||
      toolFor(part) === undefined ||
      !isTruncated(part.input, cut && at === parts.length - 1),
  )
  return { ...response, parts: whole }
}

/** Adds the text of a refusal where the model gave none. */
const withRefusalText = (response: ChatResponse): ChatResponse =>
  needsRefusalText(response.finish, { calls: holds(response, 'tool-call'), refused: holds(response, 'refusal') })
    ? { ...response, parts: [...response.parts, { type: 'refusal', text: DECLINED }] }
    : response
