// What pictures cost that are priced by the picture: by their quality and size, as their vendors' lists have them.

import type { PicturesMade } from '../ir/pictures.ts'

type Rates = Readonly<Record<string, number>>
type Kind = Omit<PicturesMade, 'count'>

/** For what no other name fits. */
const ANY = 'default'
const SIZE = /^\d+x\d+$/

/**
 * USD a picture: by quality and size (`high/1024x1024`), by one of them, or by `default`; what no name fits as the dearest, never
 * as nothing. What nobody tells is as the vendor does it unasked, which a name without it is for.
 */
export const rateOfPicture = (rates: Rates, { quality, size }: Kind): number =>
  [`${quality}/${size}`, `${size}/${quality}`, `${size}`, `${quality}`, ANY]
    .map((name) => (Object.hasOwn(rates, name) ? rates[name] : undefined))
    .find((usd) => usd !== undefined) ?? Math.max(0, ...Object.values(rates))

/** The most that it can be by what is left open: the vendor may choose any. */
export const mostOfPicture = (rates: Rates, { quality, size }: Kind): number => {
  const words = Object.keys(rates).flatMap((name) => name.split('/'))
  const sizes = size === undefined ? [undefined, ...words.filter((word) => SIZE.test(word))] : [size]
  const qualities = quality === undefined ? [undefined, ...words.filter((word) => !SIZE.test(word))] : [quality]
  return Math.max(
    ...sizes.flatMap((size) =>
      qualities.map((quality) => rateOfPicture(rates, { ...has('quality', quality), ...has('size', size) })),
    ),
  )
}

const has = <N extends string>(name: N, word: string | undefined): { [name in N]?: string } =>
  word === undefined ? {} : ({ [name]: word } as { [name in N]?: string })
