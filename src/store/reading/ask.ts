// Readings: what is asked of a database, statement after statement, whichever it is. One database answers at once, another
// later; a reading does not know.

type Value = string | number

/** A ? in the text stands for each value, in their order. */
export type Ask = { readonly text: string; readonly values: readonly Value[] }

/** Yields what it asks, and goes on with the rows. */
export type Reading<T> = Generator<Ask, T, unknown[]>

/** What databases say each in their own words. */
export type Words = {
  /** Whether the column has one of the texts of a JSON array, the statement's next value. */
  amongTexts(column: string): string
  /** The same of whole numbers. */
  amongNumbers(column: string): string
  /** Sorts texts by their bytes, wherever the database stands. */
  byBytes(column: string): string
}

/** The rows are as the statement has them: nobody checks that they are of this form. */
export function* rowsOf<Row>(text: string, values: readonly Value[] = []): Reading<Row[]> {
  return (yield { text, values }) as Row[]
}

export const readAtOnce = <T>(reading: Reading<T>, answer: (ask: Ask) => unknown[]): T => {
  for (let step = reading.next(); ; step = reading.next(answer(step.value))) if (step.done) return step.value
}

export const readInTurn = async <T>(reading: Reading<T>, answer: (ask: Ask) => Promise<unknown[]>): Promise<T> => {
  for (let step = reading.next(); ; step = reading.next(await answer(step.value))) if (step.done) return step.value
}
