// Servers that do not know the output cap by its name write on beyond it: the requests after are sent it by its older name.

import type { GatewayError } from '../../errors.ts'
import type { Usage } from '../../ir/usage.ts'
import { CODECS } from '../../wire/index.ts'
import type { Exchange } from '../exchange.ts'
import type { Target } from '../target.ts'
import { quirksOf } from '../translate.ts'
import type { Detours } from './detours.ts'

const OLDER = 'max_tokens' as const
const NEWER = 'max_completion_tokens' as const

type Answered = Pick<Exchange, 'reservation'> &
  Partial<Pick<Exchange, 'bodyWire' | 'body'>> & { key: Pick<Exchange['key'], 'id'> }

/** Remembers of a target that its answer's figures show that it has not read its cap. */
export const heedOverrun = (
  detours: Detours,
  { key, bodyWire, body, reservation }: Answered,
  target: Target,
  { output = 0, reasoning = 0 }: Usage,
): void => {
  if (target.wire !== 'chat-completions' || bodyWire === undefined || body === undefined) return
  const { n, max_tokens: older } = body.outline
  const caps = [CODECS[bodyWire].outputCap(body.outline), reservation.outputCap, target.outputCap]
  const cap = Math.min(...caps.filter((one) => one !== undefined))
  // Some count thought beside the cap, and it is of each of several answers.
  const isUnread = isBeyond(output - reasoning, cap) && !(Number(n) > 1)
  if (!isUnread || (bodyWire === target.wire && older !== undefined) || quirksOf(target).maxTokensField) return
  const learned = { ...target.learned, maxTokensField: OLDER, guessesCap: true as const }
  detours.rememberLearned({ key, bodyWire, body }, { ...target, learned })
}

/** The target asked by the name that stood before the guess, where it refuses the other; never guessed at again. */
export const withoutGuess = ({ remedy, place, named }: GatewayError, target: Target): Target | undefined => {
  const isOfName = remedy !== 'lower-cap' && remedy !== 'higher-cap' && (place?.[0] === OLDER || named?.includes(OLDER))
  return target.learned?.guessesCap === true && (remedy === 'newer-cap' || isOfName)
    ? { ...target, learned: { ...target.learned, maxTokensField: NEWER, guessesCap: undefined } }
    : undefined
}

/** By far more than servers differ in how they count. */
const isBeyond = (written: number, cap: number): boolean => written > cap * 1.25 + 16
