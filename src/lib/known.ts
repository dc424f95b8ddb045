// What may be known at once: a promise costs a turn, which a value does not.

export type Known<T> = T | Promise<T>

/** Goes on with the value: at once where it is known. */
export const onceKnown = <T, R>(value: Known<T>, then: (value: T) => Known<R>): Known<R> =>
  value instanceof Promise ? value.then(then) : then(value)
