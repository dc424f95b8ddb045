// HTTP/1.1 messages read from raw sockets, requests and answers alike: the provider and the stream generator share it,
// because both must cost as little as possible beside what they measure.

/** What a reader tells: the head (start line and fields, no blank line), body bytes as they come, the end. */
type MessageListener = { head(head: string): void; body(bytes: Buffer): void; end(): void }

/** Bytes in, in any split. */
type MessageReader = { push(bytes: Buffer): void }

type Phase = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer'

const CONTENT_LENGTH = /^content-length: *(\d+)/im
const CHUNKED = /^transfer-encoding: *chunked/im

/** One reader per connection; messages follow each other on it. Throws on a chunk size that is no number. */
export const createMessageReader = (listener: MessageListener): MessageReader => {
  let phase: Phase = 'head'
  let left = 0
  let rest: Buffer | undefined

  const begin = (head: string): void => {
    listener.head(head)
    if (CHUNKED.test(head)) phase = 'chunk-size'
    else {
      left = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0)
      phase = left > 0 ? 'length' : 'head'
      if (left === 0) listener.end()
    }
  }

  /** Body bytes from `at`; returns where the next thing starts. */
  const take = (bytes: Buffer, at: number, next: Phase): number => {
    const end = Math.min(bytes.length, at + left)
    listener.body(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
    left -= end - at
    if (left === 0) phase = next
    return end
  }

  const line = (text: string): void => {
    if (phase === 'chunk-size') {
      left = Number.parseInt(text, 16)
      if (Number.isNaN(left)) throw new Error(`chunk size expected, found ${JSON.stringify(text.slice(0, 40))}`)
      phase = left > 0 ? 'chunk' : 'trailer'
    } else if (phase === 'chunk-end') phase = 'chunk-size'
    else if (text === '') {
      phase = 'head'
      listener.end()
    }
  }

  return {
    push(incoming) {
      const bytes = rest ? Buffer.concat([rest, incoming]) : incoming
      rest = undefined
      let at = 0
      while (at < bytes.length) {
        if (phase === 'length') {
          at = take(bytes, at, 'head')
          if (left === 0) listener.end()
        } else if (phase === 'chunk') at = take(bytes, at, 'chunk-end')
        else {
          const mark = phase === 'head' ? '\r\n\r\n' : '\r\n'
          const end = bytes.indexOf(mark, at)
          if (end < 0) {
            rest = bytes.subarray(at)
            return
          }
          const text = bytes.toString('latin1', at, end)
          at = end + mark.length
          if (phase === 'head') begin(text)
          else line(text)
        }
      }
    },
  }
}
