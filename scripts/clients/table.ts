// What the clients showed, as a table of docs/clients.md.

export type Line = { client: string; version: string; cell: string; word: string; model: string }
export type Row = { client: string; version: string; cells: Record<string, Record<string, string>> }

const CELLS = ['text', 'stream', 'tools', 'typed', 'image', 'error', 'count']

/** A row for each client; of each cell the word for each model. */
export const rowsOf = (lines: readonly Line[]): Row[] => {
  const rows = new Map<string, Row>()
  for (const { client, version, cell, word, model } of lines) {
    const row = rows.get(client) ?? { client, version, cells: {} }
    rows.set(client, row)
    row.cells[cell] = { ...row.cells[cell], [model]: word }
  }
  return [...rows.values()]
}

/** One word where both models showed the same; nothing where the client has no such thing. */
const shown = (cell: Record<string, string> = {}): string => {
  const words = Object.entries(cell).map(([model, word]) => [model, word.startsWith('no') ? 'no' : word] as const)
  return new Set(words.map(([, word]) => word)).size <= 1
    ? (words[0]?.[1] ?? '')
    : words.map(([model, word]) => `${word} (${model})`).join(', ')
}

export const tableOf = (rows: readonly Row[]): string[][] => [
  ['client', 'version', ...CELLS],
  ...rows.map(({ client, version, cells }) => [client, version, ...CELLS.map((name) => shown(cells[name]))]),
]

/** Aligned, as the formatter has it. */
export const aligned = (rows: readonly string[][]): string => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(3, ...rows.map((row) => Bun.stringWidth(row[at] ?? ''))))
  const line = (row: readonly string[], fill: string): string =>
    `| ${row.map((cell, at) => cell + fill.repeat((widths[at] ?? 0) - Bun.stringWidth(cell))).join(' | ')} |`
  const [head = [], ...rest] = rows
  const dashes = line(
    head.map(() => ''),
    '-',
  )
  return [line(head, ' '), dashes, ...rest.map((row) => line(row, ' '))].join('\n')
}

/** The page with those rows between the marks of that name; rows of others, by their first cell, stay. Throws without marks. */
export const inserted = (page: string, name: string, [head = [], ...rows]: readonly string[][]): string => {
  const [begin, end] = [`<!-- made by test:${name} -->`, '<!-- end -->']
  const from = page.indexOf(begin)
  const to = page.indexOf(end, from)
  if (from === -1 || to === -1) throw new Error(`docs/clients.md has no "${begin}"`)
  const [, , ...before] = page
    .slice(from + begin.length, to)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
  const all = new Map([...before, ...rows].map((row) => [row[0], row]))
  return `${page.slice(0, from + begin.length)}\n\n${aligned([head, ...all.values()])}\n\n${page.slice(to)}`
}
