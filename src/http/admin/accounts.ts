// The providers' accounts and how they do. Never a credential, nor what a base URL may hide of one.

import type * as S from '../../admin-api/schema.ts'
import type { BreakerState } from '../../relay/health.ts'
import type { Part } from './call.ts'
import { healthOf } from './models.ts'

export const accounts: Part<'accounts.list'> = {
  'accounts.list': ({ gateway }) => {
    const health = [...healthOf(gateway)]
    const items = [...gateway.providers.values()].flatMap((provider) =>
      provider.accounts.map((account): S.Account => {
        const place = `${provider.id}/${account.name}/`
        const own = health.filter(([target]) => target.startsWith(place))
        return {
          provider: provider.id,
          name: account.name,
          base_url: bare(account.baseUrl),
          weight: account.weight,
          wires: provider.wires,
          in_flight: own.reduce((sum, [, standing]) => sum + standing.in_flight, 0),
          state: worst(own.map(([, standing]) => standing.state)),
          models: own.map(([target, standing]) => ({ model: target.slice(place.length), ...standing })),
        }
      }),
    )
    return { items }
  },
}

const worst = (states: BreakerState[]): BreakerState =>
  states.includes('open') ? 'open' : states.includes('half-open') ? 'half-open' : 'closed'

const bare = (baseUrl: string): string => {
  try {
    const url = new URL(baseUrl)
    return url.origin + url.pathname.replace(/\/+$/, '')
  } catch {
    return ''
  }
}
