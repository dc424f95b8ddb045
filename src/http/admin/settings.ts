// Settings that are in force at once.

import type * as S from '../../admin-api/schema.ts'
import { invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { isNetwork } from '../../lib/networks.ts'
import { actorOf, type Part } from './call.ts'
import { catalogueModels } from './key-models.ts'

export const settings: Part<'settings.get' | 'settings.put'> = {
  'settings.get': ({ gateway }) => settingsView(gateway),
  'settings.put': async ({ gateway, caller }, { limits, key_defaults, ...patch }) => {
    const asking = caller.kind === 'session' ? caller.session.member.id : undefined
    if (
      patch.second_factor_for_admins === true &&
      asking !== undefined &&
      !(await gateway.membership.factor.isEnabled(asking))
    ) {
      const words = 'Set up a second factor of your own first: without one you could do nothing else.'
      throw invalidRequest(words, 'second_factor_for_admins')
    }
    const { trust_proxy } = patch
    const wrong = Array.isArray(trust_proxy) ? trust_proxy.find((each) => !isNetwork(each)) : undefined
    if (wrong !== undefined) {
      const words = `trust_proxy: found "${wrong}", expected an address or a network, such as 10.0.0.0/8.`
      throw invalidRequest(words, 'trust_proxy')
    }
    // Of what stands together, what is not given stays as it is: another may have set it since the caller looked.
    const named = key_defaults?.models && {
      models: catalogueModels(gateway, key_defaults.models, 'key_defaults.models'),
    }
    const values = gateway.settings.values()
    const merged = {
      ...(limits === undefined ? {} : { limits: limits && { ...values.limits, ...limits } }),
      ...(key_defaults === undefined
        ? {}
        : { key_defaults: key_defaults && { ...values.key_defaults, ...key_defaults, ...named } }),
    }
    await gateway.settings.change({ ...patch, ...merged }, actorOf(caller))
    return settingsView(gateway)
  },
}

const settingsView = ({ settings: { values, overridden } }: Gateway): S.Settings => ({
  ...values(),
  overridden: overridden(),
})
