// A conversation that ends with an assistant turn. On the messages wire that is a prefill: the model continues it, and the
// client prepends it to the answer. On the other wires it is a finished turn.

import type { ChatRequest, Turn } from '../../ir/request.ts'

export const CONTINUE =
  'Go on with your last message from the very character where it ends. Give only what comes next, without a word about it.'

/** The turn that a client of the messages wire has begun for the model: other wires need an instruction to continue it. */
export const prefilledTurn = ({ origin, turns }: ChatRequest): Turn | undefined => {
  const last = turns.at(-1)
  if (origin !== 'messages' || last?.role !== 'assistant') return undefined
  if (last.parts.some(({ type }) => type === 'tool-call')) return undefined
  return last.parts.some((part) => part.type === 'text' && part.text.trim() !== '') ? last : undefined
}
