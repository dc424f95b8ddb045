// Accounts as they are added, changed and removed at run time: what is asked for as changes of entries.

import type { FileProvider } from '../config/schema/providers.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { Actor } from '../keys/key.ts'
import { nearest } from '../lib/nearest.ts'
import type { Preset } from '../provider/preset.ts'
import { PRESETS, presetNamed } from '../provider/presets/index.ts'
import { idOfNamed, type Provider } from '../provider/provider.ts'
import type { EntryStore, KeptEntry } from '../store/entries.ts'
import type { Credentials } from './credentials.ts'
import { type AccountValue, accountName, boundOf, type Change, type Entries } from './entries.ts'

/** Of a provider there is, or of one that its preset or its wires make. */
export type NewAccount = {
  preset?: string
  provider?: string
  name?: string
  base_url?: string
  credential?: string
  weight?: number
  wires?: string[]
  auth?: string
}

export type AccountChange = Pick<NewAccount, 'base_url' | 'credential' | 'weight'>

type Draft = { changes: Change[]; provider: string; name: string }

export const draftOf = (entries: Entries, input: NewAccount): Draft => {
  const { provider, preset, isNew } = placeFor(entries, input)
  const { credential } = input
  const baseUrl = input.base_url?.trim() ?? (preset && ownUrl(preset))
  if (baseUrl === undefined) throw invalidRequest('base_url: say where it answers.', 'base_url')
  const secret = credential === undefined ? '' : trimmed(credential)
  if (secret === '' && preset?.open !== true) throw invalidRequest('credential: say what it is shown.', 'credential')
  if (/^sk-sl-\w{20,}$/.test(secret) && preset?.name !== 'sluice')
    throw invalidRequest("credential: this is a key of a gateway, not a vendor's.", 'credential')
  const name = input.name?.trim() ?? freeName(entries, provider)
  const known = entries.list()
  if (known.some((entry) => entry.section === 'accounts' && entry.name === accountName(provider, name)))
    throw invalidRequest(`name: ${provider} has an account ${name} already.`, 'name')
  const value: AccountValue = {
    ...{ provider, name, base_url: baseUrl },
    ...(input.weight === undefined ? {} : { weight: input.weight }),
  }
  const account: Change = {
    ...{ section: 'accounts', name: accountName(provider, name), value },
    ...(secret === '' ? {} : { credential: secret }),
  }
  return { changes: [...(isNew === undefined ? [] : [isNew]), account], provider, name }
}

/**
 * Seals every credential by a new key, or by the first of those that are given. `problems`: a sentence for each that cannot be
 * opened, and stays as it is.
 */
export const resealAccounts = async (
  entries: Pick<EntryStore, 'reseal' | 'list'>,
  credentials: Credentials,
  actor: Actor,
): Promise<{ resealed: number; problems: string[] }> => {
  const openedOld = (entry: KeptEntry): ReturnType<Credentials['open']> | undefined => {
    const { credential } = entry
    if (credential === undefined || !credentials.isOld(credential)) return undefined
    return credentials.open(credential, boundOf(entry))
  }
  return await credentials.rotate(async () => {
    const resealed = await entries.reseal((entry) => {
      const opened = openedOld(entry)
      return opened !== undefined && 'value' in opened ? credentials.seal(opened.value, boundOf(entry)) : undefined
    }, actor)
    // Looked for once that is done: the store may begin anew where it came in another's way.
    const problems = (await entries.list()).flatMap((entry) => {
      const opened = openedOld(entry)
      return opened !== undefined && 'problem' in opened ? [`${entry.name}: ${opened.problem}`] : []
    })
    return { resealed, problems }
  })
}

/** A line break from the clipboard is no part of it. */
const trimmed = (credential: string): string => credential.trim()

/** The provider of a new account, and the change that makes it where there is none yet. */
const placeFor = (
  entries: Entries,
  { preset: named, provider: asked, wires, auth }: NewAccount,
): { provider: string; preset: Preset | undefined; isNew: Change | undefined } => {
  const preset = named === undefined ? undefined : requirePreset(named)
  const ids = asked === undefined ? (preset === undefined ? [] : placesOf(preset)) : [asked]
  const [first] = ids
  if (first === undefined) throw invalidRequest('preset: name one, or the provider the account is of.', 'preset')
  const made = { ...(preset && { preset: preset.name }), ...(wires && { wires }), ...(auth && { auth }) }
  for (const id of ids) {
    const there = providerOf(entries, id)
    if (there !== undefined && !isVacant(entries, id)) {
      if (preset === undefined && wires === undefined && auth === undefined)
        return { provider: id, preset: presetOf(there.preset), isNew: undefined }
      if (preset !== undefined && there.preset === preset.name) return { provider: id, preset, isNew: undefined }
      continue
    }
    if (Object.keys(made).length === 0 && there !== undefined)
      return { provider: id, preset: undefined, isNew: undefined }
    const isNew: Change = {
      section: 'providers',
      name: id,
      value: made satisfies Partial<Record<keyof FileProvider, unknown>>,
    }
    return { provider: id, preset, isNew }
  }
  throw invalidRequest(
    `provider: ${first} is set up otherwise: give the account's provider a name of its own.`,
    'provider',
  )
}

/** The vendor's place in the contract first. */
const placesOf = ({ provider, name }: Preset): string[] => [...(provider === undefined ? [] : [provider]), name]

const presetOf = (name: string | undefined): Preset | undefined => (name === undefined ? undefined : presetNamed(name))

/** One of the contract's two providers of which nobody has said anything. */
const isVacant = (entries: Entries, id: string): boolean =>
  (id === 'vendor_a' || id === 'vendor_b') &&
  providerOf(entries, id)?.accounts.length === 0 &&
  !entries.config().written.providers.includes(id) &&
  !entries.list().some(({ section, name }) => section === 'providers' && name === id)

const providerOf = (entries: Entries, id: string): Provider | undefined =>
  entries.config().providers.find((provider) => provider.id === id)

const requirePreset = (name: string): Preset => {
  const preset = presetNamed(name)
  if (preset !== undefined) return preset
  const names = PRESETS.map((each) => each.name)
  const near = nearest(name, names)
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  throw invalidRequest(`preset: there is no preset of that name.${hint} There are ${names.join(', ')}.`, 'preset')
}

const freeName = (entries: Entries, id: string): string => {
  const taken = new Set([
    ...(providerOf(entries, id)?.accounts ?? []).map(({ name }) => name),
    ...entries.list().flatMap(({ section, value }) => {
      const account = value as AccountValue
      return section === 'accounts' && account.provider === id ? [account.name] : []
    }),
  ])
  if (!taken.has('main')) return 'main'
  let number = 2
  while (taken.has(`main-${number}`)) number++
  return `main-${number}`
}

/** A provider that was set up for an account goes with its last one, unless something else leans on it. */
const leftBehind = (entries: Entries, id: string, gone: Change): Change[] => {
  const kept = entries.list()
  const isOwn = kept.some(({ section, name }) => section === 'providers' && name === id)
  const others = kept.filter(
    ({ section, name, value }) =>
      section === 'accounts' && name !== gone.name && (value as AccountValue).provider === id,
  )
  if (!isOwn || others.length > 0) return []
  const provider: Change = { section: 'providers', name: id, value: undefined }
  try {
    entries.tried([gone, provider])
    return [provider]
  } catch {
    return []
  }
}

/** Throws `not_found`, or `invalid_request` for an account of the configuration. */
export const changedAccount = (
  entries: Entries,
  provider: string,
  account: string,
  { credential, ...change }: AccountChange,
): Change[] => {
  const { name, value } = keptAccount(entries, provider, account)
  const secret = credential === undefined ? {} : { credential: trimmed(credential) }
  return [{ section: 'accounts', name, value: { ...(value as AccountValue), ...change }, ...secret }]
}

/** Throws as `changedAccount` does. */
export const removedAccount = (entries: Entries, provider: string, account: string): Change[] => {
  const { name, value } = keptAccount(entries, provider, account)
  const gone: Change = { section: 'accounts', name, value: undefined }
  return [gone, ...leftBehind(entries, (value as AccountValue).provider, gone)]
}

const keptAccount = (entries: Entries, named: string, account: string): { name: string; value: unknown } => {
  const provider = idOfNamed(entries.config().providers, named)
  const name = accountName(provider, account)
  const kept = entries.list().filter(({ section }) => section === 'accounts')
  const found = kept.find((entry) => entry.name === name)
  if (found !== undefined) return found
  if (providerOf(entries, provider)?.accounts.some((one) => one.name === account))
    throw invalidRequest('The configuration says of this account: change it there, and reload.')
  const others = kept.length === 0 ? '' : ` There are ${kept.map((entry) => entry.name).join(', ')}.`
  throw new GatewayError('not_found', `There is no such account that was added at run time.${others}`)
}

/** Undefined where it is made of what each owner has. */
export const ownUrl = ({ baseUrl }: Preset): string | undefined => (baseUrl.includes('{') ? undefined : baseUrl)
