// Models of the kinds that no built-in one is of, for tests that serve them.

import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { Model } from '../../src/catalogue/model.ts'

const [any] = BUILTIN_MODELS
if (any === undefined) throw new Error('there are no built-in models')

export const modelOf = (id: string, kind: Model['kind'], more: Partial<Model> = {}): Model => ({
  ...any,
  id,
  upstream: `up-${id}`,
  kind,
  provider: 'vendor_b',
  price: { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 },
  quirks: {},
  ...more,
})

/** The built-in ones and these. */
export const withModels = (...models: Model[]): Model[] => [...BUILTIN_MODELS, ...models]
