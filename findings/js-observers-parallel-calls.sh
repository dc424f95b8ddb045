#!/usr/bin/env bash
# @langfuse/openai 5.11.1 and @arizeai/openinference-instrumentation-openai 4.2.7 (npm, JavaScript) around openai 6.49.0,
# chat-completions, streaming with `stream_options: { include_usage: true }`.
# Guess: two tool calls of one answer are recorded as two, as the client itself reads them by their `index`, with its text and
# the usage of the last chunk.
# Seen: both record one call, whose arguments are those of both, one behind the other, and no JSON; openinference joins the
# ids and names, too, and records no tokens of a stream, though the chunk with them came. langfuse takes the reasoning out of
# the output (7 becomes 5) and leaves the text out where there are calls.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@6.49.0 @langfuse/openai@5.11.1 @arizeai/openinference-instrumentation-openai@4.2.7 \
  @opentelemetry/api@1.9.1 @opentelemetry/sdk-trace-base@2.12.1 @opentelemetry/sdk-trace-node@2.12.1 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import { observeOpenAI } from '@langfuse/openai'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import OpenAI from 'openai'

const spans = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
provider.register()
const data = (more) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })}\n\n`
const chunk = (delta, finish_reason = null) => data({ choices: [{ index: 0, delta, finish_reason }], usage: null })
const call = (index, of) => chunk({ tool_calls: [{ index, ...of }] })
const told = (index, city) =>
  call(index, { id: `call_${city}`, type: 'function', function: { name: 'weather', arguments: '' } }) +
  call(index, { function: { arguments: `{"city":"${city}"}` } })
const usage = { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17, completion_tokens_details: { reasoning_tokens: 2 } }
const answer = [chunk({ role: 'assistant', content: 'Looking.' }), told(0, 'Oslo'), told(1, 'Rome'), chunk({}, 'tool_calls'), data({ choices: [], usage }), 'data: [DONE]\n\n'].join('')
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(answer)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const recorded = async (wrapped) => {
  spans.reset()
  const client = wrapped(new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}`, maxRetries: 0 }))
  const stream = await client.chat.completions.create({ model: 'm', stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: 'x' }] })
  for await (const _ of stream);
  await new Promise((resolve) => setTimeout(resolve, 200))
  return Object.fromEntries(spans.getFinishedSpans().flatMap(({ attributes }) => Object.entries(attributes)))
}
const langfuse = await recorded((client) => observeOpenAI(client))
console.log('langfuse:', langfuse['langfuse.observation.output'])
console.log('langfuse:', langfuse['langfuse.observation.usage_details'])
const instrumentation = new OpenAIInstrumentation()
instrumentation.setTracerProvider(provider)
instrumentation.manuallyInstrument(OpenAI)
const openinference = await recorded((client) => client)
for (const [name, value] of Object.entries(openinference))
  if (name.startsWith('llm.output_messages') || name.startsWith('llm.token_count')) console.log(`openinference: ${name.replace('llm.output_messages.0.message.', '')} ${value}`)
server.close()
server.closeAllConnections()
JS
node --no-warnings run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
langfuse: {"tool_calls":[{"function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}{\"city\":\"Rome\"}"}}]}
langfuse: {"input":10,"output":5,"total":17,"output_reasoning_tokens":2}
openinference: content Looking.
openinference: role assistant
openinference: tool_calls.0.tool_call.id call_Oslocall_Rome
openinference: tool_calls.0.tool_call.function.name weatherweather
openinference: tool_calls.0.tool_call.function.arguments {"city":"Oslo"}{"city":"Rome"}
SEEN
