// What reached the demo vendors, judged by the vendors' own published request types.

import type { DemoProviders } from '../../src/demo/index.ts'
import { violations } from '../support/corpus.ts'

const schemaOf = ({ wire, path, headers }: DemoProviders['requests'][number]): string | undefined => {
  switch (wire) {
    case 'count-tokens':
      // The types of a count on the responses wire are those of a response, some left out.
      return path.startsWith('/v1/messages') ? 'AnthropicMessageCountTokensParams.strict' : 'OpenAIResponseCreateParams'

    case 'messages':
      if ((headers['vendora-beta'] ?? headers['anthropic-beta']) !== undefined)
        return 'AnthropicBetaMessageCreateParams.strict'
      return (headers['vendora-version'] ?? headers['anthropic-version']) === '2026-10-21'
        ? 'AnthropicMessageCreateParams.strict'
        : 'Anthropic20230601MessageCreateParams.strict'
    case 'chat-completions':
      // What the vendor answered comes back as it was, with members that the strict input types do not list.
      return 'OpenAIChatCompletionCreateParams'
    case 'responses':
      return 'OpenAIResponseCreateParams'
    case 'images':
      return 'OpenAIImageGenerateParams.strict'
    default:
      return undefined
  }
}

/** About an answer that was asked for before: such a request has no body. */
const KEPT = /^\/v1\/responses\/resp_/

/** One line for each request that breaks the published types; `path` and version come with it. */
export const badRequests = (demo: DemoProviders): string[] =>
  demo.requests.flatMap((request) => {
    if (KEPT.test(request.path) && request.body === '') return []
    const schema = schemaOf(request)
    const faults = schema === undefined ? ['unknown path'] : violations(schema, JSON.parse(request.body))
    return faults.map((fault) => `${request.path}: ${fault} in ${request.body.slice(0, 300)}`)
  })
