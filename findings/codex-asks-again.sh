#!/usr/bin/env bash
# @openai/codex 0.171.0 (npm), `codex exec` by a provider of its own that refuses a request for good.
# Guess: what its server cannot answer however often it is asked is asked for once: a wrong key (401), no money (402), what a
# key may not use (403), a model that is not there (404), as a wrong request (400) is.
# Seen: only the 400 is. The others are asked for five times more, x-should-retry: false or not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit @openai/codex@0.171.0
cat >run.mjs <<'JS'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

let asked = 0
let answer = { status: 400, headers: {} }
const api = createServer(async (request, response) => {
  for await (const _ of request);
  if (request.method === 'POST') asked++
  const error = { message: 'Not for you.', type: 'invalid_request_error', code: 'refused' }
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
  response.end(JSON.stringify({ error }))
})
api.listen(0, '127.0.0.1')
await once(api, 'listening')

mkdirSync('home/.codex', { recursive: true })
mkdirSync('work', { recursive: true })
writeFileSync(
  'home/.codex/config.toml',
  `model = "some-model"
model_provider = "own"
[model_providers.own]
name = "own"
base_url = "http://127.0.0.1:${api.address().port}/v1"
wire_api = "responses"
env_key = "OWN_KEY"
`,
)

const ask = async (status, headers = {}) => {
  answer = { status, headers }
  asked = 0
  const words = ['exec', '--skip-git-repo-check', 'Good morning']
  const child = spawn(`${process.cwd()}/node_modules/.bin/codex`, words, {
    cwd: 'work',
    env: { PATH: process.env.PATH, HOME: `${process.cwd()}/home`, OWN_KEY: 'key' },
    stdio: 'ignore',
  })
  await once(child, 'exit')
  return asked
}
for (const status of [400, 401, 402, 403, 404]) console.log(`${status}: asked ${await ask(status)}`)
console.log(`404, x-should-retry false: asked ${await ask(404, { 'x-should-retry': 'false' })}`)
process.exit(0)
JS
node run.mjs >seen
cat seen
diff - seen <<'SEEN'
400: asked 1
401: asked 6
402: asked 6
403: asked 6
404: asked 6
404, x-should-retry false: asked 6
SEEN
