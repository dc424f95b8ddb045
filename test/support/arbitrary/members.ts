// Members that may be there or not.

import fc from 'fast-check'

export const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

/** Drops the members that are undefined, as exact optional properties want it. */
export const compact = <T>(value: object): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T
