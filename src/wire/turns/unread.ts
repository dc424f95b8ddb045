// What a conversation holds that no translation reads: what has been said, what tools have said, and pictures. By a client's
// body as it stands. Of each its beginning tells all that is asked of it.

import { asList, asObjects, isObject, type Json, type JsonObject } from '../../ir/json.ts'

/** `isData`: base64, which is written anew where it has anything but its standard alphabet. */
export type Unread = { readonly text: string; readonly isData?: true }

/**
 * `answers`: also what the model has said, as far as nothing stands at a place within it. Not its last words, which another
 * wire may be asked to go on with.
 */
export function* unreadIn(body: JsonObject, answers: boolean): Generator<Unread> {
  for (const list of [asList(body.messages), asList(body.input)]) {
    // What stands behind it may have nothing in it.
    const last = list.findLastIndex((turn) => isObject(turn) && turn.role === 'assistant')
    for (const [at, turn] of list.entries())
      if (isObject(turn)) yield* turn.role === 'assistant' ? answersIn(turn, answers && at < last) : toldIn(turn)
  }
  yield* instructionsIn(body.system)
  // Not `instructions`: an answer says them again.
}

function* toldIn(turn: JsonObject): Generator<Unread> {
  const { role, type, content } = turn
  if (type === 'function_call_output' || type === 'custom_tool_call_output') yield* shownIn(turn.output)
  else if (role === 'system' || role === 'developer') yield* instructionsIn(content)
  else if (role === 'tool') yield* shownIn(content)
  else if (role === 'user') {
    yield* shownIn(content)
    for (const block of asObjects(content))
      if (block.type === 'tool_result' && (block.is_error === undefined || block.is_error === false))
        yield* shownIn(block.content)
  }
}

/** The line by which some agents' vendors bill is recognised by its end. */
function* instructionsIn(content: Json | undefined): Generator<Unread> {
  for (const one of textsIn(content)) if (!one.text.startsWith('x-')) yield one
}

function* answersIn(turn: JsonObject, areAnswers: boolean): Generator<Unread> {
  if (!areAnswers || turn.annotations !== undefined) return
  const { content } = turn
  if (typeof content === 'string') yield { text: content }
  else
    for (const part of asObjects(content))
      if (part.citations === undefined && asList(part.annotations).length === 0) yield* textOf(part)
}

const TEXTS = new Set<Json | undefined>(['text', 'input_text', 'output_text'])

function* textOf({ type, text }: JsonObject): Generator<Unread> {
  if (TEXTS.has(type) && typeof text === 'string') yield { text }
}

function* textsIn(content: Json | undefined): Generator<Unread> {
  if (typeof content === 'string') yield { text: content }
  else for (const part of asObjects(content)) yield* textOf(part)
}

function* shownIn(content: Json | undefined): Generator<Unread> {
  yield* textsIn(content)
  for (const part of asObjects(content)) yield* pictureIn(part)
}

/** What declares itself to be anything else may be text, which is read. */
const PICTURE = /^data:image\/[\w.+-]+;base64,/i

function* pictureIn({ type, source, image_url: image }: JsonObject): Generator<Unread> {
  if (type === 'image' && isObject(source) && source.type === 'base64' && typeof source.data === 'string')
    yield { text: source.data, isData: true }
  const url = isObject(image) ? image.url : image
  if ((type === 'image_url' || type === 'input_image') && typeof url === 'string' && PICTURE.test(url))
    yield { text: url, isData: true }
}
