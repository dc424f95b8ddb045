// File descriptors that are short: told of moments too, since answers that close their connections soon end them; and who
// is hung up on.

import { describe, expect, test } from 'bun:test'
import type { Connection } from '../../src/lib/sockets.ts'
import { createDescriptors, createHangingUp, type Door, watchDescriptors } from '../../src/observe/descriptors.ts'
import { until } from '../support/until.ts'

test('that they were short for a moment is still known when it is over, and asked for once', async () => {
  let left = false
  const descriptors = createDescriptors(() => left)
  expect(descriptors.short()).toBe(true)
  left = true
  await until(() => !descriptors.short())
  expect([descriptors.wereShort(), descriptors.wereShort()]).toEqual([true, false])
})

test('where many come in within a moment it is looked at again, and not for each of them', () => {
  let left = 40
  let looks = 0
  const descriptors = createDescriptors(() => {
    looks++
    return left >= 32
  })
  let entered = 0
  for (; entered < 300 && !descriptors.short(entered); entered++) left--
  expect(entered).toBeLessThan(40)
  expect(looks).toBeLessThan(8)
})

test('what has just been made room for is no reason to keep connections open', async () => {
  let left = true
  const descriptors = createDescriptors(() => left)
  expect(descriptors.shortLately()).toBe(false)
  left = false
  await until(() => descriptors.short())
  left = true
  await until(() => !descriptors.short())
  expect(descriptors.shortLately()).toBe(true)
})

test('while they are short, room is made four times as often', () => {
  let isShort = false
  let next = { run: (): void => undefined, ms: 0 }
  let made = 0
  const stop = watchDescriptors(
    { short: () => isShort, shortLately: () => isShort, wereShort: () => isShort },
    {
      makeRoom: () => void made++,
      tell: () => undefined,
      later: (run, ms) => {
        next = { run, ms }
        return () => {
          next = { run: () => undefined, ms: Number.POSITIVE_INFINITY }
        }
      },
    },
  )
  const waits = [false, true, true, true, false, false].map((short) => {
    isShort = short
    next.run()
    return next.ms
  })
  expect([waits, made]).toEqual([[200, 50, 50, 50, 200, 200], 3])
  stop()
  expect(next.ms).toBe(Number.POSITIVE_INFINITY)
})

test('where room could not be made once, it is tried again', () => {
  const waits: number[] = []
  let run = (): void => undefined
  watchDescriptors(
    { short: () => true, shortLately: () => true, wereShort: () => false },
    {
      makeRoom: () => {
        throw new Error('no such call')
      },
      tell: () => undefined,
      later: (next, ms) => {
        waits.push(ms)
        run = next
        return () => undefined
      },
    },
  )
  expect(run).toThrow('no such call')
  expect(run).toThrow('no such call')
  expect(waits).toEqual([200, 50, 50])
})

describe('a connection is hung up on', () => {
  const PORT = 8080
  const most = 40
  const idle = (port: number): Door => ({ port, busyPeers: () => new Set() })
  /** `rounds`: what is behind each descriptor in a round of 200 ms; `busy`: the peers with a request. */
  const after = (
    rounds: Partial<Connection>[][],
    busy: number[] = [],
    descriptors = most,
    other = idle(PORT + 1),
  ): number[] => {
    const ended: number[] = []
    let now = 0
    let connections: Partial<Connection>[] = []
    const sockets = {
      at: (fd: number, port: number) => {
        const found = connections.find((each) => each.fd === fd)
        return port !== PORT || found === undefined || ended.includes(fd)
          ? undefined
          : { fd, peer: 5_000 + fd, unsent: 0, unread: 0, ...found }
      },
      hangUp: (fd: number) => void ended.push(fd),
    }
    const hangUp = createHangingUp(sockets, descriptors, () => now)
    for (const round of rounds) {
      connections = round
      hangUp([other, { port: PORT, busyPeers: () => new Set(busy) }])
      now += 200
    }
    return ended
  }
  const times = (count: number, round: Partial<Connection>[]) => Array.from({ length: count }, () => round)

  test.each<[string, number[], Parameters<typeof after>]>([
    ['where no request came since the last round', [7], [times(2, [{ fd: 7 }])]],
    ['not in its first', [], [times(1, [{ fd: 7 }])]],
    ['not while its request is answered', [8], [times(30, [{ fd: 7 }, { fd: 8 }]), [5_007]]],
    [
      'not while one of two doors of a port answers it',
      [8],
      [times(30, [{ fd: 7 }, { fd: 8 }]), [5_007], most, idle(PORT)],
    ],
    ['not where it is another than before', [], [[[{ fd: 7, peer: 1 }], [{ fd: 7, peer: 2 }], [{ fd: 7, peer: 3 }]]]],
    ['not where it went and one came in its place', [], [[[{ fd: 7 }], [], [{ fd: 7 }]]]],
    ['not where a request comes in the moment', [], [[[{ fd: 7 }], [{ fd: 7, unread: 9 }]]]],
    ['where what has come is read by nobody', [7], [times(6, [{ fd: 7, unread: 9 }])]],
    ['where nobody has read of its answer for long', [7], [times(30, [{ fd: 7, unsent: 9 }])]],
    ['not where nobody reads of it for a moment', [], [times(20, [{ fd: 7, unsent: 9 }])]],
    [
      'not where it is read slowly',
      [],
      [Array.from({ length: 60 }, (_, at) => [{ fd: 7, unsent: 900 - Math.floor(at / 20) }])],
    ],
    [
      'where many read nothing, all but a quarter of what there can be, who has read nothing longest first',
      [7, 8],
      [
        [
          ...times(3, [{ fd: 7, unsent: 9 }]),
          ...times(
            4,
            Array.from({ length: 12 }, (_, at) => ({ fd: 7 + at, unsent: 9 })),
          ),
        ],
      ],
    ],
    ['among very many, of which a round looks at a part', [39_000], [times(29, [{ fd: 39_000 }]), [], 40_000]],
  ])('%s', (_, ended, rounds) => {
    expect(after(...rounds)).toEqual(ended)
  })
})
