// What a provider or a model speaks differently from its wire's norm: data, read by the codecs' encoders.

export type Quirks = {
  /** The model or API version takes no sampling parameters: they are dropped, and said so. */
  noSampling?: boolean
  /** No native structured output: a forced tool stands in, undone in the answer. */
  structuredOutputByTool?: boolean
  /** Chat: the member that carries the output cap. Default `max_completion_tokens`. */
  maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  /** Messages, chat: no `role: "system"` within the conversation; later system turns become user text. */
  noMidSystem?: boolean
  /** Messages: thinking by budget only, no adaptive mode or effort. */
  noAdaptiveThinking?: boolean
  /** The model does not reason: reasoning settings are dropped. */
  noReasoning?: boolean
  /** Chat: no tools of free text: they go out as functions of one string, undone in the answer. */
  noCustomTools?: boolean
  /** Chat: ids of calls are nine letters and digits. */
  shortCallIds?: boolean
  /** Chat, responses: no role `developer`: it speaks as the system. */
  noDeveloperRole?: boolean
  /** Chat: its streams end with the reason and the last byte, without `[DONE]`. */
  noDone?: boolean
  /** Itself a gateway of this kind: it reads the tags of foreign thoughts that another one has made. */
  readsTags?: boolean
  /** Members of the wire's request that the provider refuses. */
  rejects?: string[]
}
