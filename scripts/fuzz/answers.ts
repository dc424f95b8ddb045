// Answers of a provider that is malformed: its HTTP, its JSON, its events.

import type { Socket } from 'node:net'
import type { Chance } from './chance.ts'

const CHAT =
  '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}'
const MESSAGE =
  '{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}'
const CHUNK = 'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n'

/** Texts that are costly to read, of about so many bytes. */
const costly = (chance: Chance): string => {
  const bytes = chance.pick([1_000, 100_000, 2_000_000])
  return chance.pick([
    () => '['.repeat(bytes),
    () => `[${'[],'.repeat(bytes / 3)}1]`,
    () => `[${'1,'.repeat(bytes / 2)}1]`,
    () => `"${'\\n'.repeat(bytes / 2)}"`,
    () => '9'.repeat(bytes),
  ])()
}

const broken = (text: string, chance: Chance): string => {
  const at = chance.below(text.length)
  return text.slice(0, at) + chance.text() + text.slice(at + chance.below(4))
}

const bodyOf = (chance: Chance): string =>
  chance.pick([
    () => CHAT,
    () => MESSAGE,
    () => broken(CHAT, chance),
    () => broken(MESSAGE, chance),
    () => CHAT.replace('"hi"', () => costly(chance)),
    () => `${CHUNK.repeat(chance.below(50))}data: [DONE]\n\n`,
    () => CHUNK + CHUNK.replace('"hi"', () => costly(chance)),
    () => broken(CHUNK.repeat(3), chance),
    () => 'data: '.repeat(1 + chance.below(3_000)),
    () => costly(chance),
    () => chance.text(),
    () => `{"error":{"message":${costly(chance)}}}`,
  ])()

const ok = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`

/** Answers a request of which something has come: now and then as it should, so that there is something to bill. */
export const answerOf = (socket: Socket, asked: string, chance: Chance): void => {
  if (chance.of(0.3)) {
    socket.end(ok(asked.includes('/messages') ? MESSAGE : CHAT))
    return
  }
  const body = bodyOf(chance)
  const status = chance.pick([
    '200 OK',
    '200 OK',
    '200 OK',
    '400 Bad',
    '429 Slow',
    '500 No',
    '204 None',
    '301 Moved',
    '999 ?',
  ])
  const type = chance.pick(['application/json', 'text/event-stream', 'text/html'])
  const head = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n`
  const write = chance.pick([
    () => socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`),
    () => socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`),
    () => socket.end(`${head}Content-Length: ${Buffer.byteLength(body) + 9}\r\n\r\n${body}`),
    () => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\n${chance.pick(['zz', '5', '-1'])}\r\n${body}`),
    () => socket.end(`${head}Content-Encoding: gzip\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    () => socket.end(`${head}Connection: close\r\n\r\n${body}`),
    () => socket.end(chance.text()),
    () => socket.destroy(),
  ])
  write()
}
