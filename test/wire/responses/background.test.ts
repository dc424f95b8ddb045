// An answer that its provider made in the background, as its client gets it.

import { expect, test } from 'bun:test'
import type { Json } from '../../../src/ir/json.ts'
import { clientEdits } from '../../../src/wire/responses/background.ts'

test.each<[Json]>([[{ code: 'server_error', message: 'vendor-secret' }], ['vendor-secret']])(
  'the error of its provider is none of its client’s: %j',
  (error) => {
    const edits = clientEdits({ id: 'resp_1', status: 'failed', output: [], error }, 'known')
    expect(edits.map(({ path }) => path)).toEqual([['error']])
    expect(JSON.stringify(edits)).not.toContain('vendor-secret')
  },
)

test.each<[Json]>([[null], [{}], [{ code: null, message: null }], ['']])('an empty error is none: %j', (error) => {
  expect(clientEdits({ id: 'resp_1', status: 'completed', output: [], error }, 'known')).toEqual([])
})
