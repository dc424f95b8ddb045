// A conversation that ends with the model's own words. On the messages wire its client has begun the answer with them and
// puts them before what comes; on the others they are a turn that is over.

import type { ChatRequest, Turn } from '../ir/request.ts'

export const CONTINUE =
  'Go on with your last message from the very character where it ends. Give only what comes next, without a word about it.'

/** The turn that the client has begun for the model, where only words can ask a provider to go on with it. */
export const begunTurn = ({ origin, turns }: ChatRequest): Turn | undefined => {
  const last = turns.at(-1)
  if (origin !== 'messages' || last?.role !== 'assistant') return undefined
  if (last.parts.some(({ type }) => type === 'tool-call')) return undefined
  return last.parts.some((part) => part.type === 'text' && part.text.trim() !== '') ? last : undefined
}
