// vendor_a's messages requests: what the vendor refuses, and what its model reads.

import { asList, asObject, asText, type JsonObject } from '../../ir/json.ts'
import {
  base64Bytes,
  countTokens,
  type Media,
  mediaSegment,
  type Prompt,
  type Segment,
  segment,
  type Tool,
} from '../prompt.ts'
import { asNumber } from '../vendor.ts'
import { invalid } from './error.ts'
import { blocksOf, checkHistory, type Turn, turnsOf } from './history.ts'

const SAMPLING = ['temperature', 'top_p', 'top_k']

/** The text of the last user turn: tool results and files left out. */
export const said = (body: JsonObject): string => {
  const turns = asList(body.messages).map(asObject)
  const last = turns.findLastIndex((turn) => turn.role === 'assistant')
  return turns
    .slice(last + 1)
    .filter((turn) => turn.role === 'user')
    .flatMap((turn) => blocksOf(turn.content))
    .filter((block) => block.type === 'text')
    .map((block) => asText(block.text))
    .join('\n')
}

/** Throws `VendorError`. `version` is the date the version header gives: 2026-10-21 has no sampling parameters. */
export const readRequest = (body: JsonObject, version: string): Prompt => {
  checkSettings(body, version)
  const turns = turnsOf(body)
  checkHistory(turns, asObject(body.thinking).type === 'enabled')
  const tools = asList(body.tools).map(asObject)
  const choice = asObject(body.tool_choice)
  const format = asObject(asObject(body.output_config).format ?? body.output_format)
  const lastTurns = turns.slice(turns.findLastIndex((turn) => turn.role === 'assistant') + 1)
  const schema = format.type === 'json_schema' ? asObject(format.schema) : undefined
  const maxTokens = asNumber(body.max_tokens)
  return {
    model: asText(body.model),
    segments: segmentsOf(body, tools, turns),
    said: said(body),
    results: lastTurns.flatMap(({ blocks }) => blocks.filter((block) => block.type === 'tool_result').map(resultText)),
    media: lastTurns.flatMap(({ blocks }) => blocks.flatMap(mediaOf)),
    tools: tools.flatMap(readTool),
    choice:
      choice.type === 'tool'
        ? { name: asText(choice.name) }
        : choice.type === 'any'
          ? 'required'
          : choice.type === 'none'
            ? 'none'
            : 'auto',
    parallel: choice.disable_parallel_tool_use !== true,
    ...(schema === undefined ? {} : { schema }),
    stop: asList(body.stop_sequences).map(asText),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    reasoning: ['enabled', 'adaptive'].includes(asText(asObject(body.thinking).type)),
  }
}

const checkSettings = (body: JsonObject, version: string): void => {
  if (asText(body.model) === '') throw invalid('model: Field required')
  const maxTokens = body.max_tokens
  if (maxTokens === undefined) throw invalid('max_tokens: Field required')
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens))
    throw invalid('max_tokens: Input should be a valid integer')
  if (maxTokens < 1) throw invalid('max_tokens: Input should be greater than or equal to 1')
  const thinking = asObject(body.thinking)
  const sampling = SAMPLING.find((name) => body[name] !== undefined)
  if (sampling !== undefined && version >= '2026-10-21') throw invalid(`${sampling}: Extra inputs are not permitted`)
  const temperature = asNumber(body.temperature)
  if (temperature !== undefined && (temperature < 0 || temperature > 1)) throw invalid('temperature: range: 0..1')
  if (thinking.type === 'enabled') {
    const budget = asNumber(thinking.budget_tokens)
    if (budget === undefined) throw invalid('thinking.enabled.budget_tokens: Field required')
    if (budget < 1024) {
      throw invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
    }
    if (budget >= maxTokens) throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`.')
  }
  if (thinking.type === 'enabled' || thinking.type === 'adaptive') {
    if (temperature !== undefined && temperature !== 1) {
      throw invalid('`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.')
    }
    if (['any', 'tool'].includes(asText(asObject(body.tool_choice).type))) {
      throw invalid('Thinking may not be enabled when tool_choice forces tool use.')
    }
  }
  const tools = asList(body.tools).map(asObject)
  if (body.tool_choice !== undefined && tools.length === 0) {
    throw invalid('tool_choice: tool_choice may only be specified while providing tools.')
  }
  tools.forEach((tool, at) => {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(asText(tool.name))) {
      throw invalid(`tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
    }
    if (!isBuiltIn(tool) && asObject(tool.input_schema).type !== 'object') {
      throw invalid(`tools.${at}.custom.input_schema.type: Field required`)
    }
  })
  const named = asObject(body.tool_choice)
  if (named.type === 'tool' && !tools.some((tool) => tool.name === named.name)) {
    throw invalid(`tool_choice.tool.name: Tool '${asText(named.name)}' not found in provided tools`)
  }
}

const isBuiltIn = (tool: JsonObject): boolean => tool.type !== undefined && tool.type !== null && tool.type !== 'custom'

const readTool = (tool: JsonObject): Tool[] =>
  isBuiltIn(tool) ? [] : [{ name: asText(tool.name), schema: asObject(tool.input_schema), custom: false }]

const resultText = (block: JsonObject): string => {
  const inner = blocksOf(block.content)
  const text = inner.map((part) => (part.type === 'text' ? asText(part.text) : `[${asText(part.type)}]`)).join(' ')
  return block.is_error === true ? `error: ${text}` : text
}

const mediaOf = (block: JsonObject): Media[] => {
  if (block.type === 'tool_result') return blocksOf(block.content).flatMap(mediaOf)
  if (block.type !== 'image' && block.type !== 'document') return []
  const source = asObject(block.source)
  const mediaType = asText(source.media_type) || (block.type === 'image' ? 'image/*' : 'application/pdf')
  if (source.type === 'base64') return [{ mediaType, bytes: base64Bytes(asText(source.data)) }]
  if (source.type === 'text') return [{ mediaType: 'text/plain', bytes: Buffer.byteLength(asText(source.data)) }]
  if (source.type === 'content')
    return [{ mediaType: 'text/plain', bytes: Buffer.byteLength(JSON.stringify(source.content)) }]
  return [{ mediaType, url: asText(source.url) || asText(source.file_id) }]
}

const segmentsOf = (body: JsonObject, tools: JsonObject[], turns: Turn[]): Segment[] => {
  const segments = [
    ...tools.map((tool) => segment(JSON.stringify({ ...tool, cache_control: undefined }), breakpointOf(tool))),
    ...blocksOf(body.system).map((block) => segment(asText(block.text), breakpointOf(block))),
    ...turns.flatMap(({ role, blocks }) => blocks.map((block) => blockSegment(role, block))),
  ]
  const last = segments.at(-1)
  const whole = breakpointOf(body)
  if (last !== undefined && whole !== undefined) segments.splice(-1, 1, { ...last, breakpoint: whole })
  return segments
}

const blockSegment = (role: string, block: JsonObject): Segment => {
  const breakpoint = breakpointOf(block)
  const [media] = mediaOf(block)
  if (media !== undefined && block.type !== 'tool_result') return mediaSegment(media, breakpoint)
  const text = block.type === 'text' ? asText(block.text) : JSON.stringify({ ...block, cache_control: undefined })
  return { ...segment(`${role}\n${text}`, breakpoint), tokens: countTokens(text) }
}

const breakpointOf = (block: JsonObject): '5m' | '1h' | undefined => {
  const control = asObject(block.cache_control)
  return control.type !== 'ephemeral' ? undefined : control.ttl === '1h' ? '1h' : '5m'
}
