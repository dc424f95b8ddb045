// When a connection to PostgreSQL has to be by TLS: wherever it leaves this machine and its private network.

import { isIP } from 'node:net'
import { networksOf } from './networks.ts'

/** As `sslmode` of a database's URL. */
export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** `mode`: of SSL_MODES. */
export const isTooOpen = (hostname: string, mode: string | undefined): boolean =>
  !isNear(hostname) && (mode === undefined || mode === 'disable' || mode === 'prefer')

const PRIVATE = networksOf([
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10'],
  ...['::1', 'fc00::/7', 'fe80::/10'],
])

/** A name without a dot is resolved by a private network alone. */
const isNear = (host: string): boolean => {
  const name = host.replace(/^\[|\]$/g, '')
  if (isIP(name) !== 0) return PRIVATE.has(name)
  return !name.includes('.') || /\.(local|localhost|internal|lan|home\.arpa|svc|cluster\.local)$/i.test(name)
}
