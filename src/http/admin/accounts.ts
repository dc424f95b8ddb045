// The providers' accounts and how they do. Never a credential, nor what a base URL may hide of one.

import type * as S from '../../admin-api/schema.ts'
import { isoOrNull } from '../../lib/iso-time.ts'
import { bareUrl } from '../../provider/endpoint.ts'
import { type BreakerState, targetName } from '../../relay/health.ts'
import type { Part } from './call.ts'
import { standingView } from './models.ts'

export const accounts: Part<'accounts.list'> = {
  'accounts.list': ({ gateway }) => {
    const items = [...gateway.providers.values()].flatMap((provider) =>
      provider.accounts.map((account): S.Account => {
        const models = gateway.catalogue.list().flatMap(({ id: model }) => {
          const found = gateway.health.standingOf(targetName(provider.id, account.name, model))
          if (found === undefined) return []
          const { failing } = found
          return [
            {
              model,
              ...standingView(found),
              failures: failing?.times ?? 0,
              failing_since: isoOrNull(failing?.since),
            },
          ]
        })
        return {
          provider: provider.id,
          name: account.name,
          base_url: bareUrl(account.baseUrl),
          weight: account.weight,
          wires: provider.wires,
          in_flight: models.reduce((sum, { in_flight }) => sum + in_flight, 0),
          state: worst(models.map(({ state }) => state)),
          models,
        }
      }),
    )
    return { items }
  },
}

const worst = (states: BreakerState[]): BreakerState =>
  states.includes('open') ? 'open' : states.includes('half-open') ? 'half-open' : 'closed'
