// The path in the client's body at which a turn or a part was written, for refusals and `x-gateway-dropped`. Kept in a
// map beside the IR, so that equal requests stay equal whatever their paths.

const places = new WeakMap<object, string>()

/** Records the path of a value, and returns the value. */
export const placed = <T extends object>(value: T, path: string): T => {
  places.set(value, path)
  return value
}

/** The path of a value; `otherwise` for one without a recorded path. */
export const placeOf = (value: object, otherwise: string): string => places.get(value) ?? otherwise
