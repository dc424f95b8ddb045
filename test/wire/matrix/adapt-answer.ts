// Adapts a story's answer to the request that the vendor received: where the gateway replaced a feature by a tool (custom
// tools, structured output), the vendor answers with a call of that tool.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Answer, Piece } from './story.ts'

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** The tools in the vendor's request. */
const offered = (sent: JsonObject): { name: unknown; custom: boolean }[] =>
  list(sent.tools).map((tool) => {
    const body = isObject(tool.function) ? tool.function : isObject(tool.custom) ? tool.custom : tool
    return { name: body.name, custom: tool.type === 'custom' && tool.input_schema === undefined }
  })

/** The tool that the request forces the vendor to call. */
const forced = (sent: JsonObject): string | undefined => {
  const choice = sent.tool_choice
  if (!isObject(choice)) return undefined
  const name = isObject(choice.function) ? choice.function.name : choice.name
  return typeof name === 'string' ? name : undefined
}

export const adaptAnswer = (answer: Answer, vendor: ChatWire, sent: JsonObject): Answer => {
  const tools = offered(sent)
  const pieces = answer.pieces.map((piece): Piece => {
    if (!('call' in piece) || !piece.custom || vendor === 'messages') return piece
    if (tools.some(({ name, custom }) => custom && name === piece.name)) return piece
    const { custom: _, input, ...call } = piece
    return { ...call, input: JSON.stringify({ input }) }
  })
  const [only] = pieces
  const tool = forced(sent)
  if (tool === undefined || answer.finish !== 'stop' || only === undefined || !('text' in only))
    return { ...answer, pieces }
  return { ...answer, finish: 'calls', pieces: [{ call: 'call_form', name: tool, input: only.text }] }
}
