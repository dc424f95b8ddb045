// Tables for spreadsheets.

/** RFC 4180. What a spreadsheet would take for a formula is kept a text. */
export const csvOf = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')

const cell = (value: string | number): string => {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Has the browser keep a text as a file. */
export const save = (name: string, text: string): void => {
  // Spreadsheets take a file without the mark for one in a code page.
  const url = URL.createObjectURL(new Blob(['\uFEFF', text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Some browsers read it only after a while.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
