// A command as data, and the strict reading of its arguments: citty parses, but lets unknown flags and arguments pass.

import { type ArgDef, type ArgsDef, type CommandDef, defineCommand, type ParsedArgs, runCommand } from 'citty'
import { nearest } from '../lib/nearest.ts'
import { type Io, usageError } from './io.ts'

export type Command = {
  name: string
  summary: string
  args: ArgsDef
  /** Lines that show it at work, for its help. */
  examples: string[]
  /** The words that an argument or a flag takes, where they are known: for completions. */
  words: Readonly<Record<string, readonly string[]>>
  /** Commands under its name, beside itself: `models fetch`. */
  below?: Command[]
  /** Runs it on the words after its name; throws a UsageError for those it does not take. The exit code. */
  run(words: string[], io: Io): Promise<number>
}

/** Commands under one name: `keys create`, `keys list`. */
export type Group = { name: string; summary: string; commands: Command[] }

/** Every command by its whole name: `serve`, `keys create`, `models`, `models fetch`. */
export const commandsIn = (entries: readonly (Command | Group)[]): { path: string; command: Command }[] =>
  entries.flatMap((entry) => {
    const below = 'commands' in entry ? entry.commands : (entry.below ?? [])
    const named = below.map((command) => ({ path: `${entry.name} ${command.name}`, command }))
    return 'commands' in entry ? named : [{ path: entry.name, command: entry }, ...named]
  })

type CommandOptions<A extends ArgsDef> = {
  name: string
  summary: string
  args: A
  examples?: string[]
  words?: { [name in keyof A & string]?: readonly string[] }
  below?: Command[]
  /** The flag that somebody means who gives an argument more than it takes. */
  meant?: keyof A & string
  run(args: ParsedArgs<A>, io: Io): Promise<number> | number
}

export const command = <const A extends ArgsDef>({
  name,
  summary,
  args,
  examples = [],
  words: known = {},
  below,
  meant,
  run,
}: CommandOptions<A>): Command => {
  const definition: CommandDef<A> = defineCommand({
    meta: { name, description: summary },
    args,
    run: ({ args: parsed, data }) => run(parsed, data as Io),
  })
  return {
    name,
    summary,
    args,
    examples,
    words: known as Command['words'],
    ...(below === undefined ? {} : { below }),
    run: async (words, io) => {
      const { result } = await runCommand(definition, { rawArgs: strictWords(words, args, meant), data: io })
      return result as number
    },
  }
}

/**
 * The words in a form that can be read one way only: `--name=value`, `--name`, and the positional arguments after `--`.
 * Throws a UsageError for a flag or argument the command does not take, a flag without its value or with two, or a
 * missing argument.
 */
const strictWords = (words: string[], args: ArgsDef, meant?: string): string[] => {
  const flags = new Map(Object.entries(args).filter(([, arg]) => arg.type !== 'positional'))
  const places = Object.entries(args).filter(([, arg]) => arg.type === 'positional')
  const options = new Map<string, string | undefined>()
  const positional: string[] = []
  const rest = words.values()
  for (const word of rest) {
    if (word === '--') positional.push(...rest)
    else if (!word.startsWith('-') || word === '-') positional.push(word)
    else {
      const [flag, value] = strictFlag(word, flags, () => rest.next().value)
      if (options.get(flag) !== undefined) throw usageError(`${flag} is given twice; give it once.`)
      options.set(flag, value)
    }
  }
  const extra = positional[places.length]
  if (extra !== undefined) {
    const isMeant = meant !== undefined && !options.has(`--${meant}`) && mayBe(flags.get(meant), extra)
    const hint = isMeant ? ` Did you mean --${meant} ${quoted(extra)}?` : ''
    throw usageError(`Unexpected argument "${extra}".${hint}`)
  }
  const missing = places.slice(positional.length).find(([, arg]) => arg.required !== false)
  if (missing) {
    const [name, arg] = missing
    throw usageError(`Missing ${name.toUpperCase()}: ${described(arg)}.`)
  }
  const absent = [...flags].find(([name, { required }]) => required === true && !options.has(`--${name}`))
  if (absent) throw usageError(`--${absent[0]} is required: ${described(absent[1])}.`)
  const written = [...options].map(([flag, value]) => (value === undefined ? flag : `${flag}=${value}`))
  return [...written, '--', ...positional]
}

/** Within a sentence. */
const described = ({ description = '' }: ArgDef): string =>
  `${description.charAt(0).toLowerCase()}${description.slice(1)}`

/** A word is not meant for a port. */
const mayBe = (flag: ArgDef | undefined, word: string): boolean =>
  flag === undefined || !('valueHint' in flag) || flag.valueHint !== 'PORT' || /^\d+$/.test(word)

const quoted = (word: string): string => (/^[\w.@-]+$/.test(word) ? word : JSON.stringify(word))

/** `--name` and its value, undefined for a flag that takes none. `next` takes the word after the flag. */
const strictFlag = (
  word: string,
  flags: ReadonlyMap<string, ArgDef>,
  next: () => string | undefined,
): [string, string | undefined] => {
  const [, written = word, given] = /^([^=]*)=(.*)$/s.exec(word) ?? []
  const flag = flags.get(written.replace(/^--/, ''))
  if (flag === undefined) throw usageError(unknownFlag(written, [...flags.keys()]))
  if (flag.type === 'boolean') {
    if (given !== undefined) throw usageError(`${written} takes no value.`)
    return [written, undefined]
  }
  const value = given ?? next()
  if (value === undefined || value === '' || (given === undefined && value.startsWith('--'))) {
    throw usageError(`${written} needs a value.`)
  }
  if (flag.type === 'enum' && flag.options && !flag.options.includes(value)) {
    throw usageError(`${written}: found "${value}", allowed: ${flag.options.join(', ')}.`)
  }
  return [written, value]
}

const unknownFlag = (written: string, known: string[]): string => {
  const near = nearest(written.replace(/^-+/, ''), known)
  return `Unknown flag ${written}${near === undefined ? '; --help lists those that this command takes.' : `; did you mean --${near}?`}`
}
