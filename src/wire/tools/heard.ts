// Which of the request's tools a call is for: the one that was sent under its name or, where a model has written the name
// in another way, the only one that it can mean.

import type { ToolCallPart } from '../../ir/part.ts'
import type { SentTool, Undo } from '../codec.ts'

/** A call as the provider named it. */
export type Heard = Pick<ToolCallPart, 'name' | 'kind'> & { namespace?: string | undefined }

/** The key of a tool in `Undo.tools`. */
export const sentAs = (name: string, namespace?: string): string =>
  namespace === undefined ? name : `${namespace}.${name}`

/**
 * The tool as the client knows it, or `answer` for the one that stands for structured output. Undefined where there is none,
 * and where several could be meant: such a call stays as it came.
 */
export const toolHeard = (heard: Heard, undo: Undo): SentTool | 'answer' | undefined => {
  const { tools = {}, jsonTool } = undo
  const sent = sentAs(heard.name, heard.namespace)
  if (jsonTool !== undefined && sent === jsonTool) return 'answer'
  if (Object.hasOwn(tools, sent)) return tools[sent]
  if (undo.tools === undefined && jsonTool === undefined) return undefined
  return meant(heard, offeredIn(undo))
}

/** Whether the name may go on in the next piece: some offered name begins with it, and it is not whole. */
export const mayGoOn = (piece: string, { tools = {}, jsonTool = '' }: Undo): boolean =>
  piece !== '' && [jsonTool, ...Object.keys(tools)].some((sent) => sent.length > piece.length && sent.startsWith(piece))

/** `spelled`: the words of its names, as it was sent and as the client has it. */
type Offered = { tool: SentTool | 'answer'; spelled: string[][] }

const offeredIn = ({ tools = {}, jsonTool }: Undo): Offered[] => [
  ...Object.entries(tools).map(([sent, tool]) => ({
    tool,
    spelled: [wordsOf(sent), wordsOf(sentAs(tool.name, tool.namespace))],
  })),
  ...(jsonTool === undefined ? [] : [{ tool: 'answer' as const, spelled: [wordsOf(jsonTool)] }]),
]

/** Namespaces and names are joined in several ways. */
const wordsOf = (name: string): string[] => name.split(/(?:__|[.:/])+/).filter((word) => word !== '')

/** What some models write behind a name: a mark of their own, the number of the call. */
const written = (name: string): string =>
  name
    .replace(/<\|.*$/s, '')
    .replace(/:\d+$/, '')
    .trim()

/** The namespaces in which models were taught to look for functions: no client need have them. */
const CONTAINERS = new Set(['functions', 'function', 'tools', 'tool', 'default_api', 'mcp'])

/** Whether a tool of these words is meant by the heard ones. `join`: the words as one text to compare. */
type Reading = (heard: string[], words: string[], join: Join) => boolean
type Join = (words: readonly string[]) => string

const isSame: Reading = (heard, words, join) => join(heard) === join(words)

/** The end of a name of several words. */
const isEnd: Reading = (heard, words, join) => words.some((_, at) => at > 0 && join(words.slice(at)) === join(heard))

const letter: Join = (words) => words.join('.')
/** Whatever the case, hyphens and underscores. */
const loose: Join = (words) =>
  words
    .join('')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

const meant = ({ name, namespace, kind }: Heard, offered: readonly Offered[]): Offered['tool'] | undefined => {
  const whole = wordsOf(sentAs(written(name), namespace))
  const inside = withoutContainer(whole)
  const bare = withoutUnknownNamespace(written(name), namespace, offered)
  for (const join of [letter, loose]) {
    for (const reading of [isSame, isEnd]) {
      for (const heard of new Set([whole, inside, bare])) {
        if (join(heard) === '') continue
        const found = offered.filter(({ spelled }) => spelled.some((words) => reading(heard, words, join)))
        if (found.length > 0) return onlyOne(found, kind)
      }
    }
  }
  return undefined
}

const onlyOne = (found: readonly Offered[], kind: Heard['kind']): Offered['tool'] | undefined => {
  if (found.length === 1) return found[0]?.tool
  const ofKind = found.filter(({ tool }) => tool !== 'answer' && tool.kind === kind)
  return ofKind.length === 1 ? ofKind[0]?.tool : undefined
}

/** A model may also put a tool in a namespace of its own name. */
const withoutContainer = (words: string[]): string[] => {
  const [first = '', ...rest] = words
  return rest.length > 0 && (CONTAINERS.has(first) || first === rest.at(-1)) ? withoutContainer(rest) : words
}

/** No name that is sent holds a dot, so what stands before one is a namespace: it says nothing where no tool has it. */
const withoutUnknownNamespace = (
  name: string,
  namespace: string | undefined,
  offered: readonly Offered[],
): string[] => {
  const dot = name.lastIndexOf('.')
  const [before, last] =
    namespace !== undefined ? [namespace, name] : dot > 0 ? [name.slice(0, dot), name.slice(dot + 1)] : ['', name]
  const known = loose(wordsOf(before))
  const isKnown = offered.some(
    ({ tool, spelled: [sent = []] }) =>
      (tool !== 'answer' && tool.namespace !== undefined && loose(wordsOf(tool.namespace)) === known) ||
      loose(sent.slice(0, -1)) === known,
  )
  return wordsOf(isKnown && before !== '' ? sentAs(name, namespace) : last)
}
