// The page and its files: one shell for every address of the page, assets by their exact hashed names.

import { Elysia } from 'elysia'
import { listensEverywhere, originOf } from '../config/origin.ts'
import { loadPage, type Page } from '../dashboard/assets.ts'
import type { Gateway } from '../gateway.ts'
import type { Side } from './endpoints.ts'
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

export const dashboard = (gateway: Gateway) => {
  const page = pageOf(gateway, 'operators')
  return new Elysia({ name: 'dashboard' })
    .get('/', leadTo('operators'))
    .get('/dashboard', ({ request }) => page(request))
    .get('/dashboard/*', ({ request }) => page(request))
    .get('/usage', ({ request }) => page(request))
    .get(`${ASSETS.operators}/:name`, ({ request, params }) => asset(request, 'operators', params.name))
}

/** What holders of keys see where the dashboard stands apart. */
export const clientPages = (gateway: Gateway) => {
  const page = pageOf(gateway, 'clients')
  return new Elysia({ name: 'client-pages' })
    .get('/', leadTo('clients'))
    .get('/usage', ({ request }) => page(request))
    .get(`${ASSETS.clients}/:name`, ({ request, params }) => asset(request, 'clients', params.name))
}

const ASSETS: Readonly<Record<Side, string>> = { operators: '/dashboard/assets', clients: '/docs/assets' }

/** Someone who typed the address alone; clients that ask for it are told where the API is. */
const leadTo =
  (side: Side) =>
  ({ request }: { request: Request }): Response =>
    /\btext\/html\b/.test(request.headers.get('accept') ?? '')
      ? new Response(null, {
          status: 302,
          headers: { ...PAGE_HEADERS, location: side === 'operators' ? '/dashboard' : '/docs' },
        })
      : fallback(request, side)

/** Answers with the HTML of every address of the page. */
export const pageOf =
  (gateway: Gateway, side: Side) =>
  async (request: Request): Promise<Response> =>
    new Response(html(await loadPage(), ASSETS[side], side === 'operators' ? apiFor(gateway, request) : undefined), {
      headers: { ...PAGE_HEADERS, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
    })

/** Where clients reach the API, where that is not where the page is: by the page's own name if it listens everywhere. */
const apiFor = ({ config, listener }: Gateway, request: Request): string | undefined => {
  const { admin, adminListen } = config
  if (admin.api !== undefined || adminListen === undefined) return admin.api
  const url = `http://${request.headers.get('host') ?? ''}`
  const listen = { ...config.listen, port: listener?.port ?? config.listen.port }
  const host = listensEverywhere(listen) && URL.canParse(url) ? new URL(url).hostname : undefined
  return originOf(host === undefined ? listen : { ...listen, host: host.replace(/^\[(.*)\]$/, '$1') })
}

const asset = async (request: Request, side: Side, name: string): Promise<Response> => {
  const found = (await loadPage()).assets.get(name)
  if (found === undefined) return fallback(request, side)
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

const html = ({ theme, script, styles, icon }: Page, assets: string, api: string | undefined): string => {
  const at = (name: string): string => `${assets}/${name}`
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="robots" content="noindex">',
    '<title>sluice</title>',
    ...(api === undefined ? [] : [`<meta name="api" content="${Bun.escapeHTML(api)}">`]),
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
