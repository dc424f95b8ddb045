// The tokenizer's worker thread: texts in, token counts out.

import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

export type ToCount = { id: number; text: string }
export type Counted = { id: number; tokens: number }

declare const self: Worker

/** Counting can wait; the streams that share the processor cannot. */
const NICENESS = 10

try {
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS)
} catch {
  // Only Linux gives a thread a priority of its own.
}

const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

/** Longer than any word: the cost of merging a run grows with the square of its length, so long ones are cut. */
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
