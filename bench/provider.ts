// The loopback provider, a process of its own: fixed answers on raw sockets, streams frame by frame as fast as the
// reader takes them. `POST /control` sets how streams behave. Listens on the port that it is told, or on any, and prints
// it as its first line.

import type { ChatWire } from '../src/ir/wire.ts'
import { deltaFrame, jsonAnswer, openingFrames, streamFrames } from './frames.ts'
import { createMessageReader } from './http-message.ts'

/**
 * `answer`: whole streams at full speed. `hold`: the opening frames, then silence. `pace`: the opening frames, then
 * one text delta every `intervalMs` that carries the time it was written (`@` and 16 digits, monotonic nanoseconds).
 */
export type StreamMode = { mode: 'answer' } | { mode: 'hold' } | { mode: 'pace'; intervalMs: number }

/** What `GET /control` answers: requests served and the path of the last one. */
export type ProviderState = { requests: number; path: string }

type Stream = { write(chunk: Buffer): boolean; frames: Buffer[]; next: number; slot: number; wire: ChatWire }

const WIRE_OF_PATH: Record<string, ChatWire> = {
  '/v1/chat/completions': 'chat-completions',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
}
const STREAM_MARK = '"stream":true'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const SSE_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\nx-request-id: req_bench\r\n\r\n',
)

const chunk = (text: string): Buffer => {
  const body = Buffer.from(text)
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')])
}
const json = (status: string, text: string): Buffer =>
  Buffer.from(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nx-request-id: req_bench\r\n\r\n${text}`,
  )

const each = <T>(make: (wire: ChatWire) => T): Record<ChatWire, T> => ({
  'chat-completions': make('chat-completions'),
  responses: make('responses'),
  messages: make('messages'),
})
const ANSWERS = each((wire) => json('200 OK', jsonAnswer(wire)))
const STREAMS = each((wire) => [SSE_HEAD, ...streamFrames(wire).map(chunk), LAST_CHUNK])
const OPENINGS = each((wire) => [SSE_HEAD, ...openingFrames(wire).map(chunk)])

let mode: StreamMode = { mode: 'answer' }
const state: ProviderState = { requests: 0, path: '' }

const running = new Set<Stream>()
let turning = false
/** One frame per stream and turn of the event loop: every frame is a write of its own, and streams take turns. */
const turn = (): void => {
  for (const stream of running) {
    const frame = stream.frames[stream.next++]
    if (frame === undefined || !stream.write(frame)) running.delete(stream)
  }
  turning = running.size > 0
  if (turning) setImmediate(turn)
}
const run = (stream: Stream): void => {
  running.add(stream)
  if (turning) return
  turning = true
  setImmediate(turn)
}

const paced = new Set<Stream>()
let ticks = 0
let slots = 0
const stamp = (): string => `@${String(process.hrtime.bigint()).padStart(16, '0')}`
setInterval(() => {
  ticks += 1
  if (mode.mode !== 'pace') return
  for (const stream of paced) {
    const opened = stream.next >= stream.frames.length
    if (opened && (ticks + stream.slot) % mode.intervalMs === 0) stream.write(chunk(deltaFrame(stream.wire, stamp())))
  }
}, 1)

const answer = (wire: ChatWire, streamed: boolean, write: Stream['write']): Stream | undefined => {
  if (!streamed) {
    write(ANSWERS[wire])
    return undefined
  }
  const frames = mode.mode === 'answer' ? STREAMS[wire] : OPENINGS[wire]
  const stream: Stream = { write, frames, next: 0, slot: slots++, wire }
  run(stream)
  if (mode.mode === 'pace') paced.add(stream)
  return stream
}

type Connection = { push(bytes: Buffer): void; drain(): void; close(): void }

const server = Bun.listen<Connection>({
  hostname: '127.0.0.1',
  port: Number(process.argv[2] ?? 0),
  socket: {
    open(socket) {
      let path = ''
      let method = ''
      let streamed = false
      let tail = ''
      let control = ''
      let unsent: Buffer | undefined
      let current: Stream | undefined

      /** False when the reader is behind: the stream waits for `drain`. */
      const write = (bytes: Buffer): boolean => {
        if (unsent) {
          unsent = Buffer.concat([unsent, bytes])
          return false
        }
        const sent = Math.max(0, socket.write(bytes))
        if (sent < bytes.length) unsent = bytes.subarray(sent)
        return unsent === undefined
      }

      const reader = createMessageReader({
        head(head) {
          ;[method = '', path = ''] = head.slice(0, head.indexOf('\r\n')).split(' ')
          path = path.split('?')[0] ?? ''
          streamed = false
          tail = ''
          control = ''
        },
        body(bytes) {
          if (path === '/control') control += bytes.toString()
          if (streamed) return
          // The mark may lie across two pieces of the body.
          const seam = tail + bytes.toString('latin1', 0, STREAM_MARK.length)
          streamed = bytes.indexOf(STREAM_MARK) >= 0 || seam.includes(STREAM_MARK)
          tail = bytes.toString('latin1', Math.max(0, bytes.length - STREAM_MARK.length))
        },
        end() {
          if (path === '/control') {
            if (method === 'POST') mode = JSON.parse(control) as StreamMode
            write(json('200 OK', JSON.stringify(state)))
            return
          }
          const wire = WIRE_OF_PATH[path]
          state.requests += 1
          state.path = path
          if (wire === undefined) write(json('404 Not Found', '{"error":{"message":"no such path"}}'))
          else current = answer(wire, streamed, write)
        },
      })

      socket.data = {
        push: reader.push,
        drain() {
          if (!unsent) return
          const sent = Math.max(0, socket.write(unsent))
          unsent = sent < unsent.length ? unsent.subarray(sent) : undefined
          if (!unsent && current) run(current)
        },
        close() {
          if (!current) return
          running.delete(current)
          paced.delete(current)
        },
      }
    },
    data(socket, bytes) {
      socket.data.push(bytes)
    },
    drain(socket) {
      socket.data.drain()
    },
    close(socket) {
      socket.data?.close()
    },
    error(socket) {
      socket.data?.close()
    },
  },
})

console.log(server.port)
