// Who is told of trouble, how sending to them goes, and a test.

import type * as S from '../../admin-api/schema.ts'
import type { Receiver } from '../../alerts/alert.ts'
import { invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { iso, isoOrNull } from '../../lib/iso-time.ts'
import { actorOf, type Part } from './call.ts'

export const alerts: Part<'alerts.list' | 'alerts.test'> = {
  'alerts.list': ({ gateway }) => ({
    items: gateway.config.alerts.receivers.map((receiver) => receiverView(gateway, receiver)),
  }),
  'alerts.test': async ({ gateway, caller }, { receiver }) => {
    const { receivers } = gateway.config.alerts
    if (receivers.length === 0)
      throw invalidRequest('The configuration names nobody to tell: write alerts.webhooks or alerts.email in it.')
    if (receiver !== undefined && receivers.every(({ name }) => name !== receiver))
      throw invalidRequest(
        `There is no receiver of that name; allowed: ${receivers.map(({ name }) => name).join(', ')}.`,
        'receiver',
      )
    return { items: await gateway.alerts.test(receiver, actorOf(caller)) }
  },
}

const receiverView = ({ alerts: { standingOf } }: Gateway, receiver: Receiver): S.AlertReceiver => {
  const { waiting, sentAt, failing } = standingOf(receiver.name)
  return {
    ...{ name: receiver.name, kind: receiver.kind, only: receiver.only === undefined ? null : [...receiver.only] },
    format: receiver.kind === 'webhook' ? receiver.format : null,
    // The rest of the address of a webhook is a secret with some.
    to: receiver.kind === 'webhook' ? new URL(receiver.url).host : receiver.to.join(', '),
    ...{ waiting, sent_at: isoOrNull(sentAt) },
    failing: failing === undefined ? null : { since: iso(failing.since), words: failing.words },
  }
}
