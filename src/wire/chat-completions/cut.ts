// A refusal in place of an answer that was cut: the vendor refuses where a model has thought up to its output cap and not said
// a word. What its client asked for is an answer, if an empty one.

import { asObject, type JsonObject } from '../../ir/json.ts'

/** The answer, for a refusal that means one. `now`: in seconds. */
export const cutAnswer = (status: number, body: unknown, now: () => number): JsonObject | undefined => {
  const { error } = asObject(body)
  const { message } = asObject(error)
  if (status !== 400 || typeof message !== 'string' || !AT_CAP.test(message)) return undefined
  const created = now()
  return {
    id: `chatcmpl-${created}`,
    object: 'chat.completion',
    created,
    model: '',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: '', refusal: null },
        logprobs: null,
        finish_reason: 'length',
      },
    ],
  }
}

const AT_CAP = /^Could not finish the message because max_(?:completion_)?tokens\b/i
