// One try to send an alert to one receiver.

import type { Alert, Receiver } from './alert.ts'

/** `words`: why not, the end of a sentence about the receiver; `retryAfterMs`: how long it asked to be left alone. */
export type Sent = { ok: true } | { ok: false; words: string; retryAfterMs?: number | undefined }

/** How long a receiver may take. */
export const PATIENCE_MS = 10_000

/** Never throws. `stop` ends it early. */
export const send = async (
  receiver: Receiver,
  alert: Alert,
  { stop, nowMs, patienceMs = PATIENCE_MS }: { stop: AbortSignal; nowMs: number; patienceMs?: number | undefined },
): Promise<Sent> => {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)])
  if (receiver.kind === 'webhook')
    return (await import('./webhook.ts')).sendToWebhook(receiver, alert, { signal, nowMs })
  return (await import('./email.ts')).sendByEmail(receiver, alert, signal)
}
