#!/usr/bin/env bash
# @mistralai/mistralai 2.7.0 (npm, JavaScript), pointed at a server of the chat-completions form.
# Guess: a tool call whose arguments come in pieces is read as by other clients of that form: the first delta has id and
# name, those after it have arguments alone.
# Seen: the client's schema demands `function.name` of every delta; the stream throws a ZodError at the second one. A call
# that is whole in one delta is read. An end with `finish_reason: content_filter`, which its own vendor does not have in its
# documentation, is taken as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @mistralai/mistralai@2.7.0 >/dev/null
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { Mistral } from '@mistralai/mistralai'

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }], ...(finish_reason && { usage }) })}\n\n`
const read = async (chunks) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${chunks.join('')}data: [DONE]\n\n`)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new Mistral({ apiKey: 'k', serverURL: `http://127.0.0.1:${server.address().port}` })
  let last
  try {
    for await (const { data } of await client.chat.stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] })) last = data
    return `read, ends as ${last.choices[0].finishReason}`
  } catch (error) {
    return `throws ${error.constructor.name}`
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
const call = (of) => ({ tool_calls: [{ index: 0, ...of }] })
console.log('one delta:', await read([chunk(call({ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } })), chunk({}, 'tool_calls')]))
console.log('two deltas:', await read([chunk(call({ id: 'a', type: 'function', function: { name: 'f', arguments: '{' } })), chunk(call({ function: { arguments: '}' } })), chunk({}, 'tool_calls')]))
console.log('filtered:', await read([chunk({ role: 'assistant', content: 'a' }), chunk({ content: '' }, 'content_filter')]))
JS
node run.mjs >seen
cat seen
diff - seen <<'SEEN'
one delta: read, ends as tool_calls
two deltas: throws ZodError
filtered: read, ends as content_filter
SEEN
