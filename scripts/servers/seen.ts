// What was seen of the servers, kept for docs/providers.md.

import type { Seen } from './cells.ts'
import kept from './seen.json'

/** One wire of a server: what each cell showed, by the wire of the client. */
export type Row = {
  name: string
  title: string
  version: string
  wire: string
  cells: Record<string, Record<string, Seen>>
}
export type Kept = { on: string; rows: Row[] }

const FILE = new URL('./seen.json', import.meta.url)

/** What was seen last, to be shown. */
export const seen: Kept = kept

/** What a cell showed: in one word where all clients saw the same, else with the wires of those that saw another. */
export const shownCell = (cell: Record<string, Seen>): string => {
  const words = new Map<string, string[]>()
  for (const [client, { right, word }] of Object.entries(cell)) {
    if (word === '') continue
    const shown = right ? word : 'no'
    words.set(shown, [...(words.get(shown) ?? []), client])
  }
  return [...words].map(([word, clients], at) => (at === 0 ? word : `${word} (${clients.join(', ')})`)).join('; ')
}

/** Rows of servers that were not run again stay. */
export const keepSeen = async (rows: Row[]): Promise<void> => {
  const again = new Set(rows.map(({ name }) => name))
  const now: Kept = {
    on: new Date().toISOString().slice(0, 10),
    rows: [...seen.rows.filter(({ name }) => !again.has(name)), ...rows],
  }
  await Bun.write(FILE, `${JSON.stringify(now, undefined, 1)}\n`)
}
