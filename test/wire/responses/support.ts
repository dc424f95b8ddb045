// What a request to a provider of this wire is held to.

import { SCHEMAS, violations } from '../../support/corpus.ts'

/** Types of a provider's own items, for which the request types are stricter than the provider. */
const REPLAYED = /^(reasoning|program|program_output|.*_call|.*_call_output|mcp_.*|compaction|tool_search_output)$/

/** The schema violations of a request: strict, except for the provider's own items, which the open schema checks. */
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
