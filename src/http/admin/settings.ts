// Settings that are in force at once.

import type * as S from '../../admin-api/schema.ts'
import type { Gateway } from '../../gateway.ts'
import { actorOf, type Part } from './call.ts'
import { catalogueModels } from './key-models.ts'

export const settings: Part<'settings.get' | 'settings.put'> = {
  'settings.get': ({ gateway }) => settingsView(gateway),
  'settings.put': ({ gateway, caller }, patch) => {
    const defaults = patch.key_defaults
    const named = defaults
      ? {
          key_defaults: {
            ...defaults,
            models: catalogueModels(gateway, defaults.models, 'key_defaults.models'),
          },
        }
      : {}
    gateway.settings.change({ ...patch, ...named }, actorOf(caller))
    return settingsView(gateway)
  },
}

const settingsView = ({ settings: { values, overridden } }: Gateway): S.Settings => ({
  ...values(),
  overridden: overridden(),
})
