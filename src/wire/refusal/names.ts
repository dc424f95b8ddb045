// What a refusal names: members, paths and values, from its error object and its text, whoever wrote them. Which of the
// names stand in the request decides refused.ts.

import { isObject, type Json, type JsonObject, parseJson } from '../../ir/json.ts'

/** How a name was found, the surest first: told as such, written as a path, in quotes, or a word like any other. */
export type Found = 'told' | 'path' | 'quoted' | 'word'

/** `steps`: of a path from the outside in. `context`: the text around it, of its own line; '' where it was told as such. */
export type Name = { found: Found; steps: string[]; context: string; before: string }

export type Said = { text: string; names: Name[] }

/** Of a refusal. Longer ones quote the request. */
const MOST_CHARS = 8_192
const MOST_DEPTH = 8
/** Of each that is named more often, the last counts. */
const MOST_NAMES = 200

/** Members of an error object that hold the path of what is refused, and those that hold a name within it. */
const PATHS = [
  ...['param', 'parameter', 'loc', 'path', 'instancePath', 'dataPath', 'pointer', 'field', 'fieldPath', 'field_path'],
  ...['property', 'attribute'],
]
const WITHIN = [
  'keys',
  'additionalProperty',
  'unevaluatedProperty',
  'propertyName',
  'missingProperty',
  'argument',
  'name',
]
/** Those that quote the request. */
const QUOTES = new Set(['input', 'input_value', 'ctx', 'value', 'failed_generation', 'url', 'received'])

/** All that an error body of any shape says. */
export const saidIn = (body: unknown): Said => {
  const told: Name[] = []
  const texts: string[] = []
  collect(body as Json | undefined, told, texts, 0)
  const text = texts.join('\n').slice(0, MOST_CHARS)
  const all = new Map([...told, ...namesIn(text)].map((name) => [`${name.found} ${name.steps.join('.')}`, name]))
  return { text, names: [...all.values()].slice(0, MOST_NAMES) }
}

const collect = (value: Json | undefined, told: Name[], texts: string[], depth: number): void => {
  if (depth > MOST_DEPTH) return
  if (typeof value === 'string') {
    const inner = /^\s*[{[]/.test(value) ? parseJson(value) : undefined
    if (isObject(inner) || Array.isArray(inner)) collect(inner, told, texts, depth + 1)
    else texts.push(value)
    return
  }
  if (Array.isArray(value)) {
    for (const one of value) collect(one, told, texts, depth + 1)
    return
  }
  if (!isObject(value)) return
  told.push(...toldBy(value), ...keysOfFaults(value))
  for (const [name, inner] of Object.entries(value))
    if (!QUOTES.has(name) && !PATHS.includes(name)) collect(inner, told, texts, depth + 1)
}

const toldBy = (members: JsonObject): Name[] => {
  const path = PATHS.map((name) => stepsIn(members[name])).find((steps) => steps.length > 0) ?? []
  const holders = [members, ...(isObject(members.params) ? [members.params] : [])]
  const within = holders.flatMap((one) => WITHIN.flatMap((name) => [one[name] ?? []].flat()))
  const names = within.filter((name) => typeof name === 'string').map((name) => [...path, name])
  const all = names.length > 0 ? names : path.length > 0 ? [path] : []
  return all.map((steps) => ({ found: 'told', steps, context: '', before: '' }))
}

/** Some servers list faults by the member's name. */
const keysOfFaults = (members: JsonObject): Name[] =>
  Object.entries(members)
    .filter(
      ([, faults]) => Array.isArray(faults) && faults.length > 0 && faults.every((one) => typeof one === 'string'),
    )
    .map(([name]) => ({ found: 'quoted', steps: stepsIn(name), context: '', before: '' }))

const stepsIn = (path: Json | undefined): string[] => {
  if (typeof path === 'string') return path.length > 300 ? [] : (path.match(STEP) ?? [])
  if (!Array.isArray(path)) return []
  return path.filter((step) => typeof step === 'string' || typeof step === 'number').map(String)
}

const STEP = /[A-Za-z_][\w-]*|\d+/g

/** A path in any notation: `a.0.b`, `a[0].b`, `a/0/b`, `a -> 0 -> b`. */
const PATH =
  /(?<![\w.$/-])(?:#?\/|\$\.|\.)?(?:[A-Za-z_]\w{0,63}(?:(?:\.|\/|::| ?-> ?)(?:[A-Za-z_]\w{0,63}|\d{1,6}|\*)|\[(?:\d{1,6}|'\w{1,64}'|"\w{1,64}")\]){1,12}|(?<=[#$]\/|[#$]\.|[\s'"`(]\/)[A-Za-z_]\w{0,63})/g
/** As Python prints the path of a fault. */
const TUPLE = /['"](?:loc|path)['"]: [([]([^()[\]\n]{1,200})[)\]]/g
/** A name, and the path of what it stands in. */
const WITHIN_PATH = /['"`](\w{1,64})['"`] (?:at|in|of|under|inside) ['"`]([\w.[\]]{1,200})['"`]/g
const QUOTED = /'([^'\n]{1,120})'|"([^"\n]{1,120})"|`([^`\n]{1,120})`|‘([^’\n]{1,120})’|“([^”\n]{1,120})”/g
const WORD = /[A-Za-z_][\w-]{1,63}/g
const NAME = /^[\w.$[\]/#:-]{1,120}$/

/** A value that is quoted from the request, as several servers write it beside the name. */
const ECHOES =
  /(?:input_value=|['"]input['"]: |, value: |\breceived |\bgot )(?:'[^'\n]{0,2000}'|"[^"\n]{0,2000}"|[^,\s}\]]{1,200})|\[type=\w{1,60}|input_type=\w{1,40}/g
/** What is taken in the place of what is refused, to the end of the line: none of it was sent, or is refused. */
const ACCEPTED =
  /\b(?:expected(?: one of)?:? [`'"[]|(?:supported|allowed|valid|permitted|available|accepted|possible) (?:values|levels|efforts|params?|parameters|fields|names|options|types|models|keys)\b(?! ?['"`])|(?:must|should) be (?:one of|either|set)|input should be|did you mean|use ['"`]|not one of|known (?:fields|properties|names|keys)|enum values?:|to drop|send allowed_)[^\n]*/gi

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

const namesIn = (raw: string): Name[] => {
  const text = raw.replace(ECHOES, blank)
  const paths: Name[] = []
  const named = (found: Found, at: number, length: number, steps: string[]): Name => ({
    found,
    steps,
    ...aroundIn(raw, at, length),
  })
  let rest = text.replace(WITHIN_PATH, (whole, name, path, at) => {
    paths.push(named('path', at, whole.length, `${path}.${name}`.match(STEP) ?? []))
    return blank(whole)
  })
  for (const pattern of [TUPLE, PATH])
    rest = rest.replace(pattern, (whole, inner, at) => {
      const [written, place] = typeof inner === 'string' ? [inner, at] : [whole, inner]
      const steps = `${written}`.match(STEP) ?? []
      if (steps.length > 0) paths.push(named('path', place, whole.length, steps))
      return steps.length > 1 || /^[#$/]/.test(whole) ? blank(whole) : whole
    })
  rest = rest.replace(ACCEPTED, blank)
  const quoted: Name[] = []
  const words: Name[] = []
  for (const match of rest.matchAll(QUOTED)) {
    const inner = match.slice(1).find((one) => one !== undefined) ?? ''
    const all = inner.split(/,\s*/).filter((one) => NAME.test(one))
    for (const one of all) quoted.push(named('quoted', match.index, match[0].length, one.match(STEP) ?? []))
  }
  for (const { 0: word, index } of rest.matchAll(WORD))
    if (isNamed(word, rest, index)) words.push(named('word', index, word.length, [word]))
  return [...paths, ...quoted, ...words].filter(({ steps }) => steps.length > 0)
}

/** Characters on either side by which a name is told from one in a text that the client sent. */
const AROUND = 12

/** What stands around a place of a text, and before its end, on its own line. */
export const aroundIn = (text: string, at: number, length: number): Pick<Name, 'context' | 'before'> => {
  const from = text.lastIndexOf('\n', at) + 1
  const to = text.indexOf('\n', at)
  return {
    before: text.slice(from, at + length),
    context: text.slice(Math.max(from, at - AROUND), Math.min(to === -1 ? text.length : to, at + length + AROUND)),
  }
}

/** Words with an underscore or a hump are names; another is one at the places where servers put names. */
const isNamed = (word: string, text: string, at: number): boolean => {
  if (/[a-z\d]_[a-z\d]|[a-z][A-Z]/.test(word)) return true
  const before = text.slice(Math.max(0, at - 40), at)
  const after = text.slice(at + word.length, at + word.length + 40)
  if (/^ (?:parameter|argument|field|property|option)\b/.test(after)) return true
  return /(?:parameter|argument|field|property|member|option|attribute|setting|input|key|keyword|name|supplied|invalid|unsupported|unknown|unrecogni[sz]ed|unexpected|for|model)(?:\(s\)|s)?:? ?\(?$/i.test(
    before,
  )
    ? /^(?:$|[.,:;)\n]| (?:is|are|was|has|value|parameter|must|cannot|can't|should|does|in|for|at|on)\b)/.test(after)
    : /(?:^|\n|[.:;] )$/.test(before) &&
        /^(?:: |=| (?:is|are|must|cannot|can't|should|does|may|isn't|requires|has|parameter|range)\b)/.test(after)
}
