// YAML with the line of a mistake, which Bun's parser does not tell, and without the one it lets pass: a member twice.

type Parsed = { value: unknown } | { line: number; reason: string }

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

/** What mostly is the matter where the parser says no more than that. */
const COMMON = 'see whether brackets and quotes are closed, and a text with a colon stands in quotes'

const attempt = (text: string): { value: unknown } | { reason: string } => {
  try {
    return { value: Bun.YAML.parse(text) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const reason = message.replace(/^YAML Parse error:\s*/, '')
    return { reason: reason.startsWith('Unexpected') ? `${reason}; ${COMMON}` : reason }
  }
}

const MEMBER = /^(?:"([^"]*)"|'([^']*)'|([^\s#"'{}[\],&*!|>-][^:#]*?))\s*:(?:\s+(.*))?$/

/**
 * The first member that its mapping has had already: the parser would keep the last without a word. Looks at members on
 * lines of their own and at those in brackets; what stands in texts of several lines is passed over.
 */
const repeated = (text: string): { line: number; reason: string } | undefined => {
  const mappings: { indent: number; names: Set<string> }[] = []
  const told = (name: string, line: number) => ({ line, reason: `found "${name}" a second time` })
  let textIndent: number | undefined
  let next = 0
  let passed = 0
  for (const [index, whole] of text.split('\n').entries()) {
    const start = next
    next += whole.length + 1
    if (start < passed) continue
    const line = whole.replace(/\r$/, '')
    const lead = /^ */.exec(line)?.[0].length ?? 0
    const blank = /^\s*(#|$)/.test(line)
    if (textIndent !== undefined && (blank || lead > textIndent)) continue
    textIndent = undefined
    if (blank) continue
    const dashes = /^(?: *-(?: +|$))*/.exec(line)?.[0] ?? ''
    const indent = dashes === '' ? lead : dashes.length
    // An item begins a mapping of its own.
    while ((mappings.at(-1)?.indent ?? 0) > lead) mappings.pop()
    const [, double, single, plain, value = ''] = MEMBER.exec(line.slice(indent)) ?? []
    const name = double ?? single ?? plain
    if (name !== undefined) {
      if (/^[|>]/.test(value)) textIndent = indent
      if (mappings.at(-1)?.indent !== indent) mappings.push({ indent, names: new Set() })
      const names = mappings.at(-1)?.names
      if (names?.has(name)) return told(name, index + 1)
      names?.add(name)
    }
    const content = name === undefined ? line.slice(indent) : value
    const mark = /^(?:[&!]\S*\s+)*(?=[{[])/.exec(content)
    if (mark === null) continue
    const flow = readFlow(text, start + line.length - content.length + mark[0].length)
    if (flow.name !== undefined) return told(flow.name, text.slice(0, flow.end).split('\n').length)
    passed = flow.end
  }
  return undefined
}

/** Behind a quoted name the colon needs no space. */
const FLOW_TOKEN =
  /\s+(?:#[^\n]*)?|"(?:[^"\\]|\\.)*"(?:\s*:)?|'(?:[^']|'')*'(?:\s*:)?|[{}[\],]|:(?=[\s,{}[\]]|$)|(?:[^\s,{}[\]:]|:(?![\s,{}[\]]|$)|[ \t]+(?=[^\s,{}[\]:#]))+|./sy

/** Reads what stands in brackets: where it ends, or ends to be read with a `name` that its mapping has had already. */
const readFlow = (text: string, from: number): { end: number; name?: string } => {
  /** `names` of a mapping, none of a list; `key` until its colon. */
  const open: { names?: Set<string>; key?: string | undefined }[] = []
  FLOW_TOKEN.lastIndex = from
  for (let token = FLOW_TOKEN.exec(text)?.[0]; token !== undefined; token = FLOW_TOKEN.exec(text)?.[0]) {
    const end = FLOW_TOKEN.lastIndex
    const inside = open.at(-1)
    const quoted = /^["']/.test(token)
    if (token === '{') open.push({ names: new Set() })
    else if (token === '[') open.push({})
    else if (token === '}' || token === ']') {
      open.pop()
      if (open.length === 0) return { end }
    } else if (token === ',') delete inside?.key
    else if (inside?.names !== undefined && inside.key === undefined && /\S/.test(token[0] ?? '')) {
      const name = quoted ? token.replace(/^.|.\s*:?$/gs, '') : token
      inside.key = name
      // A member without a value counts, too; a value is no member.
      if (name !== '<<' && inside.names.has(name)) return { end, name }
      inside.names.add(name)
    }
  }
  return { end: text.length }
}
