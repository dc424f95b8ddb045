// Providers on raw sockets, whose HTTP is unusual or none: what can be read is an answer, what cannot is an error of ours
// with nothing billed, and a stream that breaks says so.

import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { stopAfterAll } from '../support/stopping.ts'
import { type Attacked, openGateway, providersAt } from './support/gateway.ts'
import { eachRequest, type RawServer, startRaw } from './support/socket.ts'
import { STORIES, type Story } from './support/stories.ts'

type Bytes = string | Uint8Array
type Plays = (socket: Socket, story: Story) => void

const SECRET = 'provider-words-that-must-not-leak'

let plays: (socket: Socket) => void = () => undefined
let provider: RawServer
/** Waits for what comes, as long as a busy machine may take. */
let gateway: Attacked
/** Gives up soon. */
let hasty: Attacked

const tokens = async (at = gateway): Promise<number> => (await at.quiet()).sum('sluice_tokens_total')

beforeAll(async () => {
  provider = await startRaw((socket) => eachRequest(socket, () => plays(socket)))
  const origins = { a: [provider.origin], b: [provider.origin] }
  const timeouts = { connect: '200ms', first_byte: '400ms', idle: '400ms', total: '1s' }
  gateway = await openGateway({ providers: providersAt(origins), early_start: '10s' })
  hasty = await openGateway({ providers: providersAt(origins, timeouts), early_start: '10s' })
})
afterEach(async () => {
  for (const socket of provider.connections) socket.destroy()
  for (const each of [gateway, hasty]) await each.quiet()
})
stopAfterAll(() => [gateway, hasty, provider])

const bytes = (text: Bytes): Uint8Array => (typeof text === 'string' ? Buffer.from(text) : text)
const head = (stream: boolean, lines: string[], status = '200 OK'): string =>
  [`HTTP/1.1 ${status}`, `Content-Type: ${stream ? 'text/event-stream' : 'application/json'}`, ...lines, '\r\n'].join(
    '\r\n',
  )
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const CHUNKED = 'Transfer-Encoding: chunked'
const bodyOf = (story: Story, stream: boolean): string =>
  stream ? story.begin + story.word('hello') + story.end : JSON.stringify(story.answer)
const write = (socket: Socket, ...pieces: Bytes[]): void => {
  for (const piece of pieces) socket.write(piece)
}
/** An answer of these bytes with its length. */
const sized = (socket: Socket, stream: boolean, body: Bytes, { lines = [], status }: Head = {}): void =>
  write(socket, head(stream, [`Content-Length: ${bytes(body).length}`, ...lines], status), body)
type Head = { lines?: string[]; status?: string }
/** Writes on and on, as long as anyone is there. */
const endless = (socket: Socket, piece: () => string): void => {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(piece())), 10)
}

const ask = async (story: Story, stream: boolean, at = gateway) => {
  const response = await at.post(story.path, story.request(stream))
  const text = await response.text()
  expect(text + JSON.stringify([...response.headers])).not.toContain(SECRET)
  return { status: response.status, code: response.headers.get('x-gateway-error-code'), text }
}

const packed = (coding: string, pack: (text: Uint8Array) => Uint8Array): [string, (stream: boolean) => Plays] => [
  `is packed by ${coding}`,
  (stream) => (socket, story) =>
    sized(socket, stream, pack(bytes(bodyOf(story, stream))), { lines: [`Content-Encoding: ${coding}`] }),
]

const READ: [string, (stream: boolean) => Plays][] = [
  packed('br', brotliCompressSync),
  packed('deflate', deflateSync),
  packed('deflate', deflateRawSync),
  packed('zstd', zstdCompressSync),
  packed('gzip', gzipSync),
  packed('identity', (text) => text),
  [
    'is packed by gzip, and does not say so',
    (stream) => (socket, story) => sized(socket, stream, gzipSync(bodyOf(story, stream))),
  ],
  ...['gzip', 'br'].map((coding): [string, (stream: boolean) => Plays] => [
    `is said to be packed by ${coding}, and is not`,
    (stream) => (socket, story) =>
      sized(socket, stream, bodyOf(story, stream), { lines: [`Content-Encoding: ${coding}`] }),
  ]),
  [
    'has the status 201',
    (stream) => (socket, story) => sized(socket, stream, bodyOf(story, stream), { status: '201 Created' }),
  ],
  [
    'comes in the form that was not asked for',
    (stream) => (socket, story) => sized(socket, !stream, bodyOf(story, !stream)),
  ],
  [
    'follows other words of the server',
    (stream) => (socket, story) => {
      write(socket, 'HTTP/1.1 100 Continue\r\n\r\n', `HTTP/1.1 103 Early Hints\r\nLink: <${SECRET}>\r\n\r\n`)
      sized(socket, stream, bodyOf(story, stream))
    },
  ],
  [
    'has trailers',
    (stream) => (socket, story) =>
      write(
        socket,
        head(stream, [CHUNKED, 'Trailer: X-Words']),
        chunk(bodyOf(story, stream)),
        `0\r\nX-Words: ${SECRET}\r\n\r\n`,
      ),
  ],
  [
    'has chunks with extensions',
    (stream) => (socket, story) =>
      write(socket, head(stream, [CHUNKED]), chunk(bodyOf(story, stream)).replace('\r\n', ';a=b\r\n'), '0\r\n\r\n'),
  ],
  [
    'has a header of 70 KB',
    (stream) => (socket, story) =>
      sized(socket, stream, bodyOf(story, stream), { lines: [`X-Long: ${SECRET.repeat(2_100)}`] }),
  ],
  [
    'ends with its connection',
    (stream) => (socket, story) => {
      write(socket, head(stream, ['Connection: close']), bodyOf(story, stream))
      socket.end()
    },
  ],
  [
    'has bytes that are no UTF-8',
    (stream) => (socket, story) =>
      sized(socket, stream, Buffer.from(bodyOf(story, stream).replace('hello', 'hello\xff\xfe'), 'latin1')),
  ],
  [
    'has NUL bytes between its events',
    (stream) => (socket, story) => sized(socket, stream, bodyOf(story, stream).replaceAll('\n\n', '\n\n\0\n\n')),
  ],
  [
    'ends its lines with CR',
    (stream) => (socket, story) => sized(socket, stream, bodyOf(story, stream).replaceAll('\n', '\r')),
  ],
  [
    'begins with a byte order mark',
    (stream) => (socket, story) => sized(socket, stream, `\ufeff${bodyOf(story, stream)}`),
  ],
]

/** What the provider sends in place of an answer, with or without `stream`, and the error the client gets. */
const REFUSED: [string, boolean, Plays, string][] = [
  ['204', false, (socket) => write(socket, 'HTTP/1.1 204 No Content\r\n\r\n'), 'upstream_error'],
  ['204 for a stream', true, (socket) => write(socket, 'HTTP/1.1 204 No Content\r\n\r\n'), 'upstream_error'],
  [
    'a part of an answer (206)',
    false,
    (socket, story) =>
      sized(socket, false, bodyOf(story, false), {
        lines: ['Content-Range: bytes 0-9/10'],
        status: '206 Partial Content',
      }),
    'upstream_error',
  ],
  ['304', false, (socket) => write(socket, 'HTTP/1.1 304 Not Modified\r\n\r\n'), 'upstream_error'],
  ['a status nobody knows', false, (socket) => sized(socket, false, SECRET, { status: '999 What' }), 'upstream_error'],
  ['a status that is none', false, (socket) => sized(socket, false, SECRET, { status: '99 What' }), 'upstream_error'],
  [
    'a redirect to itself',
    false,
    (socket, story) =>
      sized(socket, false, '', {
        lines: [`Location: ${provider.origin}${story.path}?${SECRET}`],
        status: '307 Temporary Redirect',
      }),
    'upstream_error',
  ],
  [
    'a redirect to itself for a stream',
    true,
    (socket, story) => sized(socket, true, '', { lines: [`Location: ${story.path}`], status: '302 Found' }),
    'upstream_error',
  ],
  [
    'an offer of another protocol',
    false,
    (socket) => write(socket, 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    'upstream_error',
  ],
  [
    'a go-ahead and then nothing',
    false,
    (socket) => {
      write(socket, 'HTTP/1.1 100 Continue\r\n\r\n')
    },
    'gateway_timeout',
  ],
  ['half of its headers', false, (socket) => write(socket, 'HTTP/1.1 200 OK\r\nContent-Ty'), 'gateway_timeout'],
  [
    'half of its headers and a reset',
    true,
    (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Ty', () => socket.resetAndDestroy()),
    'upstream_error',
  ],
  [
    'headers without end',
    false,
    (socket) => {
      write(socket, 'HTTP/1.1 200 OK\r\n')
      endless(socket, () => `X-${Math.random()}: ${SECRET.repeat(10_000)}\r\n`)
    },
    'upstream_error',
  ],
  [
    'chunks of no size',
    false,
    (socket) => write(socket, head(false, [CHUNKED]), `zz\r\n${SECRET}\r\n0\r\n\r\n`),
    'upstream_error',
  ],
  [
    'a chunk larger than anything',
    true,
    (socket) => write(socket, head(true, [CHUNKED]), `FFFFFFFFFFFFFFFFFF\r\n${SECRET}`),
    'upstream_error',
  ],
  [
    'two lengths that differ',
    false,
    (socket, story) => sized(socket, false, bodyOf(story, false), { lines: ['Content-Length: 5'] }),
    'upstream_error',
  ],
  [
    'a length longer than its answer',
    false,
    (socket, story) => {
      write(socket, head(false, ['Content-Length: 9999']), bodyOf(story, false))
      socket.end()
    },
    'upstream_error',
  ],
  [
    'a length shorter than its answer',
    false,
    (socket, story) => write(socket, head(false, ['Content-Length: 20']), bodyOf(story, false)),
    'upstream_error',
  ],
  [
    'bytes that are packed another way than they say',
    true,
    (socket, story) =>
      sized(socket, true, brotliCompressSync(bodyOf(story, true)), { lines: ['Content-Encoding: zstd'] }),
    'upstream_error',
  ],
  [
    'comments alone',
    true,
    (socket) => {
      write(socket, head(true, [CHUNKED]))
      endless(socket, () => chunk(`: ${SECRET}\n\n`))
    },
    'gateway_timeout',
  ],
]

/** What follows the first words of a stream and breaks it. */
const BROKEN: [string, Plays][] = [
  ['a chunk of no size', (socket) => write(socket, `${SECRET}\r\n\r\n`)],
  ['the end of the connection within a chunk', (socket) => void socket.end('ff\r\ndata: {')],
  ['a reset', (socket) => socket.resetAndDestroy()],
  ['a NUL within an event', (socket, story) => write(socket, chunk(story.word('a~b').replace('~', '\0')))],
]

describe.each(STORIES.map((story) => [story.path, story] as const))('%s', (_, story) => {
  const both = READ.flatMap(([name, make]) => [false, true].map((stream) => [name, stream, make(stream)] as const))

  test.each(both)('an answer that %s is read (stream: %p)', async (_, stream, play) => {
    plays = (socket) => play(socket, story)
    const billed = await tokens()
    const { status, text } = await ask(story, stream)
    expect([status, text]).toEqual([200, expect.stringContaining('hello')])
    expect(text).not.toContain('event: error')
    expect((await tokens()) - billed).toBe(8)
  })

  test.each(REFUSED)('%s (stream: %p) is an error of ours, and costs nothing', async (_, stream, play, code) => {
    plays = (socket) => play(socket, story)
    const at = code === 'gateway_timeout' ? hasty : gateway
    const billed = await tokens(at)
    const answer = await ask(story, stream, at)
    expect([answer.code, JSON.parse(answer.text).error.code]).toEqual([code, code])
    expect((await tokens(at)) - billed).toBe(0)
  })

  test.each(BROKEN)(
    'a stream that goes on with %s ends with an error frame, and what came is billed',
    async (_, play) => {
      const begun = Promise.withResolvers<Socket>()
      plays = (socket) => {
        write(socket, head(true, [CHUNKED]), chunk(story.begin + story.word('some words')))
        begun.resolve(socket)
      }
      const billed = await tokens()
      // Once the answer has begun, the first words are out.
      const response = await gateway.post(story.path, story.request(true))
      play(await begun.promise, story)
      const text = await response.text()
      expect(text).toContain('some words')
      expect(text).not.toContain(SECRET)
      const last = text.trimEnd().split('\n\n').at(-1) ?? ''
      expect(last).toStartWith('event: error\ndata: ')
      expect(JSON.parse(last.slice(last.indexOf('{'))).error.code).toBe('upstream_error')
      expect((await tokens()) - billed).toBeGreaterThan(0)
    },
  )
})
