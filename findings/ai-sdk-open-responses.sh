#!/usr/bin/env bash
# @ai-sdk/open-responses 2.0.36 with ai 7.0.173 (npm, JavaScript), which are made for any server of the responses wire.
# Guess: what a server says in a refusal is the message of the error, as with @ai-sdk/openai; an answer in which the model
# declines, a part of the type `refusal`, is read as one.
# Seen: the message is the server's only where `param` and `code` are texts. With `null`, as the vendor whose wire it is has
# them where no member is to blame, the message is the status in words ("Bad Request"). A `refusal` in a whole answer is a
# TypeError.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ai-sdk/open-responses@2.0.36 ai@7.0.173 zod@4.6.7 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { createOpenResponses } from '@ai-sdk/open-responses'
import { generateText } from 'ai'

let answer
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${server.address().port}/v1/responses`
const model = createOpenResponses({ name: 'server', url, apiKey: 'k' })('m')

const asked = async (status, body) => {
  answer = { status, body }
  return generateText({ model, prompt: 'x', maxRetries: 0 }).then(
    ({ text }) => `"${text}"`,
    (error) => `${error.name}${error.statusCode === undefined ? '' : `, "${error.message}"`}`,
  )
}
const refused = (param) => ({ error: { message: 'The prompt is too long.', type: 'invalid_request_error', param, code: 'too_long' } })
const said = (part) => ({
  id: 'r',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [{ id: 'i', type: 'message', role: 'assistant', status: 'completed', content: [part] }],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
})

console.log('refused, param a text:', await asked(400, refused('input')))
console.log('refused, param null:', await asked(400, refused(null)))
console.log('output_text:', await asked(200, said({ type: 'output_text', text: 'No.', annotations: [] })))
console.log('refusal:', await asked(200, said({ type: 'refusal', refusal: 'No.' })))
server.close()
JS
node run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
refused, param a text: AI_APICallError, "The prompt is too long."
refused, param null: AI_APICallError, "Bad Request"
output_text: "No."
refusal: TypeError
SEEN
