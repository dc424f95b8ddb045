// The result of a failed call on wires that have no member for the failure: its text must say so.

/** With “Error” in front, unless the text begins with an error's name itself. */
export const failedText = (text: string): string => {
  if (/^\W{0,3}\w*error\b/i.test(text.slice(0, 40))) return text
  return text.trim() === '' ? 'Error' : `Error: ${text}`
}
