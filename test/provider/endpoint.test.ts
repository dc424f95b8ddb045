// Where the wires of a provider are reached, and the word that its models' ids begin with.

import { expect, test } from 'bun:test'
import { bareUrl, endpoint, modelsEndpoint } from '../../src/provider/endpoint.ts'
import { neutralWord } from '../../src/provider/provider.ts'

const at = (baseUrl: string) => ({ name: 'main', baseUrl, credential: 'c', weight: 1 })

test.each([
  ['messages', 'http://127.0.0.1:9101', 'http://127.0.0.1:9101/v1/messages'],
  ['messages', 'http://127.0.0.1:9101/', 'http://127.0.0.1:9101/v1/messages'],
  ['messages', 'https://host/vendor', 'https://host/vendor/v1/messages'],
  ['messages', 'http://host/v1', 'http://host/v1/messages'],
  ['chat-completions', 'http://host/v1', 'http://host/v1/chat/completions'],
  ['chat-completions', 'http://host/api/v4/', 'http://host/api/v4/chat/completions'],
  ['responses', 'http://host/v1', 'http://host/v1/responses'],
  ['images', 'http://host/v1', 'http://host/v1/images/generations'],
  ['images', 'http://host/v1?version=2', 'http://host/v1/images/generations?version=2'],
] as const)('%s of %s is reached at %s', (wire, baseUrl, url) => {
  expect(endpoint(at(baseUrl), wire)).toBe(url)
})

test('a base URL names the model where it is asked to', () => {
  const old = at('https://x.openai.azure.com/openai/deployments/{model}?api-version=2024-10-21')
  expect(endpoint(old, 'chat-completions', 'my model/1')).toBe(
    'https://x.openai.azure.com/openai/deployments/my%20model%2F1/chat/completions?api-version=2024-10-21',
  )
})

test.each([
  [['messages'], 'https://host', 'https://host/v1/models'],
  [['messages'], 'https://host/v1', 'https://host/v1/models'],
  [['chat-completions', 'messages'], 'https://host/api/v1', 'https://host/api/v1/models'],
  [['responses'], 'https://host/v1?region=x', 'https://host/v1/models?region=x'],
] as const)('the models of %j at %s are listed at %s', (wires, baseUrl, url) => {
  expect(modelsEndpoint(at(baseUrl), wires)).toBe(url)
})

test.each([
  ['vendor_a', 'vendorA'],
  ['vendor_b', 'vendorB'],
  ['local', 'local'],
])('the neutral word of %s is %s', (id, word) => {
  expect(neutralWord(id)).toBe(word)
})

test.each([
  ['http://127.0.0.1:9102/v1/', 'http://127.0.0.1:9102/v1'],
  ['https://user:word@host/v1?key=secret', 'https://host/v1'],
])('%s is shown as %s', (baseUrl, shown) => {
  expect(bareUrl(baseUrl)).toBe(shown)
})
