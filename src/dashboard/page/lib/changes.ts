// What a form changes. It is sent alone: the rest may have been changed by somebody else since the form was opened.

/** The members of `now` that differ from those the form was opened with. */
export const changesOf = <T extends object>(opened: T, now: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(opened[name as keyof T])),
  ) as Partial<T>

/** The same of a member that holds others: absent where none of them differs. */
export const changesWithin = <N extends string, T extends object>(name: N, opened: T, now: T) => {
  const changes = changesOf(opened, now)
  return (Object.keys(changes).length === 0 ? {} : { [name]: changes }) as { [name in N]?: Partial<T> }
}
