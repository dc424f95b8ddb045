// Small aligned tables, and numbers as people read them.

import { khrOf } from '../lib/usage-csv.ts'

/** What a label or a server wrote, with nothing in it that a terminal obeys or that turns text around. */
export const inert = (text: string): string => text.replace(UNPRINTABLE, '\ufffd')

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Rows as lines, each column as wide as its widest cell stands on a terminal, two blanks between. `right`: columns of numbers. */
export const columns = (written: string[][], indent = '', right: number[] = []): string[] => {
  const rows = written.map((row) => row.map(inert))
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, Bun.stringWidth(cell))
  }
  return rows.map((row) => {
    const cells = row.map((cell, index) => {
      const blanks = ' '.repeat((widths[index] ?? 0) - Bun.stringWidth(cell))
      return right.includes(index) ? blanks + cell : cell + blanks
    })
    return `${indent}${cells.join('  ')}`.trimEnd()
  })
}

/** 1234567 → `1,234,567`. */
export const grouped = (count: number): string => count.toLocaleString('en-US')

/** Micro-USD as USD, down to what was paid: 1234 → `0.001234`, 5000000 → `5.00`. */
export const usd = (microUsd: number): string => {
  const text = (microUsd / 1_000_000).toFixed(6)
  return text.replace(/0{1,4}$/, '')
}

/** For those that stand below each other: all with as many decimals as one of them has, so that their points do too. */
export const usdColumn = (column: readonly number[]): ((microUsd: number) => string) => {
  const decimals = Math.max(...column.map((microUsd) => usd(microUsd).split('.')[1]?.length ?? 0))
  return (microUsd) => (microUsd / 1_000_000).toFixed(decimals)
}

/** Micro-USD as KHR, two decimals below a hundred. */
export const khr = (microUsd: number, khrPerUsd: number): string => {
  const amount = (microUsd * khrPerUsd) / 1_000_000
  return amount < 100 ? khrOf(microUsd, khrPerUsd).toFixed(2) : grouped(Math.round(amount))
}
