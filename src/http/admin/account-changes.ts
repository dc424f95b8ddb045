// Accounts added, changed and removed at run time. A credential comes in, and never goes out again.

import { listed } from '../../catalogue/catalogue.ts'
import type { Model } from '../../catalogue/model.ts'
import type { Config } from '../../config.ts'
import { changedAccount, draftOf, ownUrl, removedAccount } from '../../entries/accounts.ts'
import { invalidRequest } from '../../errors.ts'
import type { Preset } from '../../provider/preset.ts'
import { PRESETS } from '../../provider/presets/index.ts'
import { idOfNamed } from '../../provider/provider.ts'
import { askAccount, type Listed, listOf } from '../../relay/asking.ts'
import { accountView, findingView } from './accounts.ts'
import { actorOf, type Part } from './call.ts'

export const accountChanges: Part<
  'accounts.create' | 'accounts.try' | 'accounts.update' | 'accounts.remove' | 'presets.list'
> = {
  'accounts.create': async ({ gateway, caller }, input) => {
    const draft = draftOf(gateway.entries, input)
    await gateway.entries.change(draft.changes, actorOf(caller))
    return accountView(gateway, draft.provider, draft.name)
  },
  'accounts.try': async ({ gateway }, input) => {
    const { changes, provider: id, name } = draftOf(gateway.entries, input)
    const config = gateway.entries.tried(changes)
    const provider = config.providers.find((one) => one.id === id)
    const account = provider?.accounts.find((one) => one.name === name)
    if (provider === undefined || account === undefined) throw invalidRequest('The account does not fit.')
    const asking = { fetch: gateway.fetch, provider, account }
    const found = await askAccount(asking, cheapestOf(config, id, await listOf(asking)))
    return { items: found.map(findingView) }
  },
  'accounts.update': async ({ gateway, caller }, { provider, account, ...change }) => {
    const { entries } = gateway
    await entries.change(changedAccount(entries, provider, account, change), actorOf(caller))
    return accountView(gateway, idOfNamed(entries.config().providers, provider), account)
  },
  'accounts.remove': async ({ gateway: { entries }, caller }, { provider, account }) => {
    await entries.change(removedAccount(entries, provider, account), actorOf(caller))
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

/** A word from the one that asks least for it tells whether the account works: of those that it has, where it says. */
const cheapestOf = ({ models }: Config, provider: string, list: Listed[] | undefined): Model[] => {
  const own = listed(models)
    .filter((model) => model.provider === provider && model.kind === 'text')
    .toSorted((a, b) => a.price.input + a.price.output - (b.price.input + b.price.output))
  const had = own.filter(({ upstream }) => list?.some(({ id }) => id === upstream))
  return (had.length > 0 ? had : own).slice(0, 1)
}
