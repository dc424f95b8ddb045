// Gateway → Elysia app. Read top to bottom, it is the list of URLs.

import { Elysia } from 'elysia'
import type { Gateway } from './gateway.ts'
import { admin } from './http/admin/index.ts'
import { background } from './http/background.ts'
import { counting } from './http/counting.ts'
import { dashboard } from './http/dashboard.ts'
import { docs } from './http/docs.ts'
import { pathsOf } from './http/endpoints.ts'
import { fallback, frameworkError } from './http/fallback.ts'
import { health } from './http/health.ts'
import { inference } from './http/inference.ts'
import { metrics } from './http/metrics.ts'
import { models } from './http/models.ts'
import { usage } from './http/usage.ts'

export const createApp = (gateway: Gateway) =>
  new Elysia({ serve: { idleTimeout: 0 }, normalize: false })
    .use(health(gateway))
    .use(metrics(gateway))
    .use(models(gateway))
    .use(usage(gateway))
    .use(inference(gateway, { wire: 'chat-completions', paths: pathsOf('/v1/chat/completions') }))
    .use(inference(gateway, { wire: 'responses', paths: pathsOf('/v1/responses') }))
    .use(inference(gateway, { wire: 'messages', paths: pathsOf('/v1/messages') }))
    .use(inference(gateway, { wire: 'images', paths: pathsOf('/v1/images/generations') }))
    .use(counting(gateway, { wire: 'messages', paths: pathsOf('/v1/messages/count_tokens') }))
    .use(counting(gateway, { wire: 'responses', paths: pathsOf('/v1/responses/input_tokens') }))
    .use(background(gateway))
    .use(admin(gateway))
    .use(dashboard)
    .use(docs)
    .all('/*', ({ request }) => fallback(request), { parse: 'none' })
    .onError(({ request, code, error }) => frameworkError(gateway, request, code, error))
