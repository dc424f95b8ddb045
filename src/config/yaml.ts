// YAML with the line of a mistake, which Bun's parser does not tell, and without the one it lets pass: a member twice.

export type Parsed = { value: unknown } | { line: number; reason: string }

/**
 * A YAML text's value, or the line (from 1) where it stops being YAML: the first after its longest sound beginning,
 * so a mistake inside a list or mapping in brackets is told by the line the bracket opens on.
 */
export const parseYaml = (text: string): Parsed => {
  const whole = attempt(text)
  if ('value' in whole) return repeated(text) ?? whole
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

const MEMBER = /^(?:"([^"]*)"|'([^']*)'|([^\s#"'{}[\],&*!|>-][^:#]*?))\s*:(?:\s+(.*))?$/

/**
 * The first member that its mapping has had already: the parser would keep the last without a word. Looks at members on
 * lines of their own; what stands in brackets or in texts of several lines is passed over.
 */
const repeated = (text: string): { line: number; reason: string } | undefined => {
  const mappings: { indent: number; names: Set<string> }[] = []
  let brackets = 0
  let textIndent: number | undefined
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const lead = /^ */.exec(line)?.[0].length ?? 0
    const blank = /^\s*(#|$)/.test(line)
    if (textIndent !== undefined && (blank || lead > textIndent)) continue
    textIndent = undefined
    if (blank) continue
    if (brackets > 0) {
      brackets += opened(line)
      continue
    }
    const dashes = /^(?: *-(?: +|$))*/.exec(line)?.[0] ?? ''
    const indent = dashes === '' ? lead : dashes.length
    // An item begins a mapping of its own.
    while ((mappings.at(-1)?.indent ?? 0) > lead) mappings.pop()
    const [, double, single, plain, value = ''] = MEMBER.exec(line.slice(indent)) ?? []
    brackets += opened(line)
    const name = double ?? single ?? plain
    if (name === undefined) continue
    if (/^[|>]/.test(value)) textIndent = indent
    if (mappings.at(-1)?.indent !== indent) mappings.push({ indent, names: new Set() })
    const names = mappings.at(-1)?.names
    if (names?.has(name)) return { line: index + 1, reason: `found "${name}" a second time` }
    names?.add(name)
  }
  return undefined
}

/** How many more brackets a line opens than it closes, its quoted texts and its comment left out. */
const opened = (line: string): number => {
  const bare = line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '').replace(/(^|\s)#.*$/, '')
  return bare.replace(/[^{[]/g, '').length - bare.replace(/[^}\]]/g, '').length
}
