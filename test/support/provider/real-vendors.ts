// Stand-ins as strict as the two real vendors: they refuse ids they do not sell, headers with a neutral word, the other's
// credential header, and a request without a version. What they let through, the demo's vendors answer.

import { type DemoProviders, startDemoProviders } from '../../../src/demo/index.ts'

export const VENDOR_KEYS = { a: 'sk-ant-strict', b: 'sk-proj-strict' } as const

const SOLD = {
  a: ['claude-opus-4-8', 'claude-opus-4-7', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-haiku-4-5'],
  b: ['gpt-5.5', 'gpt-5.4', 'gpt-5.4-mini', 'gpt-4o', 'gpt-image-1'],
} as const

export type RealVendors = {
  /** Base URLs as their own clients are given them. */
  a: string
  b: string
  /** What they refused, and why. */
  refused: string[]
  stop(): Promise<void>
}

type Refusal = { status: number; error: Record<string, unknown> }

export const startRealVendors = async (): Promise<RealVendors> => {
  const demo = await startDemoProviders()
  const refused: string[] = []
  const serve = (which: 'a' | 'b') =>
    Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const body = await request.text()
        const { pathname } = new URL(request.url)
        if (request.method === 'GET' && pathname === '/v1/models') return listOf(which, request)
        const refusal = credentialRefused(which, request) ?? headersRefused(which, request) ?? modelRefused(which, body)
        if (refusal === undefined) return forward(demo, which, request, body)
        refused.push(`${pathname}: ${refusal.error.message}`)
        const whole = which === 'a' ? { type: 'error', error: refusal.error } : { error: refusal.error }
        return Response.json(whole, { status: refusal.status })
      },
    })
  const [a, b] = [serve('a'), serve('b')]
  return {
    a: `http://127.0.0.1:${a.port}`,
    b: `http://127.0.0.1:${b.port}/v1`,
    refused,
    stop: async () => {
      await Promise.all([a.stop(true), b.stop(true), demo.stop()])
    },
  }
}

const listOf = (which: 'a' | 'b', request: Request): Response => {
  const refusal = credentialRefused(which, request)
  if (refusal !== undefined) return Response.json({ error: refusal.error }, { status: refusal.status })
  return Response.json({ object: 'list', data: SOLD[which].map((id) => ({ id })), has_more: false })
}

const credentialRefused = (which: 'a' | 'b', { headers }: Request): Refusal | undefined => {
  const isRight =
    which === 'a'
      ? headers.get('x-api-key') === VENDOR_KEYS.a && headers.get('authorization') === null
      : headers.get('authorization') === `Bearer ${VENDOR_KEYS.b}` && headers.get('x-api-key') === null
  if (isRight) return undefined
  const error =
    which === 'a'
      ? { type: 'authentication_error', message: 'invalid x-api-key' }
      : { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key provided: sk-***.' }
  return { status: 401, error }
}

const headersRefused = (which: 'a' | 'b', { headers }: Request): Refusal | undefined => {
  const neutral = [...headers.keys()].find((name) => /vendor-?[ab]/i.test(name))
  if (neutral !== undefined)
    return { status: 400, error: { type: 'invalid_request_error', message: `what is ${neutral}?` } }
  if (which === 'b' || /^\d{4}-\d\d-\d\d$/.test(headers.get('anthropic-version') ?? '')) return undefined
  return { status: 400, error: { type: 'invalid_request_error', message: 'anthropic-version: header is required' } }
}

const modelRefused = (which: 'a' | 'b', body: string): Refusal | undefined => {
  const { model } = JSON.parse(body)
  if (SOLD[which].some((id) => id === model)) return undefined
  const error =
    which === 'a'
      ? { type: 'not_found_error', message: `model: ${model}` }
      : {
          ...{ type: 'invalid_request_error', code: 'model_not_found', param: null },
          message: `The model \`${model}\` does not exist or you do not have access to it.`,
        }
  return { status: 404, error }
}

const forward = (demo: DemoProviders, which: 'a' | 'b', request: Request, body: string): Promise<Response> => {
  const headers = new Headers(request.headers)
  for (const name of ['host', 'content-length']) headers.delete(name)
  if (which === 'a') headers.set('x-api-key', demo.vendorA.apiKey)
  else headers.set('authorization', `Bearer ${demo.vendorB.apiKey}`)
  const origin = new URL(which === 'a' ? demo.vendorA.baseUrl : demo.vendorB.baseUrl).origin
  return fetch(origin + new URL(request.url).pathname, { method: 'POST', headers, body })
}
