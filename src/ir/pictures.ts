// Pictures that are made, as they may be priced: how many, of which quality and size.

/** What was made, or is asked for. `quality`, `size`: absent where the vendor chooses. */
export type PicturesMade = { count: number; quality?: string; size?: string }

/** What a body says of pictures, an answer's word before a request's. `auto` says nothing. */
export const picturesOf = (
  count: number,
  ...bodies: readonly { quality?: unknown; size?: unknown }[]
): PicturesMade => {
  const quality = bodies.map((body) => wordOf(body.quality)).find((word) => word !== undefined)
  const size = bodies.map((body) => wordOf(body.size)).find((word) => word !== undefined)
  return { count, ...(quality === undefined ? {} : { quality }), ...(size === undefined ? {} : { size }) }
}

const wordOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value !== 'auto' && value.length <= 20 ? value.toLowerCase() : undefined
