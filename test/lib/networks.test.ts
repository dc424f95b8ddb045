// Addresses in networks, against a plain reading of their bits.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isNetwork, isWithinNetworks, networksOf, plainAddress } from '../../src/lib/networks.ts'

const v4 = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
const bitsOf = (bytes: readonly number[]): string => bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('')

test('an IPv4 address lies in a network whose bits it begins with, written either way', () =>
  fc.assert(
    fc.property(v4, v4, fc.nat(32), (network, address, bits) => {
      const list = [`${network.join('.')}/${bits}`]
      const lies = bitsOf(address).startsWith(bitsOf(network).slice(0, bits))
      expect(networksOf(list).has(address.join('.'))).toBe(lies)
      expect(networksOf(list).has(`::ffff:${address.join('.')}`)).toBe(lies)
    }),
  ))

test('a list lies within another when every address of it does', () =>
  fc.assert(
    fc.property(v4, fc.nat(32), fc.nat(32), fc.nat(31), (network, inner, outer, flipped) => {
      const address = network.join('.')
      expect(isWithinNetworks([`${address}/${inner}`], [`${address}/${outer}`])).toBe(outer <= inner)
      const other = bitsOf(network)
        .split('')
        .map((bit, i) => (i === flipped ? (bit === '0' ? '1' : '0') : bit))
        .join('')
        .match(/.{8}/g)
        ?.map((byte) => Number.parseInt(byte, 2))
        .join('.')
      expect(isWithinNetworks([`${other}/${inner}`], [`${address}/${outer}`])).toBe(outer <= inner && outer <= flipped)
    }),
  ))

test.each([
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['2001:db8::7', '2001:0db8:0:0::0007', true],
  ['::/0', '10.0.0.1', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['10.0.0.0/8', 'unknown', false],
  ['10.0.0.0/8', '', false],
])('of %s and %s', (network, address, lies) => {
  expect(networksOf([network]).has(address)).toBe(lies)
})

describe('what is a network', () => {
  test.each(['203.0.113.7', '10.0.0.0/8', '10.1.2.3/8', '0.0.0.0/0', '2001:db8::/32', '::1', '::/0'])('%s', (text) => {
    expect(isNetwork(text)).toBe(true)
  })
  test.each([
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '::/129',
    'fe80::1%lo',
    'host',
    '10.0.0.0/ 8',
  ])('not %p', (text) => {
    expect(isNetwork(text)).toBe(false)
  })
})

test.each([
  ['203.0.113.7:1234', '203.0.113.7'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['::FFFF:10.0.0.1', '10.0.0.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['unknown', undefined],
  ['_hidden', undefined],
])('%s is compared as %p', (text, plain) => {
  expect(plainAddress(text)).toBe(plain)
})
