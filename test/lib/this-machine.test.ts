// Which hosts are this machine: what is told in plain text is told there alone.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isThisMachine } from '../../src/lib/this-machine.ts'

const hostOf = (host: string): string => new URL(`http://${host}/`).hostname

test.each(['localhost', 'LocalHost', 'a.localhost', 'a.b.LOCALHOST', '127.0.0.1', '127.1', '0.0.0.0', '[::1]', '[::]'])(
  '%s is',
  (host) => expect(isThisMachine(hostOf(host))).toBe(true),
)

test.each([
  ...['localhost.example', 'xlocalhost', 'a.localhost.example', '127.0.0.1.example', '128.0.0.1', '1.0.0.1'],
  ...['10.0.0.1', '[::2]', '[2001:db8::1]', '[::ffff:808:808]', 'example.com', '127x0x0x1'],
])('%s is not', (host) => expect(isThisMachine(hostOf(host))).toBe(false))

const byte = fc.nat(255)

test('every address of 127 is, as it is and within the other family', () =>
  fc.assert(
    fc.property(byte, byte, byte, (a, b, c) => {
      const address = `127.${a}.${b}.${c}`
      expect([isThisMachine(address), isThisMachine(hostOf(`[::ffff:${address}]`))]).toEqual([true, true])
    }),
  ))

test('no other address but none at all is, in either family', () =>
  fc.assert(
    fc.property(
      fc.tuple(byte, byte, byte, byte).filter(([first, ...rest]) => first !== 127 && (first > 0 || rest.some(Boolean))),
      (parts) => {
        const address = parts.join('.')
        expect([isThisMachine(address), isThisMachine(hostOf(`[::ffff:${address}]`))]).toEqual([false, false])
      },
    ),
  ))
