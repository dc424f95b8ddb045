// Prompt caching: which prefixes of prompts a vendor has seen, and what a request reads from and writes to the cache.

import { createRecent } from '../lib/recent.ts'
import type { Prompt } from './prompt.ts'

export type CacheFigures = { input: number; cacheRead: number; cacheWrite5m: number; cacheWrite1h: number }
type Prefixes = { use(prompt: Prompt, salt: string): CacheFigures }

const KEPT = 10_000

/**
 * A prompt is cached up to its breakpoints and read up to the longest prefix kept from an earlier one of the same
 * model and `salt`. The vendors' least size (1,024 tokens) is left out: a demo's prompts are short.
 */
export const createPrefixes = (): Prefixes => {
  const seen = createRecent<bigint, true>(KEPT)
  return {
    use: ({ model, segments }, salt) => {
      const last = segments.findLastIndex((part) => part.breakpoint !== undefined)
      const figures = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
      let hash = Bun.hash.wyhash(`${salt}\n${model}`)
      const hashes = segments.map((part) => {
        hash = Bun.hash.wyhash(part.text, hash)
        return hash
      })
      const read = hashes.findLastIndex((prefix, at) => at <= last && seen.get(prefix) === true)
      segments.forEach((part, at) => {
        if (at <= read) figures.cacheRead += part.tokens
        else if (at > last) figures.input += part.tokens
        else {
          const next = segments.slice(at).find((later) => later.breakpoint !== undefined)
          if (next?.breakpoint === '1h') figures.cacheWrite1h += part.tokens
          else figures.cacheWrite5m += part.tokens
        }
        const prefix = hashes[at]
        if (part.breakpoint !== undefined && prefix !== undefined) seen.set(prefix, true)
      })
      return figures
    },
  }
}
