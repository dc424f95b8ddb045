// Instructions among the blocks of a message: a system turn of their own, as they are where they stand in a message of
// their own.

import type { JsonObject } from '../../ir/json.ts'
import type { CacheMark, SystemPart } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { Turn } from '../../ir/request.ts'
import { cacheOf } from './decode-content.ts'
import { decodeContent, systemPart } from './decode-parts.ts'
import type { Collected } from './extras.ts'

export type Instructions = { instructions: SystemPart[] }

const MEMBERS = new Set(['type', 'content', 'cache_control'])

export const isInstructions = ({ type }: JsonObject): boolean => type === 'mid_conv_system'

export const decodeInstructions = (block: JsonObject, path: string, extras: Collected): Instructions => {
  extras.rest(block, MEMBERS, path)
  const parts = decodeContent(block.content, `${path}.content`, systemPart(extras))
  const { cache } = cacheOf(block, path)
  return { instructions: cache === undefined ? parts : marked(parts, cache, path) }
}

/** The block's own mark, at the end of its text. */
const marked = (parts: SystemPart[], cache: CacheMark, path: string): SystemPart[] => {
  const last = parts.findLastIndex(({ type }) => type === 'text')
  return parts.map((part, at) => (at === last && part.type === 'text' ? placed({ ...part, cache }, path) : part))
}

const isApart = (part: object): part is Instructions => 'instructions' in part

/** `turn` makes one of what stands between instructions. */
export const turnsOf = <P extends object>(
  parts: readonly (P | Instructions)[],
  path: string,
  turn: (parts: P[]) => Turn,
): Turn[] => {
  const turns: Turn[] = []
  let own: P[] = []
  const end = (): void => {
    if (own.length > 0) turns.push(placed(turn(own), path))
    own = []
  }
  for (const part of parts) {
    if (!isApart(part)) {
      own.push(part)
      continue
    }
    end()
    turns.push(placed({ role: 'system', parts: part.instructions }, placeOf(part, path)))
  }
  end()
  return turns.length > 0 ? turns : [placed(turn([]), path)]
}
