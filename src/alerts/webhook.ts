// Sends an alert to a webhook, signed as Standard Webhooks has it: the headers webhook-id, webhook-timestamp and
// webhook-signature, by which its libraries check it and know one that came twice.

import { createHmac } from 'node:crypto'
import { retryAfterIn } from '../lib/retry-after.ts'
import { codeOf } from '../lib/system-code.ts'
import type { Alert, Sent, Webhook } from './alert.ts'
import { bodyFor } from './body.ts'

/** `nowMs`: the receiver may turn away what was signed long ago, so each try is signed anew. */
export const sendToWebhook = async (
  { url, format, secret }: Webhook,
  alert: Alert,
  { signal, nowMs }: { signal: AbortSignal; nowMs: number },
): Promise<Sent> => {
  const body = bodyFor(format, alert)
  const timestamp = `${Math.floor(nowMs / 1_000)}`
  const signed = `${alert.id}.${timestamp}.${body}`
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'sluice',
    'webhook-id': alert.id,
    'webhook-timestamp': timestamp,
    ...(secret === undefined ? {} : { 'webhook-signature': `v1,${signatureOf(signed, secret)}` }),
  }
  try {
    // What was meant for one address does not follow to another.
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    await response.body?.cancel()
    if (response.ok) return { ok: true }
    return { ok: false, words: refusal(response), retryAfterMs: retryAfterIn(response.headers, Date.now()) }
  } catch (error) {
    const code = codeOf(error, 'unknown')
    return { ok: false, words: signal.aborted ? 'it did not answer in time' : `nothing answers there (${code})` }
  }
}

const refusal = ({ status }: Response): string =>
  status >= 300 && status < 400
    ? `it sends on to another address (${status}): write that one as url`
    : `it answers ${status}`

/** A secret that begins with whsec_ holds the key's bytes in base64; any other is the key itself. */
const signatureOf = (text: string, secret: string): string => {
  const key = secret.startsWith(ENCODED) ? Buffer.from(secret.slice(ENCODED.length), 'base64') : Buffer.from(secret)
  return createHmac('sha256', key).update(text).digest('base64')
}

const ENCODED = 'whsec_'
