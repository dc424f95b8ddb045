// Gateway → Elysia app. Read top to bottom, it is the list of URLs.

import { Elysia } from 'elysia'
import type { Gateway } from './gateway.ts'
import { admin } from './http/admin/index.ts'
import { background } from './http/background.ts'
import { counting } from './http/counting.ts'
import { clientPages, dashboard } from './http/dashboard.ts'
import { docs } from './http/docs.ts'
import { pathsOf, type Side } from './http/endpoints.ts'
import { fallback, frameworkError } from './http/fallback.ts'
import { health } from './http/health.ts'
import { inference } from './http/inference.ts'
import { metrics } from './http/metrics.ts'
import { models } from './http/models.ts'
import { upgrade } from './http/sockets.ts'
import { usage } from './http/usage.ts'

/** `side`: the client API alone, or what operators use beside it, where that stands apart. */
export const createApp = (gateway: Gateway, side: Side = 'operators') =>
  new Elysia({ serve: { idleTimeout: 0 }, normalize: false })
    .use(health(gateway))
    .use(models(gateway))
    .use(usage(gateway))
    .use(inference(gateway, { asked: 'chat-completions', paths: pathsOf('/v1/chat/completions') }))
    .use(inference(gateway, { asked: 'responses', paths: pathsOf('/v1/responses') }))
    .use(inference(gateway, { asked: 'responses/compact', paths: pathsOf('/v1/responses/compact') }))
    .use(inference(gateway, { asked: 'messages', paths: pathsOf('/v1/messages') }))
    .use(inference(gateway, { asked: 'images', paths: pathsOf('/v1/images/generations') }))
    .use(inference(gateway, { asked: 'images/edits', paths: pathsOf('/v1/images/edits') }))
    .use(inference(gateway, { asked: 'images/variations', paths: pathsOf('/v1/images/variations') }))
    .use(inference(gateway, { asked: 'audio', paths: pathsOf('/v1/audio/transcriptions') }))
    .use(inference(gateway, { asked: 'audio/translations', paths: pathsOf('/v1/audio/translations') }))
    .use(inference(gateway, { asked: 'audio/speech', paths: pathsOf('/v1/audio/speech') }))
    .use(inference(gateway, { asked: 'embeddings', paths: pathsOf('/v1/embeddings') }))
    .use(inference(gateway, { asked: 'moderations', paths: pathsOf('/v1/moderations') }))
    .use(counting(gateway, { wire: 'messages', paths: pathsOf('/v1/messages/count_tokens') }))
    .use(counting(gateway, { wire: 'responses', paths: pathsOf('/v1/responses/input_tokens') }))
    .use(background(gateway))
    .use(side === 'operators' ? operators(gateway) : clientPages(gateway))
    .use(docs(gateway, side))
    .all('/*', async ({ request }) => (await upgrade(gateway, request)) ?? fallback(request, side), { parse: 'none' })
    .onError(({ request, code, error }) => frameworkError(gateway, request, side, { code, error }))

const operators = (gateway: Gateway) =>
  new Elysia({ name: 'operators' }).use(metrics(gateway)).use(admin(gateway)).use(dashboard(gateway))
