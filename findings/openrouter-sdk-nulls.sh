#!/usr/bin/env bash
# @openrouter/sdk 1.3.19 (npm, JavaScript), `chat.send`, pointed by `serverURL` at a server of the chat-completions form.
# Guess: chunks with `usage: null`, which `stream_options: { include_usage: true }` puts into each but the last, are read, for
# that is how the form is documented; and a refusal raises the class for its status.
# Seen: such a chunk is a ZodError, before any text: a member that has nothing to say has to be left out, as its own service
# does. A refusal whose `code` is a word ("model_not_found") is a ResponseValidationError without the server's words; with a
# number there it is a NotFoundResponseError with them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @openrouter/sdk@1.3.19 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { OpenRouter } from '@openrouter/sdk'

const chunk = (more) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })}\n\n`
const said = (more) =>
  [
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }], ...more }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...more }),
    chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    'data: [DONE]\n\n',
  ].join('')
const asked = async (status, body) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': status === 200 ? 'text/event-stream' : 'application/json' })
    response.end(body)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new OpenRouter({ apiKey: 'k', serverURL: `http://127.0.0.1:${server.address().port}`, retryConfig: { strategy: 'none' } })
  const chatRequest = { model: 'm', stream: true, streamOptions: { includeUsage: true }, messages: [{ role: 'user', content: 'x' }] }
  let text = ''
  try {
    for await (const { choices } of await client.chat.send({ chatRequest })) text += choices[0]?.delta.content ?? ''
    return `"${text}"`
  } catch (error) {
    return `"${text}", then ${error.constructor.name}${error.message.includes('no such model') ? ': no such model' : ''}`
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
const refusal = (code) => JSON.stringify({ error: { message: 'no such model', type: 'invalid_request_error', param: null, code } })
console.log('no usage but at the end:', await asked(200, said({})))
console.log('usage null before it:', await asked(200, said({ usage: null })))
console.log('refused, code 404:', await asked(404, refusal(404)))
console.log('refused, code model_not_found:', await asked(404, refusal('model_not_found')))
JS
node --no-warnings run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
no usage but at the end: "hi"
usage null before it: "", then ZodError
refused, code 404: "", then NotFoundResponseError: no such model
refused, code model_not_found: "", then ResponseValidationError
SEEN
