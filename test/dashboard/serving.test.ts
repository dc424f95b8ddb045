// How the page is served: one shell, assets by exact hashed names, a policy that lets nothing else in.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { bundlePage } from '../../src/dashboard/bundle.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({})
})
afterAll(() => gateway.stop())

const open = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(gateway.url + path, { headers, decompress: false })

const assetsOf = (html: string): string[] =>
  Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, path = '']) => path)

describe('the shell', () => {
  const paths = ['/dashboard', '/dashboard/', '/dashboard/keys/key_1', '/usage', '/docs', '/docs/guides/codex']
  test.each(paths)('%s answers with the page', async (path) => {
    const answer = await open(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await answer.text()).toContain('<div id="page"></div>')
  })

  test('is where a browser is led that asks for the address alone', async () => {
    const answer = await fetch(gateway.url, { headers: { accept: 'text/html,*/*;q=0.8' }, redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/dashboard'])
    expect((await open('/', { accept: '*/*' })).status).toBe(404)
  })

  test('lets only its own scripts and styles run and may not be framed', async () => {
    const { headers } = await open('/dashboard')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('has no inline script, style or handler, and names nothing of another host', async () => {
    const html = await (await open('/dashboard')).text()
    expect(html).not.toMatch(/<style|style=|\son\w+=|javascript:/)
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/)
    for (const path of assetsOf(html)) expect(path).toStartWith('/dashboard/assets/')
  })
})

describe('assets', () => {
  test('carry a hash in their name and may be kept for ever', async () => {
    for (const path of assetsOf(await (await open('/dashboard')).text())) {
      const answer = await open(path)
      expect(answer.status).toBe(200)
      expect(path).toMatch(/-[a-z0-9]{6,}\.(js|css|svg)$/)
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      await answer.arrayBuffer()
    }
  })

  test('come compressed to those who take it and plain to others, the same bytes', async () => {
    const [path = ''] = assetsOf(await (await open('/dashboard')).text()).filter((each) => each.includes('/main-'))
    const zipped = await open(path, { 'accept-encoding': 'gzip' })
    const plain = await open(path, { 'accept-encoding': 'identity' })
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(plain.headers.get('content-encoding')).toBeNull()
    const unpacked = Bun.gunzipSync(new Uint8Array(await zipped.arrayBuffer()))
    expect(new TextDecoder().decode(unpacked)).toBe(await plain.text())
  })

  const outside = [
    '/dashboard/assets/nothing.js',
    '/dashboard/assets/..%2f..%2fpackage.json',
    '/dashboard/assets/%2e%2e%2fbundle.ts',
    '/dashboard/assets/main.tsx',
    '/dashboard/assets/%00',
    '/dashboard/assets/__proto__',
  ]
  test.each(outside)('%s is not there', async (path) => {
    const answer = await open(path)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('x-gateway-error-code')).toBe('not_found')
  })

  test('are 200 KB at most in all, compressed', async () => {
    const { assets } = await bundlePage()
    const total = assets.reduce((sum, { text }) => sum + Bun.gzipSync(text, { level: 9 }).byteLength, 0)
    expect(total).toBeGreaterThan(10_000)
    expect(total).toBeLessThan(200 * 1024)
  })

  test('hold nothing that stands for the runtime of the server', async () => {
    const { assets } = await bundlePage()
    for (const { text } of assets) expect(text).not.toContain('readBigUInt64LE')
  })

  test('hold no code made at run time and no address of another host that is fetched', async () => {
    const { assets } = await bundlePage()
    for (const { text } of assets) {
      expect(text).not.toMatch(/\beval\(|new Function\(/)
      expect(text).not.toMatch(/(?:fetch|import|EventSource)\(["'`]https?:/)
      expect(text).not.toMatch(/url\(["']?https?:/)
    }
  })
})

test('nothing is left to change: a POST to the page is refused in the envelope', async () => {
  const answer = await fetch(`${gateway.url}/dashboard`, { method: 'POST' })
  expect(answer.status).toBeGreaterThanOrEqual(404)
  expect(answer.headers.get('x-gateway-error-code')).not.toBeNull()
})
