// `complete SHELL`: a script for the shell, which asks `complete -- WORDS` for what may follow. Both are of the same tree of
// commands as the help.

import { RootCommand } from '@bomb.sh/tab'
import type { ArgDef } from 'citty'
import { type Command, commandsIn, type Group } from './command.ts'
import { EXIT, type Io, usageError } from './io.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell']

/** `entries`: the tree, asked for when it is whole. */
export const complete = (entries: () => (Command | Group)[]): Command => ({
  name: 'complete',
  summary: `Print completions for a shell: ${SHELLS.join(', ')}`,
  args: { shell: { type: 'positional', description: `One of ${SHELLS.join(', ')}` } },
  examples: ['source <(sluice complete bash)', 'sluice complete fish > ~/.config/fish/completions/sluice.fish'],
  run: async ([first, ...words], io) => {
    if (first === '--') return answer(entries(), words, io)
    if (first === undefined || words.length > 0 || !SHELLS.includes(first)) {
      throw usageError(`Name the shell to complete in: ${SHELLS.join(', ')}.`)
    }
    for (const line of said(() => new RootCommand().setup('sluice', 'sluice', first))) io.out(line)
    return EXIT.ok
  },
})

/** What tells the shells' scripts to complete the names of files, and to complete none. */
const [FILES, NO_FILES] = [':0', ':4']

const answer = (entries: (Command | Group)[], words: string[], io: Io): number => {
  const root = new RootCommand()
  const last = words.at(-2) ?? ''
  let files = false
  // Groups too, so that their names are completed.
  const named = entries.flatMap((entry) => [
    ...('commands' in entry ? [{ path: entry.name, command: { summary: entry.summary, args: {} } }] : []),
    ...commandsIn([entry]),
  ])
  for (const {
    path,
    command: { summary, args },
  } of named) {
    const command = root.command(path, summary)
    for (const [name, arg] of Object.entries(args)) {
      const description = arg.description ?? ''
      if (name === 'shell') command.argument(name, (found) => SHELLS.forEach((shell) => void found(shell, '')))
      else if (arg.type === 'positional') command.argument(name)
      else if (arg.type === 'boolean') command.option(name, description)
      else command.option(name, description, (found) => valuesOf(arg).forEach((value) => void found(value, '')))
      files ||= last === `--${name}` && (arg.valueHint === 'FILE' || arg.valueHint === 'DIR')
    }
    files ||= 'file' in args && path === words.slice(0, -1).join(' ')
  }
  for (const line of said(() => root.parse(words))) io.out(line === NO_FILES && files ? FILES : line)
  return EXIT.ok
}

const valuesOf = (arg: ArgDef): readonly string[] => (arg.type === 'enum' ? (arg.options ?? []) : [])

/** What the library says, which writes to the console. */
const said = (speak: () => void): string[] => {
  const lines: string[] = []
  const { log } = console
  console.log = (line: string) => void lines.push(line)
  try {
    speak()
  } finally {
    console.log = log
  }
  return lines
}
