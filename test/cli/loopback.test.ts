// What is on this machine is reached past the environment's proxy, whatever the environment says.

import { expect, test } from 'bun:test'
import { reachLoopback } from '../../src/cli/loopback.ts'
import { isLoopback, proxyVariables } from '../../src/lib/proxy.ts'

const ENVIRONMENTS = [
  {},
  { NO_PROXY: 'vendor.example' },
  { no_proxy: 'vendor.example' },
  { no_proxy: '', NO_PROXY: 'a' },
]
const URLS = [
  ['http://localhost:8080', true],
  ['http://127.0.0.1:8080', true],
  ['http://127.9.8.7', true],
  ['http://[::1]:8080', true],
  ['http://128.0.0.1', false],
  ['http://10.0.0.1', false],
  ['http://[::2]', false],
  ['http://other.example', false],
] as const

test.each(URLS)('no proxy is asked for %s: %p', (text, isOurs) => {
  const url = new URL(text)
  expect(isLoopback(url)).toBe(isOurs)
  for (const given of ENVIRONMENTS) {
    const env: Record<string, string | undefined> = { ...given, http_proxy: 'http://proxy.example' }
    reachLoopback(env)
    expect(proxyVariables(url, env)).toEqual(isOurs ? [] : ['http_proxy'])
  }
})

test('what the environment keeps from its proxy stays so', () => {
  for (const given of ENVIRONMENTS.slice(1, 3)) {
    const env: Record<string, string | undefined> = { ...given, http_proxy: 'http://proxy.example' }
    reachLoopback(env)
    expect(proxyVariables(new URL('http://vendor.example'), env)).toEqual([])
  }
})
