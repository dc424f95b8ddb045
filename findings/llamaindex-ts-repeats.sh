#!/usr/bin/env bash
# @llamaindex/openai 0.4.22 (npm, JavaScript), `OpenAIResponses`, streaming.
# Guess: a stream's `delta`s, put together, are the text of the answer.
# Seen: every event after a text delta gives that delta once more, whatever the event is: the four that end an answer of the
# vendor's own repeat its last piece four times. An event that says nothing of the text, as a relay sends to keep the
# connection open (`response.in_progress`), repeats a piece in the middle. Whole answers are right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @llamaindex/openai@0.4.22 llamaindex@0.12.1 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { OpenAIResponses } from '@llamaindex/openai'

const part = (text) => ({ type: 'output_text', text, annotations: [] })
const item = (status, content) => ({ id: 'i', type: 'message', role: 'assistant', status, content })
const response = (status, output, usage) => ({ id: 'r', object: 'response', created_at: 1, status, model: 'm', output, usage })
const of = { item_id: 'i', output_index: 0, content_index: 0 }
const done = item('completed', [part('one two')])
const begun = [
  { type: 'response.created', response: response('in_progress', [], null) },
  { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
  { type: 'response.content_part.added', ...of, part: part('') },
  { type: 'response.output_text.delta', ...of, delta: 'one' },
]
const idle = { type: 'response.in_progress', response: response('in_progress', [], null) }
const rest = [
  { type: 'response.output_text.delta', ...of, delta: ' two' },
  { type: 'response.output_text.done', ...of, text: 'one two' },
  { type: 'response.content_part.done', ...of, part: part('one two') },
  { type: 'response.output_item.done', output_index: 0, item: done },
  { type: 'response.completed', response: response('completed', [done], { input_tokens: 1, output_tokens: 2, total_tokens: 3 }) },
]
const asked = async (events, stream) => {
  const server = createServer((request, answer) => {
    request.resume()
    answer.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    if (!stream) return answer.end(JSON.stringify(rest.at(-1).response))
    answer.end(events.map((data, sequence_number) => `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number })}\n\n`).join(''))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const model = new OpenAIResponses({ model: 'm', apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}`, maxRetries: 0 })
  const answer = await model.chat({ messages: [{ role: 'user', content: 'x' }], stream })
  let text = stream ? '' : answer.message.content
  if (stream) for await (const { delta } of answer) text += delta
  server.close()
  server.closeAllConnections()
  return text
}
console.log('whole:', await asked([], false))
console.log('streamed:', await asked([...begun, ...rest], true))
console.log('streamed, kept open in between:', await asked([...begun, idle, idle, ...rest], true))
JS
node --no-warnings run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
whole: one two
streamed: one two two two two two
streamed, kept open in between: oneoneone two two two two two
SEEN
