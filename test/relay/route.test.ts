// The wire a provider is reached on.

import { expect, test } from 'bun:test'
import type { Wire } from '../../src/ir/wire.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { wireOf } from '../../src/relay/target.ts'

test.each<[Wire, Wire[], Wire | undefined]>([
  ['chat-completions', ['responses', 'chat-completions'], 'chat-completions'],
  ['messages', ['images', 'responses', 'chat-completions'], 'responses'],
  ['messages', ['images'], undefined],
  ['images', ['responses', 'images'], 'images'],
  ['images', ['responses', 'messages'], undefined],
])('a client of %s reaches a provider that speaks %p on %p', (client, wires, wire) => {
  expect(wireOf({ wires } as Provider, client)).toBe(wire)
})
