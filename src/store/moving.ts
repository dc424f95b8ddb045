// Moving a store from one database to another: rows as the databases have them, table after table, and figures by which it
// is seen that all of them arrived.

import { storeError } from './store.ts'

export type Cell = string | number | boolean | null
/** Of the table's columns, in their order. */
export type Row = Cell[]

type Column = { name: string; type: 'bigint' | 'boolean' | 'text' }
export type MovedTable = {
  name: string
  columns: readonly Column[]
  /** The columns by which its rows are read. */
  order: readonly string[]
}

/** As of one moment. */
export type Reader = {
  /** Its tables, by their names, and their columns. */
  tables: ReadonlyMap<string, ReadonlySet<string>>
  /** In batches of bounded size; from the beginning each time. */
  rows(table: MovedTable): AsyncIterable<Row[]> | Iterable<Row[]>
}

/** Writes all or nothing. */
export type Writer = {
  tables: Reader['tables']
  write(table: MovedTable, rows: readonly Row[]): Promise<void> | void
  /** Of what it now has: the answer to `figuresOf`. */
  figures(table: MovedTable): Promise<number[]>
}

/** `sealed`: credentials of accounts, which a key outside of the store opens. */
export type Moved = { tables: { name: string; rows: number }[]; sealed: number }

/** What both have of the tables. Throws a StoreError where a table did not arrive whole: nothing may then be kept. */
export const move = async (all: readonly MovedTable[], from: Reader, to: Writer): Promise<Moved> => {
  const moved: Moved = { tables: [], sealed: 0 }
  for (const each of all) {
    const [here, there] = [from.tables.get(each.name), to.tables.get(each.name)]
    if (here === undefined || there === undefined) continue
    const table = { ...each, columns: each.columns.filter(({ name }) => here.has(name) && there.has(name)) }
    const sealed = table.name === 'entries' ? table.columns.findIndex(({ name }) => name === 'sealed') : -1
    const figures = createFigures(table)
    for await (const rows of from.rows(table)) {
      for (const row of rows) {
        figures.add(row)
        if (typeof row[sealed] === 'string') moved.sealed++
      }
      await to.write(table, rows)
    }
    const read = figures.all()
    const written = await to.figures(table)
    if (read.some((figure, i) => written[i] !== figure))
      throw storeError(`The table ${table.name} did not arrive as it was read, so nothing was moved.`)
    moved.tables.push({ name: table.name, rows: read[0] ?? 0 })
  }
  return moved
}

/** Rows are read and written so many at once, and about so much text. */
export const BATCH_ROWS = 500
export const BATCH_LETTERS = 1_000_000

/** Exchanges that nobody serves any more and nobody has settled: all in flight but what a provider makes in the background. */
export const LEFT_OPEN =
  'SELECT 1 FROM reservations WHERE id NOT IN (SELECT exchange_id FROM background_answers) LIMIT 1'

/** In SQL. */
export const namesOf = (columns: readonly { name: string }[]): string =>
  columns.map(({ name }) => `"${name}"`).join(', ')

/** Numbers that are past what can be added up are added up in two parts. */
const PART = 1_000_000

/** Asks for a table's figures: how many rows, and a sum or two of each column. `lengthOf`: counts the letters of a text. */
export const figuresOf = ({ name, columns }: MovedTable, lengthOf: string): string => {
  const sums = columns.flatMap((column) => {
    const it = `"${column.name}"`
    if (column.type === 'bigint') return [`sum(${it} / ${PART})`, `sum(${it} % ${PART})`]
    return column.type === 'boolean' ? [`sum(CASE WHEN ${it} THEN 1 ELSE 0 END)`] : [`sum(${lengthOf}(${it}))`]
  })
  return `SELECT ${['count(*)', ...sums].map((sum, i) => `coalesce(${sum}, 0) AS f${i}`).join(', ')} FROM ${name}`
}

/** The answer in the order of the question. */
export const inOrder = (answer: Readonly<Record<string, unknown>> | null | undefined): number[] =>
  Array.from({ length: Object.keys(answer ?? {}).length }, (_, i) => Number(answer?.[`f${i}`]))

/** The same of rows. */
const createFigures = ({ columns }: MovedTable) => {
  let rows = 0
  const sums = columns.map(() => ({ whole: 0, part: 0 }))
  return {
    add(row: Row): void {
      rows++
      for (const [i, sum] of sums.entries()) {
        const cell = row[i] ?? null
        if (typeof cell === 'string') sum.whole += lettersIn(cell)
        else if (typeof cell === 'boolean') sum.whole += cell ? 1 : 0
        else if (cell !== null) {
          sum.whole += Math.trunc(cell / PART)
          sum.part += cell % PART
        }
      }
    },
    all: (): number[] => [
      rows,
      ...sums.flatMap(({ whole, part }, i) => (columns[i]?.type === 'bigint' ? [whole, part] : [whole])),
    ],
  }
}

const lettersIn = (text: string): number => {
  let letters = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0xd800 && code < 0xdc00) letters--
  }
  return letters
}
