// What pictures have cost: a provider bills a large one of high quality several times what its model is set to cost.

import type { Model } from '../../catalogue/model.ts'
import type { JsonObject } from '../../ir/json.ts'
import { type PicturesMade, picturesOf } from '../../ir/pictures.ts'
import { createRecent } from '../../lib/recent.ts'

/** How many kinds of pictures are remembered. One that is forgotten counts for what its model is set to cost. */
const MAX_REMEMBERED = 1_000
/** Sizes and qualities have short names. */
const NAME_CHARS = 20

export type Pictures = {
  /** The most tokens that a picture as the body asks for is known to cost, or is set to cost, whichever is more. */
  costOf(model: Model, body: JsonObject): number
  /** `output`: the tokens that the provider billed for all that the body asks for. */
  remember(model: Model, body: JsonObject, output: number): void
}

export const createPictures = (): Pictures => {
  const known = createRecent<string, number>(MAX_REMEMBERED)
  const costOf = (model: Model, body: JsonObject): number =>
    Math.max(model.tokensPerImage, known.get(kindOf(model, body)) ?? 0)
  return {
    costOf,
    remember: (model, body, output) =>
      known.set(kindOf(model, body), Math.max(costOf(model, body), Math.ceil(output / imagesAsked(body)))),
  }
}

/** By what their price goes by. */
const kindOf = ({ id }: Model, { size, quality, partial_images: partial }: JsonObject): string =>
  [id, ...[size, quality, partial].map((value) => String(value).slice(0, NAME_CHARS))].join(' ')

/** The pictures that a client's body asks for. */
export const picturesAsked = (body: JsonObject): PicturesMade => picturesOf(imagesAsked(body), body)

/** How many images a client's body asks for. */
export const imagesAsked = ({ n }: JsonObject): number => (typeof n === 'number' ? n : 1)
