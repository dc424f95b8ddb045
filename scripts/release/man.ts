// The manual page, of the same tree of commands as the help.

import type { ArgDef } from 'citty'
import type { Command } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/run.ts'

const VARIABLES: readonly (readonly [string, string])[] = [
  ['SLUICE_CONFIG', 'The configuration file, as --config names it.'],
  ['SLUICE_HOST, SLUICE_PORT', 'Where to listen, as --host and --port say.'],
  ['SLUICE_DATA', 'The data directory, as --data names it.'],
  ['SLUICE_SERVER, SLUICE_TOKEN', 'The server that keys, usage, models and accounts ask, and an admin token for it.'],
]

/** Roff for a section 1 page. */
export const manual = (version: string): string =>
  [
    `.TH SLUICE 1 "" "sluice ${version}"`,
    '.SH NAME',
    'sluice \\- an LLM gateway in one file',
    '.SH SYNOPSIS',
    '.B sluice',
    '.I COMMAND',
    '[arguments] [flags]',
    '.SH COMMANDS',
    ...COMMANDS.flatMap((entry) =>
      'commands' in entry
        ? entry.commands.flatMap((command) => section(`${entry.name} ${command.name}`, command))
        : section(entry.name, entry),
    ),
    '.SH ENVIRONMENT',
    ...VARIABLES.flatMap(([name, does]) => ['.TP', `.B ${escaped(name)}`, escaped(does)]),
    '.SH EXIT STATUS',
    '0 success, 1 failure, 2 wrong usage or configuration.',
    '',
  ].join('\n')

const section = (path: string, { summary, args, examples }: Command): string[] => [
  `.SS ${escaped(`sluice ${path}`)}`,
  `${escaped(summary)}.`,
  ...Object.entries(args).flatMap(([name, arg]) => [
    '.TP',
    `.B ${escaped(wordOf(name, arg))}`,
    escaped(described(arg)),
  ]),
  ...(examples.length === 0 ? [] : ['.PP', '.nf', ...examples.map(escaped), '.fi']),
]

const wordOf = (name: string, arg: ArgDef): string => {
  if (arg.type === 'positional') return name.toUpperCase()
  return arg.type === 'boolean' ? `--${name}` : `--${name} ${arg.valueHint ?? 'VALUE'}`
}

const described = ({ description = '', default: otherwise }: ArgDef): string =>
  `${description}${otherwise === undefined ? '' : ` (default ${otherwise})`}.`

/** A line that roff prints as it is written. */
const escaped = (text: string): string =>
  text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&').replaceAll('…', '...')
