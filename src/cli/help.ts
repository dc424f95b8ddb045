// Help as text: the list of commands, and one command's arguments, flags and examples.

import type { ArgDef } from 'citty'
import type { Command, Group } from './command.ts'
import { columns } from './table.ts'

type Entry = Command | Group

/** The whole tool. */
export const rootHelp = (entries: Entry[]): string => {
  const lines = entries.flatMap((entry) =>
    'commands' in entry
      ? entry.commands.map((command) => [`${entry.name} ${command.name}`, command.summary])
      : [
          [entry.name, entry.summary],
          ...(entry.below ?? []).map(({ name, summary }) => [`${entry.name} ${name}`, summary]),
        ],
  )
  return [
    'sluice: an LLM gateway in one file.',
    '',
    'Usage: sluice COMMAND [arguments] [flags]',
    '',
    'Commands:',
    ...columns(lines, '  '),
    '',
    '"sluice COMMAND --help" shows a command\'s flags. Exit codes: 0 success, 1 failure, 2 wrong usage or configuration.',
  ].join('\n')
}

export const groupHelp = (group: Group): string =>
  [
    `sluice ${group.name}: ${group.summary}`,
    '',
    `Usage: sluice ${group.name} COMMAND [arguments] [flags]`,
    '',
    'Commands:',
    ...columns(
      group.commands.map((command) => [command.name, command.summary]),
      '  ',
    ),
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
    `sluice ${path}: ${command.summary}`,
    '',
    `Usage: ${['sluice', path, ...placeholders, ...(flags.length > 0 ? ['[flags]'] : [])].join(' ')}`,
    ...section(
      'Arguments',
      positional.map(([name, arg]) => [name.toUpperCase(), described(arg)]),
    ),
    ...section('Flags', [
      ...flags.map(([name, arg]) => [flagWord(name, arg), described(arg)]),
      ['--help', 'Show this help'],
    ]),
    ...section(
      'Commands',
      (command.below ?? []).map(({ name, summary }) => [`${path} ${name}`, summary]),
    ),
    ...(command.examples.length > 0 ? ['', 'Examples:', ...command.examples.map((line) => `  ${line}`)] : []),
  ].join('\n')
}

const section = (title: string, rows: string[][]): string[] =>
  rows.length > 0 ? ['', `${title}:`, ...columns(rows, '  ')] : []

const flagWord = (name: string, arg: ArgDef): string =>
  arg.type === 'boolean' ? `--${name}` : `--${name} ${arg.valueHint ?? 'VALUE'}`

const described = (arg: ArgDef): string =>
  `${arg.description ?? ''}${arg.default === undefined ? '' : ` (default ${arg.default})`}`
