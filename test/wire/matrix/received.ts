// The conversation that a vendor received, as lines: one for each text, image, file and call, whatever the wire.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Ask, Lines, Said, Shown } from './story.ts'

const callLine = (name: string, input: string): string => `call ${name} ${canonical(input)}`
/** Arguments without differences in white space. */
const canonical = (input: string): string => {
  try {
    const value: unknown = JSON.parse(input, (_, member, context?: { source?: string }) =>
      typeof member === 'number' ? `number ${context?.source}` : member,
    )
    const keys = isObject(value) ? Object.keys(value).join() : ''
    // Free text travels as the one member of an object where a wire has no custom tools.
    return keys === 'input' ? String((value as JsonObject).input) : JSON.stringify(value)
  } catch {
    return input
  }
}
const list = (value: Json | undefined): JsonObject[] =>
  typeof value === 'string' ? [{ type: 'text', text: value }] : Array.isArray(value) ? value.filter(isObject) : []
const bytes = (url: string): string => url.replace(/^data:[^,]*,/, '')

const shownLine = (part: Shown): string => {
  if ('imageUrl' in part) return `image ${part.imageUrl}`
  if ('image' in part) return `image ${part.image}`
  if ('pdf' in part) return `pdf ${part.pdf}`
  return 'file' in part ? `text ${part.file}` : `text ${part.text}`
}
const saidLine = (piece: Said): string[] => {
  if ('call' in piece) {
    const name = piece.namespace === undefined ? piece.name : `${piece.namespace}__${piece.name}`
    return [callLine(name, piece.input)]
  }
  // A thought without a seal need not be sent to any vendor.
  if ('thought' in piece) return []
  return [`text ${'refusal' in piece ? piece.refusal : piece.text}`]
}

/** The lines that the story expects. */
export const expectedLines = (ask: Ask): Lines =>
  ask.turns.flatMap((turn): string[] =>
    turn.role === 'assistant'
      ? turn.parts.flatMap(saidLine)
      : turn.parts.flatMap((part) => ('result' in part ? part.result.map(shownLine) : [shownLine(part)])),
  )

/** A text file may be wrapped in a title, a failed result begin with `Error`: see `missing`. */
export const receivedLines = (wire: ChatWire, body: JsonObject): Lines => {
  switch (wire) {
    case 'messages':
      return [
        ...list(body.system).flatMap(messagesLines),
        ...list(body.messages).flatMap(({ content }) => list(content).flatMap(messagesLines)),
      ]
    case 'chat-completions':
      return list(body.messages).flatMap(chatLines)
    case 'responses':
      return [
        ...(typeof body.instructions === 'string' ? [`text ${body.instructions}`] : []),
        ...list(body.input).flatMap(responsesLines),
      ]
  }
}

const messagesLines = (block: JsonObject): string[] => {
  const source = isObject(block.source) ? block.source : {}
  switch (block.type) {
    case 'image':
      return [`image ${source.url ?? source.data}`]
    case 'document':
      return [source.type === 'text' ? `text ${source.data}` : `pdf ${source.data ?? source.url}`]
    case 'tool_use':
      return [callLine(String(block.name), JSON.stringify(block.input))]
    case 'tool_result':
      return list(block.content).flatMap(messagesLines)
    case 'thinking':
    case 'redacted_thinking':
      return []
    default:
      return [`text ${block.text}`]
  }
}

const chatLines = (message: JsonObject): string[] => [
  ...list(message.content).map((part) => {
    const image = isObject(part.image_url) ? part.image_url : {}
    const file = isObject(part.file) ? part.file : {}
    if (part.type === 'image_url') return `image ${bytes(String(image.url))}`
    if (part.type === 'file') return fileLine(String(file.file_data))
    return `text ${part.text ?? part.refusal}`
  }),
  ...list(message.tool_calls).map(({ function: called, custom }) => {
    const call = isObject(called) ? called : isObject(custom) ? custom : {}
    return callLine(String(call.name), String(call.arguments ?? call.input))
  }),
]

const fileLine = (url: string): string =>
  url.startsWith('data:text/') ? `text ${Buffer.from(bytes(url), 'base64').toString('utf8')}` : `pdf ${bytes(url)}`

const responsesLines = (item: JsonObject): string[] => {
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call': {
      const name = item.namespace === undefined ? item.name : `${item.namespace}__${item.name}`
      return [callLine(String(name), String(item.arguments ?? item.input))]
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return list(item.output).map(responsesPart)
    case 'shell_call':
      return [callLine('shell', JSON.stringify(item.action))]
    case 'shell_call_output':
      return list(item.output).map(({ outcome, stdout }) => `text exit code ${codeOf(outcome)}\n${stdout}`)
    case 'tool_search_call':
      return [callLine('tool_search', JSON.stringify(item.arguments))]
    case 'tool_search_output':
      return [
        `text Tools found, which can be called from now on: ${list(item.tools)
          .map(({ name }) => name)
          .join(', ')}`,
      ]
    case 'reasoning':
      return []
    default:
      return list(item.content).map(responsesPart)
  }
}

const codeOf = (outcome: Json | undefined): string => JSON.stringify(isObject(outcome) ? outcome.exit_code : null)

const responsesPart = (part: JsonObject): string => {
  if (part.type === 'input_image') return `image ${bytes(String(part.image_url))}`
  if (part.type === 'input_file') return fileLine(String(part.file_data ?? part.file_url))
  return `text ${part.text ?? part.refusal}`
}

/** The expected lines that were not received, each as often as expected. Trailing white space is ignored. */
export const missing = (due: Lines, got: Lines): string[] => {
  const left = [...got]
  return due.filter((line) => {
    const exact = left.indexOf(line)
    const said = line.slice('text '.length).trimEnd()
    const at =
      exact !== -1 ? exact : left.findIndex((one) => line.startsWith('text ') && said !== '' && one.includes(said))
    if (at !== -1 && left[at] === line) left.splice(at, 1)
    return at === -1 && line !== 'text '
  })
}
