// What tools have said in a conversation: mostly the longest texts in it, and no concern of any translation. By a client's body
// as it stands, on the wires that have messages.

import { asObjects, isObject, type JsonObject } from '../../ir/json.ts'

/** Every text of a result that is no failure, of which the beginning would tell. */
export function* textsOfResults(body: JsonObject): Generator<string> {
  for (const message of asObjects(body.messages)) {
    if (message.role === 'tool') yield* textsIn(message)
    else if (message.role === 'user')
      for (const block of asObjects(message.content))
        if (block.type === 'tool_result' && (block.is_error === undefined || block.is_error === false))
          yield* textsIn(block)
  }
}

function* textsIn({ content }: JsonObject): Generator<string> {
  if (typeof content === 'string') yield content
  else if (Array.isArray(content))
    for (const part of content)
      if (isObject(part) && part.type === 'text' && typeof part.text === 'string') yield part.text
}
