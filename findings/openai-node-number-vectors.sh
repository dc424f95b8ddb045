#!/usr/bin/env bash
# openai 6.49.0 (npm, JavaScript): `embeddings.create` without `encoding_format`.
# Guess: a server that does not know `encoding_format`, and answers with a list of numbers, gives that list; the SDK asks for
# base64 of itself, and Python's takes both.
# Seen: the numbers are read as bytes, and four of them as one: eight come to two zeros, without an error. With
# `encoding_format: 'float'` they come as they are.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@6.49.0 >/dev/null
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import OpenAI from 'openai'

const embedding = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      object: 'list',
      model: 'm',
      data: [{ object: 'embedding', index: 0, embedding }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
  )
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}` })
const read = async (more) =>
  JSON.stringify((await client.embeddings.create({ model: 'm', input: 'x', ...more })).data[0].embedding)
console.log('as the SDK asks:', await read({}))
console.log('asked for as float:', await read({ encoding_format: 'float' }))
server.close()
server.closeAllConnections()
JS
node run.mjs >seen
cat seen
diff - seen <<'SEEN'
as the SDK asks: [0,0]
asked for as float: [0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8]
SEEN
