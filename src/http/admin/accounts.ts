// The providers' accounts, how they do, and what they say when asked. Never a credential, nor what a base URL may hide of
// one.

import type * as S from '../../admin-api/schema.ts'
import { GatewayError } from '../../errors.ts'
import { isoOrNull } from '../../lib/iso-time.ts'
import { bareUrl } from '../../provider/endpoint.ts'
import type { Account } from '../../provider/provider.ts'
import { askAccount, type Finding } from '../../relay/asking.ts'
import { type BreakerState, type Standing, targetName } from '../../relay/health.ts'
import type { Part } from './call.ts'
import { standingView } from './models.ts'

export const accounts: Part<'accounts.list' | 'accounts.test'> = {
  'accounts.list': ({ gateway }) => {
    const items = [...gateway.providers.values()].flatMap((provider) =>
      provider.accounts.map((account): S.Account => {
        const models = gateway.catalogue.list().flatMap(({ id: model, upstream }) => {
          const found = gateway.health.standingOf(targetName(provider.id, account.name, model))
          if (found === undefined) return []
          const { failing } = found
          return [
            {
              model,
              ...standingView(found),
              failures: failing?.times ?? 0,
              failing_since: isoOrNull(failing?.since),
              trouble: troubleView(found, upstream),
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
  'accounts.test': async ({ gateway }, { provider: id, account: name }) => {
    const provider = gateway.providers.get(id)
    const account = provider?.accounts.find((one) => one.name === name)
    if (provider === undefined || account === undefined)
      throw new GatewayError('not_found', 'There is no such account.')
    const models = gateway.catalogue.list().filter((model) => model.provider === provider.id)
    const test = UNDER_WAY.get(account) ?? askAccount({ fetch: gateway.fetch, provider, account }, models)
    UNDER_WAY.set(account, test)
    const found = await test.finally(() => UNDER_WAY.delete(account))
    return { items: found.map(findingView) }
  },
}

/** Each test is paid for: whoever asks meanwhile waits for the same. */
const UNDER_WAY = new WeakMap<Account, Promise<Finding[]>>()

const findingView = ({ model, upstream, ok, verdict, words }: Finding): S.Finding => ({
  ...{ model: model ?? null, upstream: upstream ?? null },
  ...{ ok, verdict, words },
})

const troubleView = ({ trouble }: Standing, upstream: string): S.Account['models'][number]['trouble'] => {
  if (trouble === undefined) return null
  return trouble === 'no-money' ? { what: 'no_money', upstream: null } : { what: 'unknown_model', upstream }
}

const worst = (states: BreakerState[]): BreakerState =>
  states.includes('open') ? 'open' : states.includes('half-open') ? 'half-open' : 'closed'
