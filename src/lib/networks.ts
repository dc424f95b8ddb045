// Addresses and the networks they lie in, by the runtime's own list of blocks.

import { BlockList, isIP, isIPv4 } from 'node:net'

/** Most that one list may have. */
export const MOST_NETWORKS = 100

export type Networks = {
  /** An IPv4 address is the same written as one of IPv6. */
  has(address: string): boolean
}

type Network = { address: string; bits: number; family: 'ipv4' | 'ipv6' }

/** Of 203.0.113.7, 10.0.0.0/8, 2001:db8::/32; undefined for what is none. */
const parse = (text: string): Network | undefined => {
  const [address = '', bits, ...more] = text.split('/')
  if (more.length > 0 || isIP(address) === 0 || address.includes('%')) return undefined
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  const most = family === 'ipv4' ? 32 : 128
  if (bits === undefined) return { address, bits: most, family }
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? { address, bits: Number(bits), family } : undefined
}

export const isNetwork = (text: string): boolean => parse(text) !== undefined

const known = new WeakMap<readonly string[], Networks>()

/** Made once for each list, which must not be changed then. What is no network has nothing in it. */
export const networksOf = (list: readonly string[]): Networks => {
  const made = known.get(list)
  if (made !== undefined) return made
  const blocks = new BlockList()
  for (const text of list) {
    const network = parse(text)
    if (network !== undefined) blocks.addSubnet(network.address, network.bits, network.family)
  }
  const networks: Networks = {
    has(address) {
      const plain = plainAddress(address)
      return plain !== undefined && blocks.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6')
    },
  }
  known.set(list, networks)
  return networks
}

/** Whether every address of the one list is in a network of the other. */
export const isWithinNetworks = (inner: readonly string[], outer: readonly string[]): boolean =>
  inner.every((text) => {
    const network = parse(text)
    if (network === undefined) return true
    return outer.some((each) => {
      const around = parse(each)
      return around?.family === network.family && around.bits <= network.bits && networksOf([each]).has(network.address)
    })
  })

/** An address as it is compared and kept: without brackets, port and zone, IPv4 as such. Undefined for what is none. */
export const plainAddress = (text: string): string | undefined => {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.split(':')[0] : text)
  const address = bare?.split('%')[0] ?? ''
  if (isIP(address) === 0) return undefined
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  return mapped ?? address
}
