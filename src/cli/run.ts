// The command line: a function from words to an exit code. The table of commands is written out by hand.

import { GatewayError } from '../errors.ts'
import { nearest } from '../lib/nearest.ts'
import { isStoreError } from '../store/store.ts'
import { accounts } from './accounts.ts'
import { adminResetLink } from './admin/reset-link.ts'
import { alerts } from './alerts.ts'
import { backup } from './backup.ts'
import type { Command, Group } from './command.ts'
import { complete } from './complete.ts'
import { configCheck } from './config/check.ts'
import { configEntries, configSet, configUnset } from './config/entries.ts'
import { configInit } from './config/init.ts'
import { configSchema } from './config/schema.ts'
import { connect } from './connect.ts'
import { demo } from './demo.ts'
import { budget } from './gateway-budget.ts'
import { health } from './health.ts'
import { commandHelp, groupHelp, rootHelp } from './help.ts'
import { EXIT, type Io, isUsageError, usageError } from './io.ts'
import { keysCreate } from './keys/create.ts'
import { keysList } from './keys/list.ts'
import { keysRevoke } from './keys/revoke.ts'
import { keysRotate } from './keys/rotate.ts'
import { keysShow } from './keys/show.ts'
import { keysUpdate } from './keys/update.ts'
import { membersBudget, membersInvite, membersList, membersRemove } from './members.ts'
import { migrate } from './migrate.ts'
import { models } from './models.ts'
import { reload } from './reload.ts'
import { restore } from './restore.ts'
import { serve } from './serve.ts'
import { sessionsEnd, sessionsList } from './sessions.ts'
import { teamsAdd, teamsBudget, teamsCreate, teamsLeave, teamsList, teamsRemove } from './teams.ts'
import { usage } from './usage.ts'
import { version } from './version.ts'

export const COMMANDS: (Command | Group)[] = [
  serve,
  demo,
  {
    name: 'keys',
    summary: 'Keys of clients',
    commands: [keysCreate, keysList, keysShow, keysUpdate, keysRevoke, keysRotate],
  },
  connect,
  usage,
  models,
  accounts,
  alerts,
  {
    name: 'members',
    summary: 'Who may sign in to the dashboard',
    commands: [membersList, membersInvite, membersBudget, membersRemove],
  },
  {
    name: 'teams',
    summary: 'Groups of members',
    commands: [teamsList, teamsCreate, teamsAdd, teamsLeave, teamsBudget, teamsRemove],
  },
  budget,
  { name: 'sessions', summary: 'Who is signed in to the dashboard', commands: [sessionsList, sessionsEnd] },
  { name: 'admin', summary: 'A way back into the dashboard', commands: [adminResetLink] },
  {
    name: 'config',
    summary: 'The configuration',
    commands: [configCheck, configSchema, configInit, configSet, configUnset, configEntries],
  },
  backup,
  restore,
  migrate,
  health,
  reload,
  complete(() => COMMANDS),
  version,
]

/** `words` are those after the program's name. 0 done, 1 failed, 2 wrong usage or configuration. Never throws. */
export const run = async (words: string[], io: Io): Promise<number> => {
  try {
    return await dispatch(words, io)
  } catch (error) {
    io.err(error instanceof Error ? error.message : String(error))
    const refused = error instanceof GatewayError && error.code === 'invalid_request'
    if (!isExpected(error)) io.err('This is a fault of sluice itself; please report it.')
    return isUsageError(error) || refused ? EXIT.usage : EXIT.failed
  }
}

const dispatch = async ([first, ...rest]: string[], io: Io): Promise<number> => {
  if (first === undefined || isHelp(first) || first === 'help') return help(rest, io)
  const isVersion = ['--version', '-v', '-V'].includes(first)
  if (first.startsWith('-') && !isVersion) throw usageError(flagsFirst(first))
  const entry = find(COMMANDS, isVersion ? 'version' : first, 'sluice')
  const [second, ...words] = rest
  if (!('commands' in entry)) {
    const below = entry.below?.find(({ name }) => name === second)
    return below === undefined
      ? start(entry, entry.name, rest, io)
      : start(below, `${entry.name} ${below.name}`, words, io)
  }
  if (second === undefined) throw usageError(`A command is missing. ${listed(entry.commands, `sluice ${entry.name}`)}`)
  if (isHelp(second)) return print(groupHelp(entry), io)
  const command = find(entry.commands, second, `sluice ${entry.name}`)
  return start(command, `${entry.name} ${command.name}`, words, io)
}

const start = (command: Command, path: string, words: string[], io: Io): Promise<number> | number => {
  const end = words.indexOf('--')
  return (end === -1 ? words : words.slice(0, end)).some(isHelp)
    ? print(commandHelp(path, command), io)
    : command.run(words, io)
}

/** `help keys create` asks for what `keys create --help` does; `help` alone is of the whole tool. */
const help = (words: string[], io: Io): Promise<number> | number => {
  const path = words.filter((word) => !isHelp(word))
  return path.length === 0 ? print(rootHelp(COMMANDS), io) : dispatch([...path, '--help'], io)
}

const isHelp = (word: string): boolean => word === '--help' || word === '-h'

const print = (text: string, io: Io): number => {
  io.out(text)
  return EXIT.ok
}

const find = <T extends { name: string }>(entries: T[], name: string, path: string): T => {
  const entry = entries.find((candidate) => candidate.name === name)
  if (entry) return entry
  const near = nearest(
    name,
    entries.map((candidate) => candidate.name),
  )
  const hint = near === undefined ? listed(entries, path) : `Did you mean "${path} ${near}"?`
  throw usageError(`Unknown command "${path} ${name}". ${hint}`)
}

const flagsFirst = (word: string): string => {
  const [flag = ''] = word.split('=')
  return flag.replace(/^--/, '') in serve.args
    ? `A command comes before its flags: "sluice serve ${flag}" runs the gateway, and "sluice help" lists the others.`
    : `Unknown flag ${flag}; "sluice help" lists the commands, which come before their flags.`
}

const listed = (entries: { name: string }[], path: string): string =>
  `"${path}" takes: ${entries.map(({ name }) => name).join(', ')}.`

// Anything else is a programming error: its message may still help, but it is not one of our sentences.
const isExpected = (error: unknown): boolean =>
  isUsageError(error) ||
  isStoreError(error) ||
  error instanceof GatewayError ||
  (error instanceof Error && (error.name === 'Failure' || error.name === 'Refused' || 'code' in error))
