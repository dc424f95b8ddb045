// Accounts added, changed and removed at run time. A credential comes in, and never goes out again.

import type { Input } from '../../admin-api/contract.ts'
import { listed } from '../../catalogue/catalogue.ts'
import type { Model } from '../../catalogue/model.ts'
import type { FileProvider } from '../../config/schema.ts'
import type { Config } from '../../config.ts'
import { type AccountValue, accountName, type Change } from '../../entries/entries.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Preset } from '../../provider/preset.ts'
import { PRESETS, presetNamed } from '../../provider/presets/index.ts'
import { neutralWord } from '../../provider/provider.ts'
import { askAccount, type Listed, listOf } from '../../relay/asking.ts'
import { accountView, findingView } from './accounts.ts'
import { actorOf, type Part } from './call.ts'

export const accountChanges: Part<
  'accounts.create' | 'accounts.try' | 'accounts.update' | 'accounts.remove' | 'presets.list'
> = {
  'accounts.create': ({ gateway, caller }, input) => {
    const draft = draftOf(gateway, input)
    gateway.entries.change(draft.changes, actorOf(caller))
    return accountView(gateway, draft.provider, draft.name)
  },
  'accounts.try': async ({ gateway }, input) => {
    const { changes, provider: id, name } = draftOf(gateway, input)
    const config = gateway.entries.tried(changes)
    const provider = config.providers.find((one) => one.id === id)
    const account = provider?.accounts.find((one) => one.name === name)
    if (provider === undefined || account === undefined) throw invalidRequest('The account does not fit.')
    const asking = { fetch: gateway.fetch, provider, account }
    const found = await askAccount(asking, cheapestOf(config, id, await listOf(asking)))
    return { items: found.map(findingView) }
  },
  'accounts.update': ({ gateway, caller }, { provider, account, credential, ...change }) => {
    const name = accountName(provider, account)
    const kept = gateway.entries.list().find((entry) => entry.section === 'accounts' && entry.name === name)
    if (kept === undefined) throw notHere(gateway, provider, account)
    const value = { ...(kept.value as AccountValue), ...change }
    const secret = credential === undefined ? {} : { credential: trimmed(credential) }
    gateway.entries.change([{ section: 'accounts', name, value, ...secret }], actorOf(caller))
    return accountView(gateway, provider, account)
  },
  'accounts.remove': ({ gateway, caller }, { provider, account }) => {
    const name = accountName(provider, account)
    const entries = gateway.entries.list()
    if (!entries.some((entry) => entry.section === 'accounts' && entry.name === name))
      throw notHere(gateway, provider, account)
    const gone: Change = { section: 'accounts', name, value: undefined }
    gateway.entries.change([gone, ...leftBehind(gateway, provider, gone)], actorOf(caller))
    return { done: true }
  },
  'presets.list': () => ({ items: PRESETS.filter(isForRunTime).map(presetView) }),
}

/** What the machine has for Google is for the configuration to show. */
const isForRunTime = ({ auth }: Preset): boolean => auth !== 'google'

const presetView = (preset: Preset) => ({
  name: preset.name,
  title: preset.title,
  base_url: ownUrl(preset) ?? null,
  wires: [...preset.wires],
  credential_shape: preset.credentialShape ?? null,
  open: preset.open ?? false,
})

/** Undefined where it is made of what each owner has. */
const ownUrl = ({ baseUrl }: Preset): string | undefined => (baseUrl.includes('{') ? undefined : baseUrl)

const notHere = ({ providers }: Gateway, id: string, account: string): GatewayError =>
  providers.get(id)?.accounts.some(({ name }) => name === account)
    ? invalidRequest('The configuration says of this account: change it there, and reload.')
    : new GatewayError('not_found', 'There is no such account.')

type Draft = { changes: Change[]; provider: string; name: string }

const draftOf = (gateway: Gateway, input: Input<'accounts.create'>): Draft => {
  const { provider, preset, isNew } = placeFor(gateway, input)
  const { credential } = input
  const baseUrl = input.base_url?.trim() ?? (preset && ownUrl(preset))
  if (baseUrl === undefined) throw invalidRequest('base_url: say where it answers.', 'base_url')
  const secret = credential === undefined ? '' : trimmed(credential)
  if (secret === '' && preset?.open !== true) throw invalidRequest('credential: say what it is shown.', 'credential')
  if (/^sk-sl-\w{20,}$/.test(secret) && preset?.name !== 'sluice')
    throw invalidRequest("credential: this is a key of a gateway, not a vendor's.", 'credential')
  const name = input.name?.trim() ?? freeName(gateway, provider)
  const known = gateway.entries.list()
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

/** A line break from the clipboard is no part of it. */
const trimmed = (credential: string): string => credential.trim()

/** The provider of a new account, and the change that makes it where there is none yet. */
const placeFor = (
  gateway: Gateway,
  { preset: named, provider: asked, wires, auth }: Input<'accounts.create'>,
): { provider: string; preset: Preset | undefined; isNew: Change | undefined } => {
  const preset = named === undefined ? undefined : requirePreset(named)
  const ids = asked === undefined ? (preset === undefined ? [] : placesOf(preset)) : [asked]
  const [first] = ids
  if (first === undefined) throw invalidRequest('preset: name one, or the provider the account is of.', 'preset')
  const made = { ...(preset && { preset: preset.name }), ...(wires && { wires }), ...(auth && { auth }) }
  for (const id of ids) {
    const there = gateway.providers.get(id)
    if (there !== undefined && !isVacant(gateway, id)) {
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
const isVacant = ({ providers, config, entries }: Gateway, id: string): boolean =>
  neutralWord(id) !== id &&
  (id === 'vendor_a' || id === 'vendor_b') &&
  providers.get(id)?.accounts.length === 0 &&
  !config.written.providers.includes(id) &&
  !entries.list().some(({ section, name }) => section === 'providers' && name === id)

const requirePreset = (name: string): Preset => {
  const preset = presetNamed(name)
  if (preset !== undefined) return preset
  const names = PRESETS.map((each) => each.name)
  const near = nearest(name, names)
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  throw invalidRequest(`preset: there is no preset of that name.${hint} There are ${names.join(', ')}.`, 'preset')
}

const freeName = ({ providers, entries }: Gateway, id: string): string => {
  const taken = new Set([
    ...(providers.get(id)?.accounts ?? []).map(({ name }) => name),
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
const leftBehind = ({ entries }: Gateway, id: string, gone: Change): Change[] => {
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

/** A word from the one that asks least for it tells whether the account works: of those that it has, where it says. */
const cheapestOf = ({ models }: Config, provider: string, list: Listed[] | undefined): Model[] => {
  const own = listed(models)
    .filter((model) => model.provider === provider && model.kind === 'text')
    .toSorted((a, b) => a.price.input + a.price.output - (b.price.input + b.price.output))
  const had = own.filter(({ upstream }) => list?.some(({ id }) => id === upstream))
  return (had.length > 0 ? had : own).slice(0, 1)
}
