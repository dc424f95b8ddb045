// `connect`: a coding agent's own configuration, written for this gateway and taken back.

import { homedir } from 'node:os'
import { choose } from '../clients/choose.ts'
import type { Client, Home, Setup } from '../clients/client.ts'
import { CLIENTS } from '../clients/index.ts'
import { originOf } from '../config/origin.ts'
import { nearest } from '../lib/nearest.ts'
import { isThisMachine } from '../lib/this-machine.ts'
import { addressIn, type Where } from './backend.ts'
import { command } from './command.ts'
import { modelsOf, tryOut } from './connect-call.ts'
import { DATA_FLAGS, requireData } from './data.ts'
import { EXIT, failure, type Io, usageError } from './io.ts'
import { columns } from './table.ts'

export const connect = command({
  name: 'connect',
  summary: "Write a coding agent's own configuration for this gateway",
  args: {
    client: {
      type: 'positional',
      required: false,
      description: `One of ${CLIENTS.map(({ name }) => name).join(', ')}`,
    },
    server: {
      type: 'string',
      valueHint: 'URL',
      description: 'Address of the gateway (SLUICE_SERVER; default: the one that is configured here)',
    },
    key: {
      type: 'string',
      valueHint: 'KEY',
      description: 'The key; - reads it from standard input (SLUICE_API_KEY; asked for on a terminal)',
    },
    model: { type: 'string', valueHint: 'MODEL', description: 'The model to set (default: chosen for the client)' },
    print: { type: 'boolean', description: 'Only show what would be written' },
    undo: { type: 'boolean', description: 'Put back what was there before' },
    untried: { type: 'boolean', description: 'Do without the one small request that tries the model out' },
    ...DATA_FLAGS,
  },
  words: { client: CLIENTS.map(({ name }) => name) },
  examples: [
    'sluice connect claude-code',
    'sluice connect codex --server https://gateway.example --model vendorB-5.5',
    'sluice connect opencode --print',
    'sluice connect codex --undo',
  ],
  run: async (args, io) => {
    const client = clientOf(args.client)
    const home = homeOf(io)
    if (args.undo) return takeBack(client, home, io)
    const origin = addressOf(args, io)
    const key = await keyOf(args.key, io)
    const { models, auto, asked } = await modelsOf(origin, key, args.model)
    const choice = choose(client, models, auto, asked)
    if (choice === undefined) throw failure('The key may use no model that answers in text; ask for one that may.')
    const setup: Setup = { origin, key, main: choice.main, small: choice.small, models }
    if (args.print) return show(client, setup, io)
    const { planned, write } = await import('../clients/files.ts')
    const plans = planned(client, setup, home)
    if (!args.untried) await tryOut(origin, key, client.wire, choice.main.id)
    write(client, plans, home)
    io.out(
      columns([
        ...plans.map(({ path, before, after }) => [before === after ? 'as it was' : 'written', path]),
        ['model', `${choice.main.id}: ${choice.why}`],
        ...(!client.small || choice.small === choice.main ? [] : [['small work', choice.small.id]]),
        ['start it', client.start(setup)],
        ['take back', `sluice connect ${client.name} --undo`],
      ]).join('\n'),
    )
    for (const note of notesOf(client, origin)) io.err(`note: ${note}`)
    return EXIT.ok
  },
})

const clientOf = (name: string | undefined): Client => {
  const names = CLIENTS.map((client) => client.name)
  if (name === undefined) throw usageError(`Name the client: ${names.join(', ')}.`)
  const found = CLIENTS.find((client) => client.name === name)
  if (found !== undefined) return found
  // A client goes by one of its words, too: vibe, qwen.
  const near = nearest(name, names) ?? names.find((each) => nearest(name, each.split('-')) !== undefined)
  throw usageError(
    near === undefined
      ? `There is no client "${name}" here, but perhaps a guide at /docs of the gateway; allowed: ${names.join(', ')}`
      : `There is no client "${name}" here; did you mean "${near}"?`,
  )
}

/** The environment's word counts, as it does for the clients. */
const homeOf = ({ env }: Io): Home => {
  const named = process.platform === 'win32' ? env.USERPROFILE : env.HOME
  return { home: named || homedir(), env, platform: process.platform }
}

const addressOf = (args: Where, io: Io): string => {
  const written = args.server ?? (io.env.SLUICE_SERVER || undefined)
  if (written === undefined) return originOf(requireData(args, io).listen)
  const url = addressIn(written)
  if (url !== undefined) return url
  const flag = args.server === undefined ? 'SLUICE_SERVER' : '--server'
  throw usageError(
    `${flag} must be the address of a gateway without a user or password, such as http://127.0.0.1:8080.`,
  )
}

const keyOf = async (given: string | undefined, io: Io): Promise<string> => {
  const key =
    given === '-' ? await io.readSecret?.() : (given ?? (io.env.SLUICE_API_KEY || (await io.readSecret?.('Key: '))))
  const trimmed = key?.trim() ?? ''
  if (trimmed === '')
    throw usageError(
      'A key is needed: set SLUICE_API_KEY, or hand it over by "--key -" on standard input; "sluice keys create --label NAME" makes one.',
    )
  // What a header cannot carry is no key.
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw usageError('The key has characters that no key has.')
  return trimmed
}

/** As the files would be if there were none yet, without the key: what a terminal shows stays in its history. */
const show = async (client: Client, setup: Setup, io: Io): Promise<number> => {
  const { edited } = await import('../clients/edit.ts')
  const shown = { ...setup, key: HIDDEN }
  for (const { shown: path, format, edits } of client.files) {
    const text = edited(
      format,
      '',
      edits(shown).filter(({ value }) => value !== undefined),
    )
    io.out(`# ${path}\n${text.trimEnd()}\n`)
  }
  io.err(`note: nothing is written; ${HIDDEN} stands for the key`)
  return EXIT.ok
}

const HIDDEN = 'sk-sl-…'

const UNDONE = {
  back: 'as it was before',
  gone: 'gone, as there was none before',
  changed: 'changed since then; only what connect wrote is gone',
}

const takeBack = async (client: Client, home: Home, io: Io): Promise<number> => {
  const { undo } = await import('../clients/files.ts')
  const undone = undo(client, home)
  if (undone === undefined) throw failure(`Nothing is kept of ${client.title}: it was not connected from here.`)
  for (const { path, how } of undone) io.out(`${path}: ${UNDONE[how]}`)
  return EXIT.ok
}

const notesOf = ({ notes = [] }: Client, origin: string): string[] => {
  const url = new URL(origin)
  const open = url.protocol === 'http:' && !isThisMachine(url.hostname)
  return [...(open ? [`${origin} is not encrypted: whoever is on the way can read the key`] : []), ...notes]
}
