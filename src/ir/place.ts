// Where the client wrote a turn or a part of one: what is refused or left out is named by the client's own path. Kept
// beside the IR by identity, so that two requests that say the same are the same.

const places = new WeakMap<object, string>()

/** The value itself, its place noted. */
export const placed = <T extends object>(value: T, path: string): T => {
  places.set(value, path)
  return value
}

/** `otherwise` for what no decoder has made. */
export const placeOf = (value: object, otherwise: string): string => places.get(value) ?? otherwise
