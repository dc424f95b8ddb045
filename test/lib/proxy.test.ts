// Which of the environment's variables decide how a URL is reached, and which of them name what `fetch` would go past.

import { describe, expect, test } from 'bun:test'
import { portOf, proxyVariables, unspokenProxy, unspokenScheme } from '../../src/lib/proxy.ts'

const HTTP = new URL('http://vendor.example/')
const HTTPS = new URL('https://vendor.example/')

describe('the variables that decide', () => {
  test.each([
    ['none', HTTPS, {}, []],
    ['that of the scheme alone', HTTPS, { HTTP_PROXY: 'http://a' }, []],
    ['that of the scheme alone', HTTP, { HTTPS_PROXY: 'http://a' }, []],
    ['that of the scheme', HTTP, { HTTP_PROXY: 'http://a' }, ['HTTP_PROXY']],
    ['both spellings', HTTPS, { HTTPS_PROXY: 'http://a', https_proxy: 'http://b' }, ['https_proxy', 'HTTPS_PROXY']],
    ['that for all', HTTPS, { ALL_PROXY: 'http://a' }, ['ALL_PROXY']],
    ['that of the scheme before that for all', HTTPS, { https_proxy: 'http://b', ALL_PROXY: 'x' }, ['https_proxy']],
    ['that for all where the scheme’s is empty', HTTPS, { https_proxy: '', all_proxy: 'http://b' }, ['all_proxy']],
    ['none for a host that is kept from it', HTTPS, { HTTPS_PROXY: 'http://a', NO_PROXY: 'vendor.example' }, []],
    ['none for a port that is kept from it', HTTP, { HTTP_PROXY: 'http://a', NO_PROXY: 'vendor.example:80' }, []],
    [
      'none for an address in brackets, named without',
      new URL('http://[::1]:8080'),
      { HTTP_PROXY: 'x', NO_PROXY: '::1' },
      [],
    ],
    ['none for one named with them', new URL('http://[::1]:8080'), { HTTP_PROXY: 'x', NO_PROXY: '[::1]' }, []],
    ['another port is not', HTTPS, { HTTPS_PROXY: 'x', NO_PROXY: 'vendor.example:80' }, ['HTTPS_PROXY']],
  ])('%s: %s, %j', (_, url, env, names) => expect(proxyVariables(url, env)).toEqual(names))
})

describe('a proxy that would be gone past', () => {
  test.each([
    [undefined, HTTPS, {}],
    [undefined, HTTPS, { HTTPS_PROXY: 'http://proxy.example' }],
    [undefined, HTTPS, { HTTPS_PROXY: 'https://proxy.example' }],
    [undefined, HTTPS, { HTTPS_PROXY: 'proxy.example:3128' }],
    [undefined, HTTPS, { HTTP_PROXY: 'socks5://proxy.example' }],
    [undefined, HTTPS, { ALL_PROXY: 'socks5://proxy.example', NO_PROXY: 'vendor.example' }],
    [{ name: 'ALL_PROXY', scheme: 'socks5' }, HTTPS, { ALL_PROXY: 'socks5://proxy.example' }],
    [{ name: 'http_proxy', scheme: 'socks5h' }, HTTP, { http_proxy: ' SOCKS5H://proxy.example' }],
    [{ name: 'HTTPS_PROXY', scheme: 'socks4' }, HTTPS, { https_proxy: 'http://a', HTTPS_PROXY: 'socks4://b' }],
  ])('%j: %s, %j', (found, url, env) => expect(unspokenProxy(url, env)).toEqual(found))

  test.each([
    ['http://a', undefined],
    ['HTTPS://a', undefined],
    ['a:3128', undefined],
    ['', undefined],
    ['socks://a', 'socks'],
    ['pac+http://a', 'pac+http'],
  ])('%j speaks %s', (proxy, scheme) => expect(unspokenScheme(proxy)).toBe(scheme))
})

test.each([
  ['http://a', '80'],
  ['https://a', '443'],
  ['http://a:443', '443'],
  ['https://a:80', '80'],
])('the port of %s is %s', (url, port) => expect(portOf(new URL(url))).toBe(port))
