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

self.onmessage = ({ data }: MessageEvent<ToCount>) => {
  self.postMessage({ id: data.id, tokens: countTokens(data.text, PLAIN) } satisfies Counted)
}
