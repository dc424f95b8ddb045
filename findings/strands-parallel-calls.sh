#!/usr/bin/env bash
# @strands-agents/sdk 1.19.0 (npm, JavaScript), `OpenAIModel` with `api: 'chat'`, as its agent streams always.
# Guess: two tool calls of one answer, told one after the other by their `index`, are both run.
# Seen: only the last one is. A block is begun at each call, but none is ended before `finish_reason`, and there the first
# is overwritten: the agent runs one tool and sends back an assistant turn with that one call, as if there had been no other.
# By the responses API, which is its default, both are run.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @strands-agents/sdk@1.19.0 openai@6.49.0 zod@4 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { Agent, tool } from '@strands-agents/sdk'
import { OpenAIModel } from '@strands-agents/sdk/models/openai'
import { z } from 'zod'

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const call = (index, of) => chunk({ tool_calls: [{ index, ...of }] })
const told = (index, city) =>
  call(index, { id: `call_${city}`, type: 'function', function: { name: 'weather', arguments: '' } }) +
  call(index, { function: { arguments: '{"city":' } }) +
  call(index, { function: { arguments: `"${city}"}` } })
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const item = (city) => ({ id: `fc_${city}`, type: 'function_call', status: 'completed', call_id: `call_${city}`, name: 'weather', arguments: `{"city":"${city}"}` })
const text = { id: 'msg', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done', annotations: [] }] }
const response = (output, status) => ({ id: 'r', object: 'response', created_at: 1, status, model: 'm', output, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } })
const responses = (output) =>
  [
    { type: 'response.created', response: response([], 'in_progress') },
    ...output.flatMap((one, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...one, ...(one.arguments && { arguments: '', status: 'in_progress' }), ...(one.content && { content: [] }) } },
      one.arguments
        ? { type: 'response.function_call_arguments.delta', item_id: one.id, output_index, delta: one.arguments }
        : { type: 'response.output_text.delta', item_id: one.id, output_index, content_index: 0, delta: 'done' },
      ...(one.arguments ? [{ type: 'response.function_call_arguments.done', item_id: one.id, output_index, arguments: one.arguments }] : []),
      { type: 'response.output_item.done', output_index, item: one },
    ]),
    { type: 'response.completed', response: response(output, 'completed') },
  ].map(event).join('')

const run = async (api) => {
  const ran = []
  let sent = 0
  const server = createServer((request, answer) => {
    let body = ''
    request.on('data', (piece) => (body += piece))
    request.on('end', () => {
      const { messages, input } = JSON.parse(body)
      const results = (messages ?? input).filter(({ role, type }) => role === 'tool' || type === 'function_call_output').length
      if (results > 0) sent = results
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      if (messages === undefined) return answer.end(responses(results > 0 ? [text] : [item('Oslo'), item('Rome')]))
      const said = results > 0 ? chunk({ content: 'done' }) + chunk({}, 'stop') : told(0, 'Oslo') + told(1, 'Rome') + chunk({}, 'tool_calls')
      answer.end(`${chunk({ role: 'assistant', content: '' })}${said}data: [DONE]\n\n`)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const model = new OpenAIModel({ api, modelId: 'm', apiKey: 'k', clientConfig: { baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 } })
  const weather = tool({
    ...{ name: 'weather', description: 'the weather', inputSchema: z.object({ city: z.string() }) },
    callback: ({ city }) => {
      ran.push(city)
      return 'sunny'
    },
  })
  await new Agent({ model, tools: [weather], printer: false }).invoke('x')
  server.close()
  server.closeAllConnections()
  return `ran ${ran.sort().join(' and ')}, results sent ${sent}`
}
console.log('chat:', await run('chat'))
console.log('responses:', await run('responses'))
process.exit()
JS
node --no-warnings run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
chat: ran Rome, results sent 1
responses: ran Oslo and Rome, results sent 2
SEEN
