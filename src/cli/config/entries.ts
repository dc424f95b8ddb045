// `config set`, `unset`, `entries`: what stands beside the configuration file, accounts apart.

import type { EntrySection } from '../../admin-api/schema.ts'
import { iso } from '../../lib/iso-time.ts'
import { BACKEND_FLAGS, serverAddress } from '../backend.ts'
import { command } from '../command.ts'
import { JSON_FLAG, requireData, withStore } from '../data.ts'
import { CLI_ACTOR, EXIT, failure, printJson, usageError } from '../io.ts'
import { keptIn } from '../kept.ts'
import { columns } from '../table.ts'

/** Accounts have commands of their own, for their credentials. */
const SECTIONS = ['providers', 'models', 'aliases', 'fallbacks'] as const
type Settable = (typeof SECTIONS)[number]

const ARGS = {
  section: { type: 'positional', required: true, description: SECTIONS.join(', ') },
  name: { type: 'positional', required: true, description: 'Of the provider, the model or the alias' },
} as const

export const configSet = command({
  name: 'set',
  summary: 'Set a provider, a model with its price, an alias or fallbacks beside the file, in force at once',
  args: {
    ...ARGS,
    value: { type: 'positional', required: true, description: 'As the file would say it, in YAML or JSON' },
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  words: { section: SECTIONS },
  examples: [
    "sluice config set models vendorA-opus-4-8 '{ price: { input: 5, output: 25 } }'",
    'sluice config set aliases fast vendorB-5.4-mini',
    "sluice config set fallbacks vendorA-opus-4-8 '[vendorB-5.5]'",
  ],
  run: async (args, io) => {
    const section = sectionOf(args.section)
    const value = valueIn(args.value)
    const { name } = args
    const address = serverAddress(args, io)
    if (address !== undefined)
      await (await import('../remote.ts')).remoteCall(address, 'entries.put', { section, name, value })
    else {
      const config = requireData(args, io)
      await withStore(config, io, 'write', async (store) =>
        (await keptIn(store, config)).entries.change([{ section, name, value }], CLI_ACTOR),
      )
    }
    if (args.json) printJson(io, { section, name, value })
    else io.out(`Set ${section} ${name}.`)
    return EXIT.ok
  },
})

export const configUnset = command({
  name: 'unset',
  summary: 'Remove what was set beside the file',
  args: { ...ARGS, ...BACKEND_FLAGS, ...JSON_FLAG },
  words: { section: SECTIONS },
  run: async (args, io) => {
    const section = sectionOf(args.section)
    const { name } = args
    const address = serverAddress(args, io)
    if (address !== undefined)
      await (await import('../remote.ts')).remoteCall(address, 'entries.remove', { section, name })
    else {
      const config = requireData(args, io)
      await withStore(config, io, 'read', async (store) =>
        (await keptIn(store, config)).entries.change([{ section, name, value: undefined }], CLI_ACTOR),
      )
    }
    if (args.json) printJson(io, { section, name, removed: true })
    else io.out(`Removed ${section} ${name}.`)
    return EXIT.ok
  },
})

type Shown = { section: EntrySection; name: string; value: unknown; problem: string | null; updated_at: string | null }

export const configEntries = command({
  name: 'entries',
  summary: 'List what was set beside the file, and why some of it is not in force',
  args: { ...BACKEND_FLAGS, ...JSON_FLAG },
  run: async (args, io) => {
    const address = serverAddress(args, io)
    const config = address === undefined ? requireData(args, io) : undefined
    const items: Shown[] =
      address !== undefined
        ? (await (await import('../remote.ts')).remoteCall(address, 'entries.list')).items
            .filter(({ managed }) => managed === 'store')
            .map(({ managed: _, ...entry }) => entry)
        : config === undefined
          ? []
          : await withStore(config, io, 'read', async (store) =>
              (await keptIn(store, config)).entries.list().map(({ section, name, value, problem, updatedAt }) => ({
                ...{ section, name, value, problem: problem ?? null, updated_at: iso(updatedAt) },
              })),
            )
    if (args.json) printJson(io, items)
    else if (items.length === 0) io.out('Nothing is set beside the configuration.')
    else {
      const rows = items.map(({ section, name, value, problem }) => [
        ...[section, name, JSON.stringify(value)],
        problem === null ? 'in force' : `not in force: ${problem}`,
      ])
      io.out(columns([['SECTION', 'NAME', 'VALUE', 'STATE'], ...rows], '').join('\n'))
    }
    return EXIT.ok
  },
})

const sectionOf = (written: string): Settable => {
  const found = SECTIONS.find((section) => section === written)
  if (found !== undefined) return found
  const accounts = written === 'accounts' ? ' Accounts have commands of their own: sluice accounts add.' : ''
  throw usageError(`SECTION: found "${written}", allowed: ${SECTIONS.join(', ')}.${accounts}`)
}

const valueIn = (written: string): unknown => {
  try {
    return Bun.YAML.parse(written)
  } catch {
    throw failure('VALUE: it is neither YAML nor JSON.')
  }
}
