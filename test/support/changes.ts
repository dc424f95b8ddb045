// What an answer's decoding must undo of its request's encoding, apart from what it only has to know: the tools that went
// out under their own names, the stop sequences that it holds to.

import type { Undo } from '../../src/wire/codec.ts'
import { sentAs } from '../../src/wire/tools/heard.ts'

export const changes = ({ tools = {}, stop: _, ...undo }: Undo): Undo => {
  const renamed = Object.entries(tools).filter(([sent, { name, namespace }]) => sent !== sentAs(name, namespace))
  return renamed.length === 0 ? undo : { ...undo, tools: Object.fromEntries(renamed) }
}
