// What a target speaks differently: by the version of its provider's wire, its provider's word and its model's, the last
// one's above the others'.

import { expect, test } from 'bun:test'
import type { Quirks } from '../../src/ir/quirks.ts'
import type { Target } from '../../src/relay/target.ts'
import { quirksOf } from '../../src/relay/translate.ts'

test.each<[string, string | undefined, Quirks, Quirks, Quirks]>([
  ['no version', undefined, {}, {}, {}],
  ['a version that takes sampling', '2026-10-20', {}, {}, {}],
  ['the first that does not', '2026-10-21', {}, {}, { noSampling: true }],
  ['a later one', '2027-01-01', {}, {}, { noSampling: true }],
  ['a provider that takes it all the same', '2027-01-01', { noSampling: false }, {}, { noSampling: false }],
  [
    'a model of its own',
    undefined,
    { noSampling: false, noDone: true },
    { noSampling: true },
    { noSampling: true, noDone: true },
  ],
])('%s', (_, version, provider, model, quirks) => {
  const versionHeader = version === undefined ? undefined : { name: 'anthropic-version', value: version }
  const target = { provider: { versionHeader, quirks: provider }, model: { quirks: model } } as Target
  expect(quirksOf(target)).toEqual(quirks)
})
