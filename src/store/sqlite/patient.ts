// The port's promises over SQLite, which is synchronous: a call is carried out before its promise is returned, unless another
// process is writing. Then it is tried again by itself.

import { patiently } from '../patience.ts'

/** A part of the port as it is inside: what it promises, at once. */
export type AtOnce<T> = {
  [N in keyof T]: NonNullable<T[N]> extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : T[N]
}

type Method = (...args: unknown[]) => unknown

/**
 * `isServing`: whether streams need the event loop. A command has nothing else to do: the database itself waits for its
 * other writer.
 */
export const createPatient =
  (isServing: () => boolean) =>
  <T extends object>(port: AtOnce<T>): T => {
    const patient = ([name, method]: [string, Method]): [string, Method] => [
      name,
      async (...args) => (isServing() ? patiently(() => method(...args)) : method(...args)),
    ]
    return Object.fromEntries(Object.entries(port as Record<string, Method>).map(patient)) as T
  }
