// Who is told of trouble, and of what.

import type { AlertRules, Receiver } from '../alerts/alert.ts'
import { isThisMachine } from '../lib/this-machine.ts'
import { memberPath, mismatch } from './problem.ts'
import type { Reader } from './reader.ts'
import type { FileConfig } from './schema.ts'

type FileAlerts = NonNullable<FileConfig['alerts']>

const MINUTE_MS = 60_000

export const readAlerts = (reader: Reader): AlertRules => {
  const file = reader.file.alerts ?? {}
  const { above = 0.5, requests = 20, within } = file.error_rate ?? {}
  return {
    receivers: reader.resolves ? receiversOf(reader, file) : [],
    marks: [...new Set(file.marks ?? [80, 100])].sort((a, b) => a - b),
    expiringMs: reader.duration('alerts.expiring', file.expiring, 7 * 24 * 60 * MINUTE_MS),
    restingMs: reader.duration('alerts.resting', file.resting, 10 * MINUTE_MS),
    errorRate: {
      ...{ above, requests },
      withinMs: reader.duration('alerts.error_rate.within', within, 10 * MINUTE_MS),
    },
  }
}

/** What the e-mail's is called. */
const EMAIL = 'email'

const receiversOf = (reader: Reader, { webhooks = {}, email }: FileAlerts): Receiver[] => [
  ...Object.entries(webhooks).flatMap(([name, webhook]) => webhookOf(reader, name, webhook)),
  ...(email === undefined ? [] : emailOf(reader, email)),
]

const webhookOf = (
  reader: Reader,
  name: string,
  { url: written, format = 'json', secret: signedWith, only }: NonNullable<FileAlerts['webhooks']>[string],
): Receiver[] => {
  const at = memberPath('alerts.webhooks', name)
  if (name === EMAIL) reader.report(at, 'found the name email, which the e-mail has; allowed: any other')
  if (written === undefined) return []
  const url = reader.reference(`${at}.url`, written)?.trim()
  const secret = signedWith === undefined ? undefined : reader.secret(`${at}.secret`, signedWith)
  if (format === 'json' && signedWith === undefined)
    reader.report(
      `${at}.secret`,
      mismatch(undefined, 'env:NAME or file:PATH, by which it knows that it is told by you'),
    )
  if (url === undefined) return []
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    reader.report(`${at}.url`, 'found something else, allowed: an http or https URL, env:NAME or file:PATH')
    return []
  }
  return [{ kind: 'webhook', name, url, format, secret, only }]
}

const emailOf = (reader: Reader, file: NonNullable<FileAlerts['email']>): Receiver[] => {
  const { to, from, host, security = 'starttls', only } = file
  const { user, password } = file
  const at = 'alerts.email'
  if ((user === undefined) !== (password === undefined))
    reader.report(
      at,
      `found a ${user === undefined ? 'password' : 'user'} alone, allowed: user and password, or neither`,
    )
  const login =
    user === undefined || password === undefined
      ? undefined
      : { user: reader.reference(`${at}.user`, user) ?? '', password: reader.secret(`${at}.password`, password) ?? '' }
  if (login !== undefined && security === 'none' && !isThisMachine(host))
    reader.warn(`${at}: its password is sent in clear to ${host}; security: starttls or tls keeps it`)
  const port = file.port ?? (security === 'tls' ? 465 : 587)
  return [{ kind: 'email', name: EMAIL, to, from, host, port, security, login, only }]
}
