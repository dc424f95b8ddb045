// One try to send an alert to one receiver.

import { type Alert, PATIENCE_MS, type Receiver, type Sent } from './alert.ts'

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
