// The usage an exchange is billed for: the provider's figures where it gave them, the tokenizer's count where it did not.

import type { Model } from '../catalogue/model.ts'
import { unfold } from '../ir/fold.ts'
import type { JsonObject } from '../ir/json.ts'
import { type PicturesMade, picturesOf } from '../ir/pictures.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import { inTier, totalTokens, type Usage, withPrompt } from '../ir/usage.ts'
import { isChatWire, type Wire } from '../ir/wire.ts'
import type { Tap } from '../wire/codec.ts'
import { chatCodec } from '../wire/index.ts'
import { callsInUsage } from '../wire/tools/server-calls.ts'
import { imagesAsked } from './adapt/pictures.ts'
import { countTokens, estimateOutput } from './estimate.ts'
import type { Exchange, Metered } from './exchange.ts'
import type { JsonAnswer, StreamAnswer } from './reading.ts'
import type { Target } from './target.ts'

export const NO_USAGE: Metered = { usage: {}, rawUsage: undefined, estimated: false }

/** By the provider's figures; without a figure for the prompt, its estimate, which clients are shown too. */
const meterReported = (inputEstimate: number, reported: Usage, rawUsage: JsonObject | undefined): Metered => {
  const usage = withPrompt(reported, inputEstimate)
  return { usage, rawUsage, estimated: usage !== reported }
}

/**
 * What of a provider's figures can be: no answer takes nothing of a prompt, and no text takes no tokens. Servers and relays that do
 * not count tell zeros, which are as good as nothing told. One that wrote nothing may have been declined, and be free.
 */
const credible = (usage: Usage, wrote: boolean): Usage => {
  const { input, output, ...rest } = usage
  const prompt = (input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  return {
    ...rest,
    ...(input === undefined || (prompt === 0 && (wrote || Boolean(output))) ? {} : { input }),
    ...(output === undefined || (output === 0 && wrote) ? {} : { output }),
  }
}

/** On wires that only pass every answer takes something: figures of nothing are none. */
const believed = (told: Usage, { kind }: Model, wrote: () => boolean): Usage => {
  if (kind === 'text') return told.input && told.output ? told : credible(told, wrote())
  const { input, output, ...rest } = told
  return totalTokens(told) === 0 ? rest : told
}

/**
 * The figures of several answers: some servers count the output of one of them. `written`: the tokens of all by the
 * tokenizer, against which even the figure for all of them must be plausible; no two tokenizers are alike.
 */
export const ofAll = (usage: Usage, answers: number, written: number): Usage => {
  const output = (usage.output ?? 0) * answers
  return answers > 1 && output > 0 && output <= written * TOKENIZERS_DIFFER ? { ...usage, output } : usage
}

const TOKENIZERS_DIFFER = 1.25

/** How many answers the client has asked for. */
export const answersAsked = ({ bodyWire, body }: Exchange): number => {
  const { n } = body.outline
  return bodyWire === 'chat-completions' && typeof n === 'number' ? n : 1
}

/** A whole answer: by its figures, of all that it holds, and by the tokenizer where they are missing or cannot be. */
export const meterWhole = async (
  inputEstimate: number,
  { usage: told, rawUsage, body, target }: Pick<JsonAnswer, 'target' | 'usage' | 'rawUsage' | 'body'>,
  asked = 1,
): Promise<Metered> => {
  const usage = told && believed(told, target.model, () => writtenIn(target.wire, body) !== '')
  if (usage?.output === undefined) return meterAnswer(inputEstimate, target, { usage, rawUsage, body })
  const answers = asked > 1 && Array.isArray(body.choices) ? body.choices.length : 1
  if (answers < 2) return meterReported(inputEstimate, usage, rawUsage)
  const text = writtenIn(target.wire, body)
  return meterReported(inputEstimate, ofAll(usage, answers, await countTokens(text)), rawUsage)
}

/** A stream, and the model that answers, which may stand in for the one asked for. */
type Metering = Pick<StreamAnswer, 'tap' | 'target'>

/** `final`: the provider's terminal event was seen, so its last figures are complete. */
export const meterStream = async (
  exchange: Exchange,
  { tap, target: { model } }: Metering,
  final: boolean,
): Promise<Metered> => {
  const { rawUsage } = tap
  const told = inTier(tap.usage ?? {}, tap.serviceTier)
  const usage = believed(told, model, () => tap.output.chars > 0)
  const { inputEstimate } = exchange.body
  if ((final || tap.complete) && tap.summed && usage.output !== undefined) {
    const answers = answersAsked(exchange)
    const { text, chars } = tap.output
    const all = answers > 1 ? ofAll(usage, answers, await countTokens(text, chars)) : usage
    return meterReported(inputEstimate, all, rawUsage)
  }
  if (model.kind === 'image') {
    // A provider may go on with all of them after the client has left.
    const least = exchange.client.gone && !final ? imagesAsked(exchange.body.outline) : 0
    return { usage: withPictures(usage, model, tap, least), rawUsage, estimated: true }
  }
  const counted = await countTokens(tap.output.text, tap.output.chars)
  const { charged, ...counts } = withPrompt(usage, inputEstimate)
  return {
    usage: {
      ...counts,
      // What it had charged by the time that it broke off is not what it charges.
      ...((final || tap.complete) && charged !== undefined && { charged }),
      // Early in a stream the provider's output figure is not yet the sum.
      output: Math.max(usage.output ?? 0, counted),
    },
    rawUsage,
    estimated: true,
  }
}

/** What a stream has come to so far, by a quick estimate until it is told: it is billed if the process is killed. */
export const meterProgress = ({ body }: Exchange, { tap, target: { model } }: Metering): Usage => {
  const { usage: told = {}, output } = tap
  const { inputEstimate } = body
  const usage = believed(told, model, () => output.chars > 0)
  if (tap.complete && tap.summed && usage.output !== undefined) return withPrompt(usage, inputEstimate)
  if (model.kind === 'image') return withPictures(usage, model, tap)
  return { ...withPrompt(usage, inputEstimate), output: Math.max(usage.output ?? 0, estimateOutput(output)) }
}

/** Calls of tools at the vendor: as its figures count them, which are billed, else as the answer shows them. */
export const callsTold = ({
  rawUsage,
  serverTools = {},
}: Pick<Metered, 'rawUsage' | 'serverTools'>): ServerToolCalls => ({
  ...serverTools,
  ...callsInUsage(rawUsage),
})

/** The pictures of a whole answer. */
export const picturesIn = (body: JsonObject, exchange: Exchange): PicturesMade =>
  picturesOf(Array.isArray(body.data) ? body.data.length : 1, body, exchange.body.outline)

/** The pictures of a stream; its provider may go on with all of them after the client has left. */
export const picturesCome = (
  { body: { outline }, client }: Exchange,
  { tap }: Metering,
  final: boolean,
): PicturesMade => {
  const least = client.gone && !final ? imagesAsked(outline) : 0
  return picturesOf(Math.max(tap.pictures?.come ?? 0, least), outline)
}

/** An image has no text to count: those of which nothing was told, `least` in all, cost what they are set to cost. */
const withPictures = (usage: Usage, model: Model, { pictures }: Tap, least = 0): Usage => {
  const { come = 0, told = 0 } = pictures ?? {}
  return drawing(usage, (Math.max(come, least) - told) * model.tokensPerImage)
}

const drawing = (usage: Usage, tokens: number): Usage => ({
  ...usage,
  output: (usage.output ?? 0) + tokens,
  imageOutput: (usage.imageOutput ?? 0) + tokens,
})

/** For an answer without usage: the prompt by its estimate, the output by the tokenizer over what the model wrote. */
const meterAnswer = async (
  inputEstimate: number,
  { model, wire }: Pick<Target, 'model' | 'wire'>,
  { usage, rawUsage, body }: Pick<JsonAnswer, 'usage' | 'rawUsage' | 'body'>,
): Promise<Metered> => {
  if (model.kind === 'image') {
    const images = Array.isArray(body.data) ? body.data.length : 1
    return { usage: drawing(usage ?? {}, images * model.tokensPerImage), rawUsage, estimated: true }
  }
  const output = await countTokens(writtenIn(wire, body))
  const estimate = { ...withPrompt(usage ?? {}, inputEstimate), output }
  // The service tier stands beside the usage, and is known even without one.
  return { usage: inTier(estimate, body.service_tier), rawUsage, estimated: true }
}

/** The text of the stream that a whole answer would have been, of all its choices; on other wires only what is written counts. */
const writtenIn = (wire: Wire, body: JsonObject): string => {
  if (!isChatWire(wire)) return typeof body.text === 'string' ? body.text : ''
  const codec = chatCodec(wire)
  const answers = Array.isArray(body.choices) ? body.choices.map((choice) => ({ ...body, choices: [choice] })) : [body]
  try {
    const events = answers.flatMap((answer) => unfold(codec.decodeResponse(answer)))
    return events.map((event) => ('text' in event ? event.text : '')).join('')
  } catch {
    // A response that failed, or was cancelled, is no answer.
    return stringsOf(body.choices ?? body.output ?? body.content)
  }
}

const stringsOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value).map(stringsOf).join(' ')
}
