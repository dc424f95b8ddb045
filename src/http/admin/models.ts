// The catalogue as served: models, their names and prices, and for admins the targets with their health.

import type * as S from '../../admin-api/schema.ts'
import type { Gateway } from '../../gateway.ts'
import { shownModel } from '../../observe/shown.ts'
import type { Provider } from '../../provider/provider.ts'
import { type Standing, targetName } from '../../relay/health.ts'
import { isAdmin, type Part } from './call.ts'

export const models: Part<'models.list'> = {
  'models.list': ({ gateway, caller }) => {
    const aliases = Object.entries(gateway.config.aliases)
    const items = gateway.catalogue.list().map((model): S.Model => {
      const serving = servingProviders(gateway, model.id)
      return {
        ...shownModel(model),
        ...(isAdmin(caller) ? {} : { upstream: null }),
        aliases: aliases.filter(([, id]) => id === model.id).map(([alias]) => alias),
        fallbacks: gateway.fallbacks[model.id] ?? [],
        available: serving.some(({ provider }) => provider.accounts.length > 0),
        targets: isAdmin(caller)
          ? serving.flatMap(({ provider, modelId }) =>
              provider.accounts.map((account) => ({
                provider: provider.id,
                account: account.name,
                wires: provider.wires,
                ...standingView(gateway.health.standingOf(targetName(provider.id, account.name, modelId))),
              })),
            )
          : [],
      }
    })
    return {
      items,
      aliases: gateway.config.aliases,
      brands: gateway.config.brands.map(({ neutral, branded }) => ({ neutral, branded })),
    }
  },
}

/** Nothing was ever sent to one of which nothing is known. */
export const standingView = (standing: Standing | undefined): Pick<S.TargetHealth, 'state' | 'in_flight'> => ({
  state: standing?.state ?? 'closed',
  in_flight: standing?.inFlight ?? 0,
})

/** The model's own provider, then those of its fallbacks. */
const servingProviders = (gateway: Gateway, modelId: string): { provider: Provider; modelId: string }[] =>
  [modelId, ...(gateway.fallbacks[modelId] ?? [])].flatMap((id) => {
    const model = gateway.catalogue.resolve(id)
    const provider = model === undefined ? undefined : gateway.providers.get(model.provider)
    return model === undefined || provider === undefined ? [] : [{ provider, modelId: model.id }]
  })
