// Writes the tables of docs/operations.md that say what failures mean. A test holds the file to them.

import { ATTEMPT_FAILURES, REFUSALS } from '../src/observe/failures.ts'

export const MANUAL = new URL('../docs/operations.md', import.meta.url)

const HEADS = ["| An attempt's", '| Refused with']

/** The manual with its tables as they have to be. */
export const withTables = (manual: string): string =>
  [ATTEMPT_FAILURES, Object.values(REFUSALS)].reduce((text, meanings, at) => {
    const head = HEADS[at] ?? ''
    const lines = text.split('\n')
    const from = lines.findIndex((line) => line.startsWith(head))
    if (from === -1) throw new Error(`docs/operations.md has no table that begins with "${head}"`)
    const length = lines.slice(from).findIndex((line) => !line.startsWith('|'))
    const rows = meanings.map(({ seen, why, todo }) => [seen, why, todo])
    lines.splice(from, length, ...table([head.slice(2), 'Most often means', 'What to do'], rows))
    return lines.join('\n')
  }, manual)

const table = (head: string[], rows: string[][]): string[] => {
  const widths = head.map((cell, at) => Math.max(cell.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: string[]): string => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)]
}

if (import.meta.main) await Bun.write(MANUAL, withTables(await Bun.file(MANUAL).text()))
