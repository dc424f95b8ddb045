// What an exchange is billed: the provider's figures where it gave them, the tokenizer's count where it did not.

import type { Model } from '../catalogue/model.ts'
import type { JsonObject } from '../ir/json.ts'
import { inTier, type Usage, withPrompt } from '../ir/usage.ts'
import type { Tap } from '../wire/codec.ts'
import type { JsonAnswer } from './attempt.ts'
import { countTokens } from './estimate.ts'
import type { Exchange } from './exchange.ts'

export type Metered = { usage: Usage; rawUsage: JsonObject | undefined; estimated: boolean }

/** Nothing was used. */
export const NOTHING: Metered = { usage: {}, rawUsage: undefined, estimated: false }

/** By the provider's figures; where they say nothing of the prompt the estimate stands in, as clients are shown. */
export const meterTold = (inputEstimate: number, told: Usage, rawUsage: JsonObject | undefined): Metered => {
  const usage = withPrompt(told, inputEstimate)
  return { usage, rawUsage, estimated: usage !== told }
}

/** `final`: the provider's terminal event was seen, so that its last figures are the whole. */
export const meterStream = async (exchange: Exchange, tap: Tap, final: boolean): Promise<Metered> => {
  const { rawUsage } = tap
  const usage = inTier(tap.usage ?? {}, tap.serviceTier)
  const { inputEstimate } = exchange.body
  if (final && tap.summed && usage.output !== undefined) return meterTold(inputEstimate, usage, rawUsage)
  if (exchange.model.kind === 'image') {
    // A picture has no words to count: begun for a client that left it is paid for, broken off by the provider it is not.
    const made = final || exchange.client.left ? imagesAsked(exchange.body.outline) : 0
    return { usage: { ...usage, output: made * exchange.model.tokensPerImage }, rawUsage, estimated: true }
  }
  const counted = await countTokens(tap.output.text, tap.output.chars)
  return {
    usage: {
      ...withPrompt(usage, inputEstimate),
      // A stream's first figure of its output is a beginning, not a sum.
      output: Math.max(usage.output ?? 0, counted),
    },
    rawUsage,
    estimated: true,
  }
}

/** How many images a client's body asks for. */
export const imagesAsked = ({ n }: JsonObject): number => (typeof n === 'number' ? n : 1)

/** An answer without usage: the prompt by estimate, the answer by the tokenizer over its text. */
export const meterAnswer = async (
  inputEstimate: number,
  model: Model,
  { usage, rawUsage, body }: Pick<JsonAnswer, 'usage' | 'rawUsage' | 'body'>,
): Promise<Metered> => {
  if (model.kind === 'image') {
    const images = Array.isArray(body.data) ? body.data.length : 1
    return { usage: { ...usage, output: images * model.tokensPerImage }, rawUsage, estimated: true }
  }
  const output = await countTokens(stringsOf(body.choices ?? body.output ?? body.content))
  const estimate = { ...withPrompt(usage ?? {}, inputEstimate), output }
  // Told in the place where `usageIn` reads it, though there are no figures to read it with.
  return { usage: inTier(estimate, body.service_tier), rawUsage, estimated: true }
}

const stringsOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value).map(stringsOf).join(' ')
}
