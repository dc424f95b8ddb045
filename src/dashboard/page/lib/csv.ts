// Has the browser keep a table as a file.

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
