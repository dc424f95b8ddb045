// What a vendor makes of a story when the request it gets is not the one the client wrote: where the gateway sent a tool
// in the place of what the vendor has not, the vendor calls that tool.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Answer, Piece } from './story.ts'

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** The tools a vendor was offered, by kind. */
const offered = (sent: JsonObject): { name: unknown; custom: boolean }[] =>
  list(sent.tools).map((tool) => {
    const body = isObject(tool.function) ? tool.function : isObject(tool.custom) ? tool.custom : tool
    return { name: body.name, custom: tool.type === 'custom' && tool.input_schema === undefined }
  })

/** The tool the vendor is made to call, where the answer is to be a form and the request asks for none. */
const forced = (sent: JsonObject): string | undefined => {
  const choice = sent.tool_choice
  if (!isObject(choice)) return undefined
  const name = isObject(choice.function) ? choice.function.name : choice.name
  return typeof name === 'string' ? name : undefined
}

export const standIn = (answer: Answer, vendor: ChatWire, sent: JsonObject): Answer => {
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
