// Where the wires of a provider are reached, and the word that its models' ids begin with.

import { expect, test } from 'bun:test'
import { bareUrl, endpoint } from '../../src/provider/endpoint.ts'
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
