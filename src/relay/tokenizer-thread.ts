// The thread of the tokenizer: texts in, their tokens out.

import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

export type ToCount = { id: number; text: string }
export type Counted = { id: number; tokens: number }

declare const self: Worker

/** Counting can wait; the streams that share its processor cannot. */
const NICENESS = 10

try {
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS)
} catch {
  // Only Linux gives a thread a priority of its own.
}

const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

/** A word longer than any: what it costs to merge one grows with the square of its length. */
const RUN = /\S{256}|\s{256}/gu

const tokensOf = (text: string): number => {
  let tokens = 0
  let from = 0
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const end = index + run.length
    tokens += countTokens(text.slice(from, end), PLAIN)
    from = end
  }
  return tokens + countTokens(text.slice(from), PLAIN)
}

self.onmessage = ({ data }: MessageEvent<ToCount>) => {
  self.postMessage({ id: data.id, tokens: tokensOf(data.text) } satisfies Counted)
}
