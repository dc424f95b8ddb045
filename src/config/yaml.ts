// YAML with the line of a mistake, which Bun's parser does not tell.

export type Parsed = { value: unknown } | { line: number; reason: string }

/**
 * A YAML text's value, or the line (from 1) where it stops being YAML: the first after its longest sound beginning,
 * so a mistake inside a list or mapping in brackets is told by the line the bracket opens on.
 */
export const parseYaml = (text: string): Parsed => {
  const whole = attempt(text)
  if ('value' in whole) return whole
  const lines = text.split('\n')
  let sound = lines.length - 1
  while (sound > 0 && !('value' in attempt(lines.slice(0, sound).join('\n')))) sound -= 1
  return { line: sound + 1, reason: whole.reason }
}

const attempt = (text: string): { value: unknown } | { reason: string } => {
  try {
    return { value: Bun.YAML.parse(text) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { reason: message.replace(/^YAML Parse error:\s*/, '') }
  }
}
