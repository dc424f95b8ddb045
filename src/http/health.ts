// Discovery and health: GET /v1 needs no key; /healthz is the process, /readyz what it needs to serve.

import { Elysia } from 'elysia'
import type { Gateway } from '../gateway.ts'
import { VERSION } from '../version.ts'
import { ENDPOINTS } from './endpoints.ts'

export const health = (gateway: Gateway) =>
  new Elysia({ name: 'health' })
    .get('/v1', () =>
      Response.json({
        object: 'gateway',
        name: 'sluice',
        version: VERSION,
        status: 'ok',
        endpoints: ENDPOINTS,
        documentation: '/docs',
      }),
    )
    .get('/healthz', () => Response.json({ status: 'ok' }))
    .get('/readyz', () => {
      const accounts = [...gateway.providers.values()].some((provider) => provider.accounts.length > 0)
      const ready = !gateway.draining && accounts && writable(gateway)
      return Response.json({ status: ready ? 'ready' : 'not ready' }, { status: ready ? 200 : 503 })
    })

const writable = (gateway: Gateway): boolean => {
  try {
    gateway.ledger.flush()
    return true
  } catch {
    return false
  }
}
