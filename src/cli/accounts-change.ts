// `accounts add`, `update`, `remove`, `test`, `reseal`: accounts that are kept beside the configuration. A credential is asked for,
// or read where a script can keep it: never a word of the command line, which others see.

import {
  type AccountChange,
  changedAccount,
  draftOf,
  type NewAccount,
  removedAccount,
  resealAccounts,
} from '../entries/accounts.ts'
import { accountName } from '../entries/entries.ts'
import { PRESETS } from '../provider/presets/index.ts'
import { allAnswer, askAll, chosenAccounts, findingLines, NO_ACCOUNT } from './asked.ts'
import { BACKEND_FLAGS, serverAddress } from './backend.ts'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, wholeConfig, withStore } from './data.ts'
import { CLI_ACTOR, EXIT, failure, type Io, printJson, usageError } from './io.ts'
import { type Kept, keptIn } from './kept.ts'

const CREDENTIAL_FLAGS = {
  'credential-env': {
    type: 'string',
    valueHint: 'NAME',
    description:
      'The environment variable that holds the credential now; it is sealed and kept, the variable is not needed again',
  },
} as const

const PLACE_FLAGS = {
  'base-url': { type: 'string', valueHint: 'URL', description: "Where the provider answers (default: the preset's)" },
  weight: { type: 'string', valueHint: 'N', description: 'Share of the requests beside other accounts (default 1)' },
} as const

const NAMED = {
  account: {
    type: 'positional',
    required: true,
    description: "The account as PROVIDER/NAME, the provider by its id or its preset's",
  },
} as const

export const accountsAdd = command({
  name: 'add',
  summary: 'Add an account, in force at once; its credential is asked for, or read from standard input',
  args: {
    preset: {
      type: 'positional',
      required: false,
      description: 'The vendor or server, of those that "sluice config init --help" names',
    },
    provider: { type: 'string', valueHint: 'ID', description: "The provider it is of (default: the preset's own)" },
    name: { type: 'string', valueHint: 'NAME', description: 'Its name (default main)' },
    wires: { type: 'string', valueHint: 'a,b', description: 'Without a preset: the wires that a new provider speaks' },
    auth: { type: 'string', valueHint: 'HOW', description: 'Without a preset: the header that carries the credential' },
    ...PLACE_FLAGS,
    ...CREDENTIAL_FLAGS,
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  words: { preset: PRESETS.map(({ name }) => name) },
  examples: [
    'sluice accounts add anthropic',
    'sluice accounts add openai --name spare --weight 0.5 < key.txt',
    'sluice accounts add ollama --base-url http://gpu.internal:11434/v1',
    'sluice accounts add --provider rack --wires chat-completions --base-url https://rack.internal/v1 --credential-env RACK_KEY',
  ],
  run: async (args, io) => {
    const asked: NewAccount = {
      ...given('preset', args.preset),
      ...given('provider', args.provider),
      ...given('name', args.name),
      ...given(
        'wires',
        args.wires?.split(',').map((wire) => wire.trim()),
      ),
      ...given('auth', args.auth),
      ...placeOf(args),
    }
    const needsNone = args.preset !== undefined && OPEN.has(args.preset) && args['credential-env'] === undefined
    const complete = async (): Promise<NewAccount> =>
      needsNone ? asked : { ...asked, credential: await credentialOf(args, io) }
    const address = serverAddress(args, io)
    const made =
      address === undefined
        ? await changing(args, io, 'write', async ({ entries }) => {
            // Nobody is asked for a secret that a mistake beside it makes useless.
            entries.tried(draftOf(entries, { ...asked, credential: UNTOLD }).changes)
            const draft = draftOf(entries, await complete())
            await entries.change(draft.changes, CLI_ACTOR)
            return { provider: draft.provider, name: draft.name }
          })
        : await (await import('./remote.ts')).remoteCall(address, 'accounts.create', await complete())
    const { provider, name } = made
    if (args.json) printJson(io, { provider, name })
    else
      io.out(
        `Added ${accountName(provider, name)}. "sluice accounts test ${accountName(provider, name)}" asks it for a word.`,
      )
    return EXIT.ok
  },
})

export const accountsUpdate = command({
  name: 'update',
  summary: 'Change an account that was added at run time; another address needs the credential again',
  args: {
    ...NAMED,
    ...PLACE_FLAGS,
    ...CREDENTIAL_FLAGS,
    credential: { type: 'boolean', description: 'Ask for another credential, or read it from standard input' },
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice accounts update openai/main --credential < new-key.txt'],
  run: async (args, io) => {
    const { provider, account } = parted(args.account)
    const isNew = args.credential === true || args['credential-env'] !== undefined
    const change: AccountChange = {
      ...placeOf(args),
      ...given('credential', isNew ? await credentialOf(args, io) : undefined),
    }
    if (Object.keys(change).length === 0)
      throw usageError('Nothing to change: give --credential, --base-url or --weight.')
    const address = serverAddress(args, io)
    if (address !== undefined)
      await (await import('./remote.ts')).remoteCall(address, 'accounts.update', { provider, account, ...change })
    else
      await changing(args, io, 'read', ({ entries }) =>
        entries.change(changedAccount(entries, provider, account, change), CLI_ACTOR),
      )
    if (args.json) printJson(io, { provider, name: account })
    else io.out(`Changed ${args.account}.`)
    return EXIT.ok
  },
})

export const accountsRemove = command({
  name: 'remove',
  summary: 'Remove an account that was added at run time; what is under way ends as it began',
  args: { ...NAMED, ...BACKEND_FLAGS, ...JSON_FLAG },
  run: async (args, io) => {
    const { provider, account } = parted(args.account)
    const address = serverAddress(args, io)
    if (address !== undefined)
      await (await import('./remote.ts')).remoteCall(address, 'accounts.remove', { provider, account })
    else
      await changing(args, io, 'read', ({ entries }) =>
        entries.change(removedAccount(entries, provider, account), CLI_ACTOR),
      )
    if (args.json) printJson(io, { provider, name: account, removed: true })
    else io.out(`Removed ${args.account}.`)
    return EXIT.ok
  },
})

export const accountsTest = command({
  name: 'test',
  summary: 'Ask accounts for a word from each model, and say what stands in the way; the vendors bill it',
  args: {
    account: { type: 'positional', required: false, description: 'PROVIDER or PROVIDER/NAME (default: all there are)' },
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  run: async (args, io) => {
    const whole = wholeConfig(args, io)
    const config = await withStore(whole, io, 'read', async (store) => (await keptIn(store, whole)).entries.config())
    const findings = await askAll(config, chosenAccounts(config, args.account, 'ACCOUNT'), io)
    if (args.json)
      printJson(
        io,
        findings.map((finding) => ({ ...finding, model: finding.model ?? null, upstream: finding.upstream ?? null })),
      )
    else io.out(findings.length === 0 ? NO_ACCOUNT : findingLines(findings).join('\n'))
    return allAnswer(findings) ? EXIT.ok : EXIT.failed
  },
})

export const accountsReseal = command({
  name: 'reseal',
  summary: 'Make a new key for the credentials that are kept, and seal them anew; with SLUICE_KEY, by its first',
  args: { ...DATA_FLAGS, ...JSON_FLAG },
  run: async (args, io) => {
    const { resealed, problems } = await withStore(requireData(args, io), io, 'read', async (store) => {
      const { credentials } = await keptIn(store, requireData(args, io))
      return resealAccounts(store.entries, credentials, CLI_ACTOR)
    })
    if (args.json) printJson(io, { resealed, problems })
    else {
      io.out(`Sealed ${resealed} ${resealed === 1 ? 'credential' : 'credentials'} anew.`)
      for (const problem of problems) io.err(problem)
    }
    return problems.length === 0 ? EXIT.ok : EXIT.failed
  },
})

const changing = async <T>(
  args: { config?: string | undefined; data?: string | undefined },
  io: Io,
  mode: 'read' | 'write',
  change: (kept: Kept) => T | Promise<T>,
): Promise<T> => {
  const config = requireData(args, io)
  return withStore(config, io, mode, async (store) => change(await keptIn(store, config)))
}

/** Stands for a credential that has not been asked for yet. */
const UNTOLD = 'untold'

/** Presets that ask for no credential. */
const OPEN = new Set(PRESETS.filter(({ open }) => open).map(({ name }) => name))

const given = <N extends string, T>(name: N, value: T | undefined): { [name in N]?: T } =>
  value === undefined ? {} : ({ [name]: value } as { [name in N]?: T })

const placeOf = (args: { 'base-url'?: string | undefined; weight?: string | undefined }) => {
  const weight = args.weight === undefined ? undefined : Number(args.weight)
  if (weight !== undefined && !(weight > 0 && weight < Number.POSITIVE_INFINITY))
    throw usageError(`--weight: found "${args.weight}", allowed: a number above 0.`)
  return { ...given('base_url', args['base-url']), ...given('weight', weight) }
}

/** The last slash parts them: names of accounts have none. */
const parted = (written: string): { provider: string; account: string } => {
  const at = written.lastIndexOf('/')
  if (at <= 0 || at === written.length - 1) throw usageError(`Name the account as PROVIDER/NAME; found "${written}".`)
  return { provider: written.slice(0, at), account: written.slice(at + 1) }
}

const credentialOf = async (args: { 'credential-env'?: string | undefined }, io: Io): Promise<string> => {
  const variable = args['credential-env']
  if (variable !== undefined) {
    const value = io.env[variable]
    if (!value) throw usageError(`--credential-env: the environment variable ${variable} is not set.`)
    return value
  }
  const asked = io.terminal === true ? await io.readSecret?.('Credential: ') : await io.readSecret?.()
  if (asked === undefined || asked.trim() === '')
    throw failure('No credential was given: type it when asked, pipe it in, or name a variable with --credential-env.')
  return asked.trim()
}
