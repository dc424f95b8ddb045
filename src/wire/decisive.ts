// The outermost members of a request, on any wire, by which it is admitted: which model answers, in which form, and what
// that may cost. A provider must read each as the gateway did.

const CAPS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']
const FORM = ['stream', 'stream_options', 'background', 'n', 'service_tier']
const BEFORE = ['conversation', 'previous_response_id']

/** Those that hold the prompt itself: nearly all of a large request. */
export const PROMPT: ReadonlySet<string> = new Set(['messages', 'system', 'input', 'instructions', 'prompt', 'tools'])

export const DECISIVE: ReadonlySet<string> = new Set(['model', ...CAPS, ...FORM, ...PROMPT, ...BEFORE])
