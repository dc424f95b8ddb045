// What a refusal names: members, paths and values, from its error object and its text, whoever wrote them. Which of the
// names stand in the request decides refused.ts.

import { isObject, type Json, type JsonObject, parseJson } from '../../ir/json.ts'
import { blank, blankWithin, withoutKnown, withoutObjects } from './echoes.ts'
import { isEnglish, standsBefore } from './language.ts'
import { objectsIn } from './literals.ts'

/**
 * How a name was found, the surest first: told as such, written as a path, in quotes, as what can be no word of a sentence, as
 * a word at a place for names, or as one that could be a word of the sentence.
 */
export type Found = 'told' | 'path' | 'quoted' | 'name' | 'word' | 'plain'

/** `steps`: of a path from the outside in. Where it was told as such, nothing stands around it. */
export type Name = { found: Found; steps: string[] } & Around

/** What stands around a place of a text, and before its end, on its own line; and all of that line without it. */
type Around = { context: string; before: string; line: string }

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

/** All that an error body of any shape says. `sent`: what it is about, where that is known. */
export const saidIn = (body: unknown, sent?: JsonObject): Said => {
  const told: Name[] = []
  const texts: string[] = []
  collect(body as Json | undefined, { told, texts, left: MOST_CHARS, sent: sent ?? {} }, 0)
  const text = texts.join('\n').slice(0, MOST_CHARS)
  const all = new Map([...told, ...namesIn(text, sent)].map((name) => [`${name.found} ${name.steps.join('.')}`, name]))
  return { text, names: [...all.values()].slice(0, MOST_NAMES) }
}

/** `left`: characters of text that are still read; what comes behind them would be cut off. */
type Collected = { told: Name[]; texts: string[]; left: number; sent: JsonObject }

const collect = (value: Json | undefined, all: Collected, depth: number): void => {
  if (depth > MOST_DEPTH) return
  if (typeof value === 'string') {
    const inner = /^\s*[{[]/.test(value) ? parseJson(value) : undefined
    if (isObject(inner) || Array.isArray(inner)) collect(inner, all, depth + 1)
    else collectText(value, all, depth)
    return
  }
  if (Array.isArray(value)) {
    for (const one of value) collect(one, all, depth + 1)
    return
  }
  if (!isObject(value)) return
  all.told.push(...toldBy(value), ...keysOfFaults(value))
  for (const [name, inner] of Object.entries(value))
    if (!QUOTES.has(name) && !(PATHS.includes(name) && isPath(inner))) collect(inner, all, depth + 1)
}

/** What is told in the place of one may be a sentence, or a list of faults. */
const isPath = (value: Json | undefined): boolean =>
  Array.isArray(value) ? value.every((step) => !isObject(step) || step.key !== undefined) : !SAYS.test(`${value}`)
/** Three words in a row. */
const SAYS = /\w\W? \w+ \w/

/** A text, and apart from it the errors that it quotes. */
const collectText = (text: string, all: Collected, depth: number): void => {
  if (all.left <= 0) return
  let rest = withoutObjects(text.slice(0, MOST_CHARS), all.sent)
  all.left -= rest.length + '\n'.length
  const own = all.texts.push(rest) - 1
  for (const { at, end, value } of objectsIn(rest)) {
    const before = all.texts.length + all.told.length
    collect(value, all, depth + 1)
    if (all.texts.length + all.told.length > before) rest = blankWithin(rest, at, end)
  }
  all.texts[own] = rest
}

const NOWHERE: Around = { context: '', before: '', line: '' }

const toldBy = (members: JsonObject): Name[] => {
  const path = PATHS.map((name) => stepsIn(members[name])).find((steps) => steps.length > 0) ?? []
  const holders = [members, ...(isObject(members.params) ? [members.params] : [])]
  const within = holders.flatMap((one) => WITHIN.flatMap((name) => [one[name] ?? []].flat()))
  const names = within.filter((name) => typeof name === 'string').map((name) => [...path, name])
  const all = names.length > 0 ? names : path.length > 0 ? [path] : []
  return all.map((steps) => ({ found: 'told', steps, ...NOWHERE }))
}

/** Some servers list faults by the member's name. */
const keysOfFaults = (members: JsonObject): Name[] =>
  Object.entries(members)
    .filter(
      ([, faults]) => Array.isArray(faults) && faults.length > 0 && faults.every((one) => typeof one === 'string'),
    )
    .map(([name]) => ({ found: 'quoted', steps: stepsIn(name), ...NOWHERE }))

const stepsIn = (path: Json | undefined): string[] => {
  if (typeof path === 'string') return path.length > 300 || !isPath(path) ? [] : (path.match(STEP) ?? [])
  if (!Array.isArray(path)) return []
  return path
    .map((step) => (isObject(step) ? step.key : step))
    .filter((step) => typeof step === 'string' || typeof step === 'number')
    .map(String)
}

const STEP = /[A-Za-z_][\w-]*|\d+/g

/** A path in any notation: `a.0.b`, `a[0].b`, `a/0/b`, `a -> 0 -> b`. */
const PATH =
  /(?<![\w.$/-])(?:#?\/|\$\.|\.)?(?:[A-Za-z_]\w{0,63}(?:(?:\.|\/|::| ?-> ?)(?:[A-Za-z_]\w{0,63}|\d{1,6}|\*)|\[(?:\d{1,6}|'\w{1,64}'|"\w{1,64}")\]){1,12}|(?<=[#$]\/|[#$]\.|[\s'"`(]\/)[A-Za-z_]\w{0,63})/g
/** As Python prints the path of a fault. */
const TUPLE = /['"](?:loc|path)['"]: [([]([^()[\]\n]{1,200})[)\]]/g
/** A name, and the path of what it stands in. */
const WITHIN_PATH = /['"`](\w{1,64})['"`] (?:at|in|of|under|inside) ['"`]([\w.[\]]{1,200})['"`]/g
/** An apostrophe opens nothing. */
const QUOTED = /(?<!\w)'([^'\n]{1,120})'|"([^"\n]{1,120})"|`([^`\n]{1,120})`|‘([^’\n]{1,120})’|“([^”\n]{1,120})”/g
const WORD = /[A-Za-z_][\w-]{0,63}/g
const NAME = /^[\w.$[\]/#:-]{1,120}$/

const namesIn = (text: string, sent: JsonObject = {}): Name[] => {
  const paths: Name[] = []
  const named = (found: Found, at: number, length: number, steps: string[]): Name => ({
    found,
    steps,
    ...aroundIn(text, at, length),
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
  rest = withoutKnown(rest, sent)
  const quoted: Name[] = []
  const words: Name[] = []
  for (const match of rest.matchAll(QUOTED)) {
    const inner = match.slice(1).find((one) => one !== undefined) ?? ''
    const all = inner.split(/,\s*/).filter((one) => NAME.test(one))
    for (const one of all) quoted.push(named('quoted', match.index, match[0].length, one.match(STEP) ?? []))
  }
  const plain = new Set<string>()
  for (const { 0: line, index: from } of rest.matchAll(/[^\n]+/g)) {
    const isOurs = isEnglish(line)
    for (const { 0: word, index } of line.matchAll(WORD)) {
      const isSure = isNamed(word, rest, from + index) || isMarked(word, line, index)
      const isPlain = !isSure && word.length > 1 && Object.hasOwn(sent, word) && !plain.has(word)
      if (!isSure && !(isPlain && (!isOurs || standsForItself(word, line, index)))) continue
      const isMember = isName(word) || (word !== 'input' && CALLED_ONE.test(line.slice(index + word.length)))
      const found = isSure ? (isMember ? 'name' : 'word') : 'plain'
      words.push(named(found, from + index, word.length, [word]))
      if (isPlain) plain.add(word)
    }
  }
  return [...paths, ...quoted, ...words].filter(({ steps }) => steps.length > 0)
}

/** What follows a name that is one. */
export const CALLED_ONE = /^ (?:parameter|argument|field|property|option)\b|^ ?(?:参数|字段)/

/** Characters on either side by which a name is told from one in a text that the client sent. */
const AROUND = 12

export const aroundIn = (text: string, at: number, length: number): Around => {
  const from = text.lastIndexOf('\n', at) + 1
  const next = text.indexOf('\n', at)
  const to = next === -1 ? text.length : next
  return {
    before: text.slice(from, at + length),
    context: text.slice(Math.max(from, at - AROUND), Math.min(to, at + length + AROUND)),
    line: `${text.slice(from, at)} ${text.slice(at + length, to)}`,
  }
}

/** Between marks of any script, or at an equals sign: no word of a sentence stands so. */
const isMarked = (word: string, text: string, at: number): boolean => {
  const after = text.slice(at + word.length, at + word.length + 3)
  return (OPENING.test(text.slice(Math.max(0, at - 2), at)) && CLOSING.test(after)) || /^=|^ = /.test(after)
}
const OPENING = /[\p{Ps}\p{Pi}\p{Sm}\p{Sk}*_]\s?$/u
const CLOSING = /^\s?[\p{Pe}\p{Pf}\p{Pi}\p{Sm}\p{Sk}*_]/u

/**
 * Whether a word of a sentence stands in it as a name does, without an article and for itself. In a sentence of another language
 * than that of the names any word is one that could be.
 */
const standsForItself = (word: string, line: string, at: number): boolean => {
  const after = line.slice(at + word.length, at + word.length + 40)
  return (
    !GOVERNS.test(line.slice(Math.max(0, at - 40), at)) && (/^(?:$|\s*[^\w\s'’-])/.test(after) || standsBefore(after))
  )
}
/** What makes the next word one of the sentence: a thing, or something done. */
const GOVERNS =
  /(?:^|[^\w])(?:the|an?|this|that|these|those|your|you|our|we|my|their|they|its|it|any|some|each|every|no|to|please|cannot|can|will|would|must|should|could|may|n[o’']t|not) $/i

/** With an underscore or a hump. */
const isName = (word: string): boolean => /[a-z\d]_[a-z\d]|[a-z][A-Z]/.test(word)

/** Another word is a name at the places where servers put names. */
const isNamed = (word: string, text: string, at: number): boolean => {
  if (isName(word)) return true
  const before = text.slice(Math.max(0, at - 40), at)
  const after = text.slice(at + word.length, at + word.length + 40)
  if (CALLED_ONE.test(after)) return true
  return /(?:parameter|argument|field|property|member|option|attribute|setting|input|key|keyword|name|supplied|invalid|unsupported|unknown|unrecogni[sz]ed|unexpected|for)(?:\(s\)|s)?:? ?\(?$/i.test(
    before,
  )
    ? /^(?:$|[.,:;)\n]| (?:is|are|was|has|value|parameter|must|cannot|can't|should|does|in|for|at|on|out|exceeds)\b)/.test(
        after,
      )
    : /(?:^|\n|[.:;] )$/.test(before) &&
        /^(?:: |=| (?:is|are|must|cannot|can't|should|does|may|isn't|requires|has|parameter|range)\b)/.test(after)
}
