#!/usr/bin/env bash
# xsai 0.4.4 (npm, JavaScript), `streamText`: forms of a chat-completions stream that servers do send.
# Guess: lines may end in CRLF, `"error": null` says that there is none, and a usage that is told in every chunk is one that
# grows, of which the last one counts.
# Seen: where lines end in CRLF the end of every stream is an error, for `[DONE]` is compared with the CR behind it; a chunk
# with `"error": null` is an error of the server; and the usages of all chunks are added up in `totalUsage`, while `usage`
# has the last.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund xsai@0.4.4 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { streamText } from 'xsai'

process.on('unhandledRejection', () => {})
const chunk = (delta, finish_reason, more = {}) => JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }], ...more })
const usage = (completion_tokens) => ({ usage: { prompt_tokens: 10, completion_tokens, total_tokens: 10 + completion_tokens } })
const said = (more) => [chunk({ role: 'assistant', content: 'one' }, null, more[0]), chunk({ content: ' two' }, null, more[1]), chunk({}, 'stop', more[2]), '[DONE]']
const asked = async (datas, end) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(datas.map((data) => `data: ${data}${end}${end}`).join(''))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const told = streamText({ baseURL: `http://127.0.0.1:${server.address().port}/`, apiKey: 'k', model: 'm', messages: [{ role: 'user', content: 'x' }] })
  let text = ''
  try {
    for await (const piece of told.textStream) text += piece
    const [last, total] = [await told.usage, await told.totalUsage]
    return `"${text}"${last === undefined ? '' : `, usage ${last.total_tokens}, totalUsage ${total.total_tokens}`}`
  } catch (error) {
    return `${error.name}: ${error.message.split(' ').slice(0, 3).join(' ')}`
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
console.log('LF:', await asked(said([]), '\n'))
console.log('CRLF:', await asked(said([]), '\r\n'))
console.log('error null:', await asked(said([{ error: null }, { error: null }, { error: null }]), '\n'))
console.log('usage at the end:', await asked(said([{}, {}, usage(2)]), '\n'))
console.log('usage in each:', await asked(said([usage(1), usage(2), usage(2)]), '\n'))
process.exit()
JS
node --no-warnings run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
LF: "one two"
CRLF: SyntaxError: Unexpected token 'D',
error null: Error: Error from server:
usage at the end: "one two", usage 12, totalUsage 12
usage in each: "one two", usage 12, totalUsage 35
SEEN
