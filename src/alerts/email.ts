// Sends an alert as an e-mail. Its library is loaded where one is sent.

import { iso } from '../lib/iso-time.ts'
import { codeOf } from '../lib/system-code.ts'
import { type Alert, type Email, linesOf, PATIENCE_MS, type Sent, titleOf } from './alert.ts'

export const sendByEmail = async (email: Email, alert: Alert, signal: AbortSignal): Promise<Sent> => {
  const { createTransport } = await import('nodemailer')
  const { host, port, security, login } = email
  const transport = createTransport({
    ...{ host, port, secure: security === 'tls', requireTLS: security === 'starttls', ignoreTLS: security === 'none' },
    ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password } }),
    ...{ connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS },
    // An alert holds text alone.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    await Promise.race([transport.sendMail(messageOf(email, alert)), aborted])
    return { ok: true }
  } catch (error) {
    return { ok: false, words: signal.aborted ? 'it did not answer in time' : inWords(error) }
  } finally {
    signal.removeEventListener('abort', abort)
    transport.close()
  }
}

const messageOf = ({ from, to }: Email, alert: Alert) => ({
  ...{ from, to, subject: `[sluice] ${titleOf(alert)}` },
  text: [...linesOf(alert), '', `${alert.type} · ${iso(alert.at)} · ${alert.id}`].join('\n'),
  // Mailboxes know one that came twice by it.
  messageId: `<${alert.id}@${domainOf(from)}>`,
  headers: { 'X-Sluice-Alert': alert.id, 'Auto-Submitted': 'auto-generated' },
})

const domainOf = (address: string): string => /@([\w.-]+)/.exec(address)?.[1] ?? 'sluice.invalid'

/** Never the server's own text: it may repeat what it was sent. */
const inWords = (error: unknown): string => {
  const code = isUntrusted(error) ? 'ETLS' : codeOf(error, 'unknown')
  const status = error instanceof Error && 'responseCode' in error ? ` (${error.responseCode})` : ''
  return `${WORDS[code] ?? `it cannot be reached (${code})`}${status}`
}

/** The library's one code for all that befalls a connection says no more than its text does. */
const isUntrusted = (error: unknown): boolean =>
  codeOf(error) === 'ESOCKET' && error instanceof Error && /certificate|\bSSL\b|\bTLS\b/i.test(error.message)

const WORDS: Readonly<Record<string, string>> = {
  EAUTH: 'it refuses the user or the password',
  ENOAUTH: 'it asks for a user and a password',
  ETLS: 'no secured connection to it can be made: see security, and its certificate',
  EENVELOPE: 'it refuses the address of the sender or of a receiver',
  EMESSAGE: 'it refuses the message',
  EDNS: 'no host of that name is known',
  ETIMEDOUT: 'it did not answer in time',
}
