// What a request to a provider of this wire is held to.

import { SCHEMAS, violations } from '../../support/corpus.ts'

/** Items a provider made, replayed as they came: the request types are stricter about them than the provider is. */
const REPLAYED = /^(reasoning|program|program_output|.*_call|.*_call_output|mcp_.*|compaction|tool_search_output)$/

/** What is wrong with a request to the provider: strict but for replayed items, which the open schema judges. */
export const strictErrors = (body: { [name: string]: unknown }): string[] => {
  const { request } = SCHEMAS.responses
  const strict = violations(request, body)
  if (strict.length === 0) return []
  const open = violations('OpenAIResponseCreateParams', body)
  const input = Array.isArray(body.input)
    ? body.input.filter((item) => !(typeof item.type === 'string' && REPLAYED.test(item.type)))
    : body.input
  return [...open, ...violations(request, { ...body, input })]
}
