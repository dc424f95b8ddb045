// The tokenizer's thread: texts in, token counts out.

import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { answerAsks } from '../lib/thread.ts'
import { tokensOf } from './tokens.ts'

/** Counting can wait; the streams that share the processor cannot. */
const NICENESS = 10

try {
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS)
} catch {
  // Only Linux gives a thread a priority of its own.
}

answerAsks(tokensOf)
