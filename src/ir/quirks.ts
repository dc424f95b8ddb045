// Where a provider or a model deviates from its wire: data, read by the codecs' encoders.

import type { Effort } from './request.ts'

export type Quirks = {
  /** The model or API version takes no sampling parameters: they are dropped, and listed as dropped. */
  noSampling?: boolean
  /** No native structured output: a forced tool is used instead, and the answer decoded back to text. */
  structuredOutputByTool?: boolean
  /** Chat: the same where there are other tools, beside which native structured output is refused. */
  outputOrTools?: boolean
  /** Chat: the member that carries the output cap. Default `max_completion_tokens`. */
  maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  /** Messages, chat: no `role: "system"` within the conversation; later system turns become user text. */
  noMidSystem?: boolean
  /** Messages: thinking by budget only, no adaptive mode or effort. */
  noAdaptiveThinking?: boolean
  /** Messages: thinking adaptively only, by no budget. */
  noThinkingBudget?: boolean
  /** Messages, chat: the model cannot be forced to call a tool: it may choose, and JSON by a tool is asked for in words. */
  noForcedTools?: boolean
  /** Messages: the model has no effort between `high` and `max`. */
  noXhighEffort?: boolean
  /** The model does not reason: reasoning settings are dropped. */
  noReasoning?: boolean
  /** Responses: the account or the model shows no summaries of its thought. */
  noSummary?: boolean
  /** Responses: compacts no conversation itself. */
  noCompact?: boolean
  /** Messages, chat: a turn of the model's without a thought is refused: it gets a blank one, on messages one with calls. */
  needsReasoning?: boolean
  /** Chat: a call that its answer begins with and that has no signature is refused: it gets one that is not verified. */
  needsSignatures?: boolean
  /** The model's thinking cannot be turned off: it is asked for the lowest effort instead. */
  alwaysThinks?: boolean
  /** Chat, responses. False: the model thinks only where an effort is asked for; thinking left to it asks for one. */
  thinksUnasked?: boolean
  /** Chat, responses: the model caches only up to explicit breakpoints: `cache_control` markers are sent as such. */
  cacheBreakpoints?: boolean
  /** Chat: no custom (free-text) tools: they are sent as functions of one string, and their calls decoded back. */
  noCustomTools?: boolean
  /** Chat: call ids must be nine letters and digits. */
  shortCallIds?: boolean
  /** Chat, responses: no role `developer`: it becomes `system`. */
  noDeveloperRole?: boolean
  /** Responses: no role `system`: it becomes `developer`. */
  noSystemRole?: boolean
  /** Chat: no user's message right after a tool's: a reply of the model's goes between them. */
  noUserAfterTool?: boolean
  /** Messages: members that come with betas and that the provider refuses, those of tools as `tools.…`, of messages as `messages.…`. */
  rejectsOfBetas?: readonly string[]
  /** The only efforts that the model takes: the nearest is asked for, none where there are none. */
  efforts?: readonly Effort[]
  /** Messages: the only efforts that the model takes where thinking is turned off, as above. */
  idleEfforts?: readonly Effort[]
  /** Chat: no two messages of the user's in a row: they are joined. */
  noRepeatedUser?: boolean
  /** Chat: its grammars hold no patterns and lengths: those of schemas are told in words. */
  noSchemaLimits?: boolean
  /** Chat: no role for the system: what it says begins the user's first turn. */
  noSystem?: boolean
  /** Chat, responses: JSON is refused unless the conversation says that word. */
  saysJson?: boolean
  /** Chat: no message with several calls: each is made, and answered, after the other. */
  callsInTurn?: boolean
  /** It answers only in streams, or in none: its client gets the form that it has asked for. */
  streams?: boolean
  /** Chat: its streams end after the finish reason, without `[DONE]` and without figures. */
  noDone?: boolean
  /** Chat: its streams leave out the places of calls, and end as `stop` beside them: both are mended as they pass. */
  looseCalls?: boolean
  /** Chat, messages. False: it goes on behind stop sequences: it is sent none, and the gateway stops. */
  stopsItself?: boolean
  /**
   * True: its answers begin within a thought, which `</think>` ends. False: tags in its texts are text. Absent: a text that
   * begins with a template's tag begins with a thought.
   */
  thinksInText?: boolean
  /** Its answers are not quite as clients of the wire read them: they get them written anew, no bytes pass. */
  looseAnswers?: boolean
  /** It is another instance of this gateway, which reads the tags of foreign thoughts itself. */
  readsTags?: boolean
  /** Messages, responses: it runs no web search: another vendor's is left out or refused. */
  noWebSearch?: boolean
  /** It refuses users that it could tell a person by, such as an e-mail address: it gets a digest. */
  hashesUsers?: boolean
  /** Chat: no `content: null` beside calls: it gets an empty text. */
  noNullContent?: boolean
  /** Responses: messages in their short form are refused: each names its type, and the model's have parts. */
  longMessages?: boolean
  /** The most tokens of output that may be asked for, where a refusal has told it. */
  mostOutput?: number
  /** Chat, responses: the fewest, likewise. */
  leastOutput?: number
  /** Members of the wire's request that the provider refuses, as paths: `*` for each element of a list. */
  rejects?: readonly string[]
}
