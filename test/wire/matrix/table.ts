// The matrix as a document: a row for each story, a column for each crossing, and notes on what is not the same.

import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import type { Outcome } from './cell.ts'
import { COLUMNS, type Matrix, ROWS, type Row } from './run.ts'
import { crossing } from './story.ts'

const SHORT: Record<ChatWire, string> = { 'chat-completions': 'chat', responses: 'resp', messages: 'msgs' }

const HEAD = `# Compatibility

What a client of each wire gets from a provider of each wire. Written by \`bun scripts/compatibility.ts\`, which plays
every story of \`test/wire/matrix\` through a listening gateway; a test fails when this file is out of date or a cell is
red. Both official SDKs gather the answers; requests, answers and events are checked against the vendors' published
types and the strict rules of their streams; the token counts that the ledger and the client get must be the vendor's.

A column is client → provider (\`chat\`: chat-completions, \`resp\`: responses, \`msgs\`: messages). Each cell holds two
marks: the answer as JSON, then as a stream.
`

const MARKS = [
  ['mark', 'meaning'],
  ['✓', 'the client reads the same, whichever provider answers'],
  ['○', 'the same, except for what the note says'],
  ['⊘', 'refused with `invalid_request` before any provider is called; the note says why'],
  ['·', 'does not apply: this client cannot ask for it, or this provider cannot answer it'],
  ['✗', 'broken'],
]

/** The rows of a Markdown table, the first of them its head, with padded columns. */
const aligned = ([head = [], ...rows]: string[][]): string[] => {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0), 3))
  const line = (cells: string[]): string => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)]
}

const COLUMN_PAIRS = CHAT_WIRES.flatMap((client) => CHAT_WIRES.map((vendor) => ({ client, vendor })))

/** Numbers notes in the order of their first use; equal notes share a number. */
const numbered = () => {
  const notes: string[] = []
  return {
    notes,
    of: (note: string): number => {
      const at = notes.indexOf(note)
      return at === -1 ? notes.push(note) : at + 1
    },
  }
}

const noteFor = ({ story }: Row, client: ChatWire, vendor: ChatWire, outcome: Outcome): string | undefined => {
  if (outcome.refused !== undefined) {
    return `\`${story?.refused?.[crossing(client, vendor)]}\` is refused: “${outcome.refused}”`
  }
  if (outcome.dropped.length > 0) {
    const paths = outcome.dropped.map((path) => `\`${path}\``).join(', ')
    return `${paths} listed in \`x-gateway-dropped\`: ${story?.because ?? 'no reason is given'}`
  }
  return story?.differs?.vendors.includes(vendor) && client !== vendor ? story.differs.why : undefined
}

const markOf = (outcome: Outcome | undefined, noted: boolean): string => {
  if (outcome === undefined) return '·'
  if (outcome.faults.length > 0) return '✗'
  if (outcome.refused !== undefined) return '⊘'
  return noted ? '○' : '✓'
}

/** The document, and a line for each red cell. */
export const compatibility = async (matrix: Matrix): Promise<{ text: string; red: string[] }> => {
  const notes = numbered()
  const red: string[] = []
  const lines: string[][] = []
  let group = ''
  for (const row of ROWS) {
    if (row.group !== group) {
      group = row.group
      lines.push([`**${group}**`, ...COLUMN_PAIRS.map(() => '')])
    }
    const cells: string[] = []
    for (const { client, vendor } of COLUMN_PAIRS) {
      const marks: string[] = []
      const numbers = new Set<number>()
      for (const column of COLUMNS.filter((one) => one.client === client && one.vendor === vendor)) {
        const outcome = await matrix.outcome(row, column)
        const note = outcome === undefined ? undefined : noteFor(row, client, vendor, outcome)
        if (note !== undefined) numbers.add(notes.of(note))
        marks.push(markOf(outcome, note !== undefined))
        for (const fault of outcome?.faults ?? [])
          red.push(`${row.name}, ${client} → ${vendor}, ${column.stream ? 'stream' : 'JSON'}: ${fault}`)
      }
      cells.push([marks.join(' '), ...[...numbers].map((number) => `[${number}]`)].join(' '))
    }
    lines.push([row.name, ...cells])
  }
  const head = COLUMN_PAIRS.map(({ client, vendor }) => `${SHORT[client]} → ${SHORT[vendor]}`)
  const table = aligned([['story', ...head], ...lines])
  const list = notes.notes.map((note, at) => `${at + 1}. ${note}`)
  return { text: [HEAD, ...aligned(MARKS), '', ...table, '', '## Notes', '', ...list, ''].join('\n'), red }
}
