// Where a request comes from: the peer of its connection, or what trusted proxies say of it. The one place that reads
// X-Forwarded-For.

import type { Gateway } from '../gateway.ts'
import { networksOf, plainAddress } from '../lib/networks.ts'

/** An address, also with a zone and a port, is shorter: what a proxy passes on is kept in counts and in the audit. */
const ADDRESS_LENGTH = 64

/** The last peer, as the runtime writes it and as it is compared: where few proxies stand in front, mostly the next one too. */
let last = { address: '', plain: '' }

const peerOf = ({ listener }: Gateway, request: Request): string | undefined => {
  const address = listener?.addressOf(request)
  if (address === undefined) return undefined
  if (address !== last.address) last = { address, plain: plainAddress(address) ?? address }
  return last.plain
}

/** Whether what the peer says of the client is believed: any peer's, or that of the networks listed. */
export const isTrusted = (gateway: Gateway, request: Request): boolean => {
  const trust = gateway.settings.values().trust_proxy
  if (typeof trust === 'boolean') return trust
  const peer = peerOf(gateway, request)
  return peer !== undefined && networksOf(trust).has(peer)
}

/**
 * The client's address: the peer's, or a trusted proxy's word for it. That is the last it added; where proxies are listed, the
 * last that is none of them.
 */
export const clientAddress = (gateway: Gateway, request: Request): string | undefined => {
  const trust = gateway.settings.values().trust_proxy
  const peer = peerOf(gateway, request)
  if (trust === false || !isTrusted(gateway, request)) return peer
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').flatMap((hop) => hop.trim() || [])
  const told = trust === true ? hops.at(-1) : (hops.findLast((hop) => !networksOf(trust).has(hop)) ?? hops[0])
  return told === undefined ? peer : (plainAddress(told) ?? told.slice(0, ADDRESS_LENGTH))
}
