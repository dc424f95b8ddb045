// `models fetch`: what the vendors' own lists offer that the configuration does not serve, ready to be pasted into it.

import { createCatalogue } from '../catalogue/catalogue.ts'
import type { Config } from '../config.ts'
import type { Listed } from '../relay/asking.ts'
import { ACCOUNT_FLAG, chosenAccounts, NO_ACCOUNT } from './asked.ts'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireConfig } from './data.ts'
import { EXIT, printJson } from './io.ts'

export const modelsFetch = command({
  name: 'fetch',
  summary: "Print what the vendors' own lists offer beside the configured models, as YAML to paste",
  args: { ...DATA_FLAGS, ...ACCOUNT_FLAG, ...JSON_FLAG },
  examples: ['sluice models fetch --account openrouter'],
  run: async (args, io) => {
    const config = requireConfig(args, io)
    const { listOf } = await import('../relay/asking.ts')
    const offers = await Promise.all(
      chosenAccounts(config, args.account).map(async ({ provider, account }) => ({
        provider: provider.id,
        account: account.name,
        list: await listOf({ fetch: globalThis.fetch, provider, account }),
      })),
    )
    const beside = besideIn(config)
    const told = offers.map(({ list, ...from }) => ({ ...from, models: list && beside(from.provider, list) }))
    for (const { provider, account, models } of told) {
      if (models === undefined)
        io.err(
          `${provider}/${account} gives no list of models: "sluice config check --ask" says what stands in the way`,
        )
    }
    if (args.json)
      printJson(
        io,
        told.map(({ models, ...from }) => ({ ...from, models: models ?? null })),
      )
    else io.out(told.length === 0 ? NO_ACCOUNT : yaml(told))
    return told.length > 0 && told.every(({ models }) => models !== undefined) ? EXIT.ok : EXIT.failed
  },
})

type Offer = Listed & { name: string }
type Told = { provider: string; account: string; models: Offer[] | undefined }

/** Those that no model of the provider is asked for by, each with a name that is free: neither served nor another provider's here. */
const besideIn = (config: Config) => {
  const catalogue = createCatalogue(config)
  const providerOf = new Map<string, string>()
  return (provider: string, list: Listed[]): Offer[] => {
    const own = new Set(config.models.filter((model) => model.provider === provider).map(({ upstream }) => upstream))
    const isFree = (name: string): boolean =>
      catalogue.resolve(name) === undefined && (providerOf.get(name) ?? provider) === provider
    return list
      .filter(({ id }) => !own.has(id) && !/[\s*]/.test(id))
      .map((listed) => {
        const name = isFree(listed.id) ? listed.id : `${provider}/${listed.id}`
        providerOf.set(name, provider)
        return { ...listed, name }
      })
  }
}

/** What two accounts have, or one twice, is told once. */
const yaml = (told: Told[]): string => {
  const names = new Set<string>()
  const lines = told.flatMap(({ provider, account, models = [] }) => {
    const own = models.filter(({ name }) => !names.has(name) && names.add(name))
    return own.length === 0
      ? []
      : [`  # ${provider}, account ${account}`, ...own.map((offer) => entry(provider, offer))]
  })
  if (lines.length === 0) return '# nothing that is not served already'
  return ['models:   # keep those you want; prices that are not here count as 0', ...lines].join('\n')
}

const entry = (provider: string, { id, name, context, maxOutput, price }: Offer): string => {
  const members = [
    `provider: ${provider}`,
    ...(name === id ? [] : [`upstream: ${JSON.stringify(id)}`]),
    ...(context === undefined ? [] : [`context: ${context}`]),
    ...(maxOutput === undefined ? [] : [`max_output: ${maxOutput}`]),
    ...(price === undefined ? [] : [`price: { input: ${price.input}, output: ${price.output} }`]),
  ]
  return `  ${JSON.stringify(name)}: { ${members.join(', ')} }`
}
