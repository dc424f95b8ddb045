// Summaries that stand for the beginning of a conversation, as both vendors' agents have them made.

/** The summary as the user's words, for any provider. */
export const summaryText = (summary: string): string =>
  `The conversation up to here, as a summary of what was said and done:\n\n${summary}`

/** For a summary that is encrypted. */
export const SEALED_ADVICE =
  'Only the provider that made it can read it: go on with one of its models, or begin a new conversation.'
