// The manual page, of the same tree of commands as the help.

import type { ArgDef } from 'citty'
import { type Command, commandsIn } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/run.ts'

const VARIABLES: readonly (readonly [string, string])[] = [
  ['SLUICE_CONFIG', 'The configuration file, as --config names it.'],
  ['SLUICE_HOST, SLUICE_PORT, SLUICE_WORKERS', 'As --host, --port and --workers of serve say.'],
  ['SLUICE_DATA', 'The data directory, as --data names it.'],
  ['SLUICE_STORE, SLUICE_LIMITS_STORE', 'As store and limits_store of the configuration say.'],
  ['SLUICE_KEY', 'What seals credentials that are added at run time, in place of a file in the data directory.'],
  ['SLUICE_SERVER, SLUICE_TOKEN', 'The server that a command asks, and an admin token for it.'],
  ['SLUICE_API_KEY', 'The key that connect writes.'],
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
    ...commandsIn(COMMANDS).flatMap(({ path, command }) => section(path, command)),
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
