// Discovery and health: GET /v1 needs no key; /healthz and /health say that the process runs, /readyz that it can serve.

import { Elysia } from 'elysia'
import type { Gateway } from '../gateway.ts'
import { targetName } from '../relay/health.ts'
import { VERSION } from '../version.ts'
import { ALIVE, ENDPOINTS, pathsOf } from './endpoints.ts'

/** /readyz needs no key: it writes to the store no more often than this. */
const PROBE_EVERY_MS = 1_000

export const health = (gateway: Gateway) => {
  const writable = probing(gateway)
  const app = new Elysia({ name: 'health' })
  for (const path of pathsOf('/v1')) app.get(path, discovery)
  for (const path of ALIVE) app.get(path, () => answer(200, { status: 'ok' }))
  return app.get('/readyz', () => {
    const missing = [
      ...(gateway.leaving || gateway.draining ? ['draining: the server is stopping'] : []),
      ...(writable() && !gateway.ledger.isStuck() ? [] : ['store: the database cannot be written']),
      ...missingAccounts(gateway),
    ]
    if (missing.length === 0) return answer(200, { status: 'ready', ...makingDo(gateway) })
    return answer(503, { status: 'not ready', missing }, { 'retry-after': `${PROBE_EVERY_MS / 1_000}` })
  })
}

/** What goes on another way than it is meant to. */
const makingDo = ({ together }: Gateway): { degraded?: string[] } =>
  together?.limitsAway() === true
    ? { degraded: ['limits: their store cannot be reached, and they are counted in the database'] }
    : {}

const discovery = (): Response =>
  Response.json({
    object: 'gateway',
    name: 'sluice',
    version: VERSION,
    status: 'ok',
    endpoints: ENDPOINTS.map(({ method, path, wire }) => ({ method, path, wire })),
    documentation: '/docs',
  })

const answer = (status: number, body: object, more: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers: { 'cache-control': 'no-store', ...more } })

/**
 * Whether the store can be written. While another process is writing, as long as requests wait for it, the answer stays
 * what it was: it comes at once, because those who ask do not wait.
 */
const probing = (gateway: Gateway): (() => boolean) => {
  let probedAt = Number.NEGATIVE_INFINITY
  let good = true
  let probing = false
  const look = async (): Promise<void> => {
    probing = true
    try {
      await gateway.store.probe()
      good = true
    } catch {
      good = false
    } finally {
      probing = false
      probedAt = performance.now()
    }
  }
  return () => {
    if (!probing && performance.now() - probedAt >= PROBE_EVERY_MS) void look()
    return good
  }
}

/** An account is healthy if it was never tried, or any model may be tried there now. */
const missingAccounts = (gateway: Gateway): string[] => {
  const models = gateway.catalogue.list()
  let configured = false
  for (const { id, accounts } of gateway.providers.values()) {
    for (const { name } of accounts) {
      configured = true
      const tried = models.flatMap((model) => gateway.health.standingOf(targetName(id, name, model.id)) ?? [])
      if (tried.length === 0 || tried.some(({ state }) => state !== 'open')) return []
    }
  }
  return [
    configured ? 'accounts: every one has failed of late' : 'accounts: none is configured, see "sluice config init"',
  ]
}
