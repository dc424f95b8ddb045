// The thread of the tokenizer: texts in, their tokens out.

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

export type ToCount = { id: number; text: string }
export type Counted = { id: number; tokens: number }

declare const self: Worker

const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

self.onmessage = ({ data }: MessageEvent<ToCount>) => {
  self.postMessage({ id: data.id, tokens: countTokens(data.text, PLAIN) } satisfies Counted)
}
