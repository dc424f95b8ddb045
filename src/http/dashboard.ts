// The page and its files: one shell for every address of the page, assets by their exact hashed names.

import { Elysia } from 'elysia'
import { loadPage, type Page } from '../dashboard/assets.ts'
import { fallback } from './fallback.ts'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** On everything the page is made of. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export const dashboard = new Elysia({ name: 'dashboard' })
  // Someone who typed the address alone; clients that ask for it are told where the API is.
  .get('/', ({ request }) =>
    /\btext\/html\b/.test(request.headers.get('accept') ?? '')
      ? new Response(null, { status: 302, headers: { ...PAGE_HEADERS, location: '/dashboard' } })
      : fallback(request),
  )
  .get('/dashboard', () => shell())
  .get('/dashboard/*', () => shell())
  .get('/usage', () => shell())
  .get('/dashboard/assets/:name', ({ request, params }) => asset(request, params.name))

/** The HTML every address of the page answers with. */
export const shell = async (): Promise<Response> =>
  new Response(html(await loadPage()), {
    headers: { ...PAGE_HEADERS, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
  })

const asset = async (request: Request, name: string): Promise<Response> => {
  const found = (await loadPage()).assets.get(name)
  if (found === undefined) return fallback(request)
  const zipped = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')
  return new Response(zipped ? found.gzip : found.text, {
    headers: {
      ...PAGE_HEADERS,
      'content-type': found.type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    },
  })
}

const html = ({ theme, script, styles, icon }: Page): string => {
  const at = (name: string): string => `/dashboard/assets/${name}`
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="robots" content="noindex">',
    '<title>sluice</title>',
    `<link rel="icon" type="image/svg+xml" href="${at(icon)}">`,
    ...styles.map((name) => `<link rel="stylesheet" href="${at(name)}">`),
    `<script src="${at(theme)}"></script>`,
    `<script type="module" src="${at(script)}"></script>`,
    '</head>',
    '<body><div id="page"></div><noscript>This page needs JavaScript. The API does not.</noscript></body>',
    '</html>',
    '',
  ].join('\n')
}
