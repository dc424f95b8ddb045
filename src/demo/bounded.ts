// What a demo vendor remembers of past answers: the latest so many, by id.

export type Bounded<Value> = { get(id: string): Value | undefined; set(id: string, value: Value): void }

export const createBounded = <Value>(most: number): Bounded<Value> => {
  const kept = new Map<string, Value>()
  return {
    get: (id) => kept.get(id),
    set: (id, value) => {
      kept.set(id, value)
      const oldest = kept.size > most ? kept.keys().next().value : undefined
      if (oldest !== undefined) kept.delete(oldest)
    },
  }
}
