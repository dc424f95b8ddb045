// Help as text: the list of commands, and one command's arguments, flags and examples.

import type { ArgDef } from 'citty'
import type { Command, Group } from './command.ts'
import { columns } from './table.ts'

type Entry = Command | Group

/** The whole tool, on one screen: what is below a command is named beside it. */
export const rootHelp = (entries: Entry[]): string =>
  [
    'sluice: an LLM gateway in one file.',
    '',
    'Usage: sluice COMMAND [arguments] [flags]',
    '',
    'Commands:',
    ...described(entries.map((entry) => [entry.name, entry.summary + namesBelow(entry)])),
    '',
    'More: sluice COMMAND --help. Exit codes: 0 success, 1 failure, 2 wrong usage.',
  ].join('\n')

const namesBelow = (entry: Entry): string => {
  const below = 'commands' in entry ? entry.commands : (entry.below ?? [])
  const names = below.map(({ name }) => name).join(', ')
  if (names === '') return ''
  return 'commands' in entry ? `: ${names}` : `; also ${names}`
}

export const groupHelp = (group: Group): string =>
  [
    `sluice ${group.name}: ${group.summary}`,
    '',
    `Usage: sluice ${group.name} COMMAND [arguments] [flags]`,
    '',
    'Commands:',
    ...described(group.commands.map((command) => [command.name, command.summary])),
  ].join('\n')

/** `path` is the command as typed: `keys create`. */
export const commandHelp = (path: string, command: Command): string => {
  const all = Object.entries(command.args)
  const positional = all.filter(([, arg]) => arg.type === 'positional')
  const flags = all.filter(([, arg]) => arg.type !== 'positional')
  const placeholders = positional.map(([name, arg]) =>
    arg.required === false ? `[${name.toUpperCase()}]` : name.toUpperCase(),
  )
  return [
    ...wrapped(`sluice ${path}: ${command.summary}`, WIDTH),
    '',
    `Usage: ${['sluice', path, ...placeholders, ...(flags.length > 0 ? ['[flags]'] : [])].join(' ')}`,
    ...section(
      'Arguments',
      positional.map(([name, arg]) => [name.toUpperCase(), meaningOf(arg)]),
    ),
    ...section('Flags', [
      ...flags.map(([name, arg]): Row => [flagWord(name, arg), meaningOf(arg)]),
      ['--help', 'Show this help'],
    ]),
    ...section(
      'Commands',
      (command.below ?? []).map(({ name, summary }) => [`${path} ${name}`, summary]),
    ),
    ...(command.examples.length > 0 ? ['', 'Examples:', ...command.examples.map((line) => `  ${line}`)] : []),
  ].join('\n')
}

/** A word, and what it means. */
type Row = [word: string, meaning: string]

const section = (title: string, rows: Row[]): string[] => (rows.length > 0 ? ['', `${title}:`, ...described(rows)] : [])

/** A terminal breaks what is longer in the midst of a word, and goes on at its edge. */
const WIDTH = 80
const INDENT = '  '

const described = (rows: Row[]): string[] => {
  const room = WIDTH - INDENT.length - 2 - Math.max(...rows.map(([word]) => word.length))
  const lines = rows.flatMap(([word, meaning]) =>
    wrapped(meaning, room).map((line, at) => [at === 0 ? word : '', line]),
  )
  return columns(lines, INDENT)
}

const wrapped = (text: string, room: number): string[] => {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const before = lines.at(-1)
    if (before === undefined || before.length + 1 + word.length > room) lines.push(word)
    else lines[lines.length - 1] = `${before} ${word}`
  }
  return lines
}

const flagWord = (name: string, arg: ArgDef): string =>
  arg.type === 'boolean' ? `--${name}` : `--${name} ${arg.valueHint ?? 'VALUE'}`

const meaningOf = (arg: ArgDef): string =>
  `${arg.description ?? ''}${arg.default === undefined ? '' : ` (default ${arg.default})`}`
