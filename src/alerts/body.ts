// What a webhook is sent: our JSON, documented in docs/operations.md, or the body that Slack or Discord take.

import { iso } from '../lib/iso-time.ts'
import { type Alert, linesOf, titleOf, type Webhook } from './alert.ts'

export const bodyFor = (format: Webhook['format'], alert: Alert): string => JSON.stringify(BODIES[format](alert))

const BODIES: Readonly<Record<Webhook['format'], (alert: Alert) => object>> = {
  json: (alert) => ({
    id: alert.id,
    type: alert.type,
    timestamp: iso(alert.at),
    title: titleOf(alert),
    data: { items: alert.items, more: alert.more },
  }),
  // Without its markup, which would read some names as that.
  slack: (alert) => ({ text: [titleOf(alert), ...linesOf(alert)].map(forSlack).join('\n'), mrkdwn: false }),
  discord: (alert) => ({
    content: cut([`**${titleOf(alert)}**`, ...linesOf(alert).map(forDiscord)].join('\n'), DISCORD_CHARS),
    // Names are people's own words: they call nobody.
    allowed_mentions: { parse: [] },
  }),
}

/** Slack reads links and mentions in angle brackets. */
const forSlack = (line: string): string => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const forDiscord = (line: string): string => line.replace(/[*_~`|>\\[\]<]/g, '\\$&')

/** The most that Discord takes. */
const DISCORD_CHARS = 2_000

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)
