// A model to its ordered targets: the wire a provider is reached on, which accounts come first, and what is remembered of it.

import { describe, expect, test } from 'bun:test'
import type { Model } from '../../src/catalogue/model.ts'
import type { Wire } from '../../src/ir/wire.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { createDetours } from '../../src/relay/adapt/detours.ts'
import type { Recall } from '../../src/relay/adapt/recall.ts'
import { CACHED_MS, createAffinity } from '../../src/relay/affinity.ts'
import { openText } from '../../src/relay/client-body.ts'
import type { ClientRequest } from '../../src/relay/exchange.ts'
import { createHealth, targetName } from '../../src/relay/health.ts'
import {
  isReferable,
  leastOutput,
  mostPerImage,
  placeAnswer,
  rememberAccount,
  route,
  wiresOf,
} from '../../src/relay/route.ts'
import type { Relay } from '../../src/relay/services.ts'
import { type Target, wireOf } from '../../src/relay/target.ts'
import { CODECS } from '../../src/wire/index.ts'

test.each<[Wire, Wire[], Wire | undefined]>([
  ['chat-completions', ['responses', 'chat-completions'], 'chat-completions'],
  ['messages', ['images', 'responses', 'chat-completions'], 'responses'],
  ['messages', ['images'], undefined],
  ['images', ['responses', 'images'], 'images'],
  ['images', ['responses', 'messages'], undefined],
])('a client of %s reaches a provider that speaks %p on %p', (client, wires, wire) => {
  expect(wireOf({ wires } as Provider, client)).toBe(wire)
})

const MODELS: Record<string, string> = { asked: 'p', second: 'q', third: 'r', homeless: 'nowhere' }
const modelNamed = (id: string): Model => ({ id, provider: MODELS[id], upstream: id, kind: 'text' }) as Model

type World = {
  accounts?: Record<string, string[]>
  wires?: Record<string, Wire[]>
  fallbacks?: string[]
  recall?: Partial<Recall>
}

/** Providers `p`, `q` and `r`, of which each has one model. */
const world = ({ accounts = {}, wires = {}, fallbacks, recall = {} }: World) => {
  const time = { now: 1_000 }
  const clock = () => time.now
  const providers = new Map(
    ['p', 'q', 'r'].map((id): [string, Provider] => [
      id,
      {
        id,
        wires: wires[id] ?? ['chat-completions'],
        quirks: {},
        accounts: (accounts[id] ?? ['only']).map((name) => ({ name, weight: 1 })),
      } as unknown as Provider,
    ]),
  )
  const relay = {
    providers,
    catalogue: { resolve: (id: string) => (id in MODELS ? modelNamed(id) : undefined) },
    health: createHealth(clock),
    affinity: createAffinity(clock),
    detours: createDetours(),
    fallbacks: fallbacks === undefined ? {} : { asked: fallbacks },
    pictures: { costOf: ({ id }: Model) => ({ asked: 10, second: 30, third: 20 })[id] ?? 0 },
    recall: { isShared: false, placeOf: async () => undefined, place: () => undefined, ...recall },
  } as unknown as Relay
  const request = (
    body: object = {},
    more: { models?: string[]; wire?: Wire; headers?: Record<string, string> } = {},
  ) => {
    const wire = more.wire ?? 'chat-completions'
    return {
      ...{ key: { id: 'key_1', models: more.models ?? ['*'] }, wire, bodyWire: wire, codec: CODECS[wire] },
      ...{ body: openText(JSON.stringify({ model: 'asked', ...body })), headers: new Headers(more.headers) },
      ...{ model: modelNamed('asked'), attempts: [] },
    } as unknown as ClientRequest
  }
  const names = (targets: readonly Target[]): string[] => targets.map(({ name }) => name)
  const to = async (asked: ClientRequest, opens?: boolean): Promise<string[]> => names(await route(relay, asked, opens))
  const fail = (name: string): void => {
    for (let times = 0; times < 5; times++) relay.health.failed(name, relay.health.begin(name))
  }
  return { time, relay, request, to, fail }
}

const nameOf = (account: string): string => targetName('p', account, 'asked')
const HELLO = [{ role: 'user', content: 'hello' }]
const ANSWERED = [...HELLO, { role: 'assistant', content: 'Hi.' }, { role: 'user', content: 'go on' }]

describe('a request goes', () => {
  test('to its model’s provider, then to those of the models that stand in, each where the key may use it', async () => {
    const { to, request } = world({ fallbacks: ['second', 'unknown', 'homeless', 'third'] })
    const [asked, second, third] = ['p/only/asked', 'q/only/second', 'r/only/third'] as const
    expect(await to(request())).toEqual([asked, second, third])
    expect(await to(request({}, { models: ['asked', 'third'] }))).toEqual([asked, third])
  })

  test('nowhere that does not speak its wire', async () => {
    const { to, request, relay } = world({
      ...{ fallbacks: ['second', 'third'], accounts: { p: [] } },
      wires: { q: ['images'], r: ['images', 'messages'] },
    })
    expect(await to(request())).toEqual(['r/only/third'])
    expect(await to(request({}, { wire: 'images' }))).toEqual(['q/only/second', 'r/only/third'])
    expect(wiresOf(relay, request())).toEqual(['chat-completions', 'images', 'images', 'messages'])
  })

  test('to each account in its turn where nothing holds it to one', async () => {
    const accounts = ['a', 'b', 'c']
    const { to, request } = world({ accounts: { p: accounts } })
    const firsts: string[] = []
    for (let times = 0; times < 9; times++) {
      const targets = await to(request(), false)
      expect([...targets].sort()).toEqual(accounts.map(nameOf))
      firsts.push(targets[0] ?? '')
    }
    for (const account of accounts) expect(firsts.filter((first) => first === nameOf(account))).toHaveLength(3)
  })

  test('to what fails last of all, behind the models that stand in', async () => {
    const { to, request, fail } = world({ accounts: { p: ['a', 'b'] }, fallbacks: ['second'] })
    fail(nameOf('a'))
    expect(await to(request())).toEqual([nameOf('b'), 'q/only/second', nameOf('a')])
    fail(nameOf('b'))
    const targets = await to(request())
    expect(targets[0]).toBe('q/only/second')
    expect(targets.slice(1).sort()).toEqual([nameOf('a'), nameOf('b')])
  })
})

describe('a conversation', () => {
  const accounts = ['a', 'b', 'c', 'd']
  /** The accounts in the order of their places for a conversation: what every gateway finds. */
  const placed = async ({ to, request }: ReturnType<typeof world>, id: string): Promise<string[]> =>
    to(request({}, { headers: { 'x-session-id': id } }))

  test('has its account, whatever went before, and all accounts have some', async () => {
    const { to, request } = world({ accounts: { p: accounts } })
    const first = new Map<string, string[]>()
    for (const round of [1, 2]) {
      for (let id = 0; id < 40; id++) {
        const targets = await to(request({}, { headers: { 'x-session-id': `${id}` } }))
        if (round === 1) first.set(`${id}`, targets)
        else expect(targets).toEqual(first.get(`${id}`) ?? [])
      }
    }
    expect(new Set([...first.values()].map(([one]) => one)).size).toBe(accounts.length)
  })

  test('that opens again a moment later, as evaluations do, goes anywhere; one that goes on does not', async () => {
    const { to, request, time } = world({ accounts: { p: accounts } })
    const firstOf = async (messages: object[], opens?: boolean) => (await to(request({ messages }), opens))[0]
    const own = await firstOf(HELLO)
    const again = await Promise.all(Array.from({ length: 8 }, () => firstOf(HELLO)))
    expect(new Set(again).size).toBe(accounts.length)
    for (let times = 0; times < 4; times++) expect(await firstOf(ANSWERED)).toBe(own)
    // One that is only counted opens nothing.
    time.now += CACHED_MS
    for (let times = 0; times < 4; times++) expect(await firstOf(HELLO, false)).toBe(own)
    expect(await firstOf(HELLO)).toBe(own)
  })

  test('whose account fails stays where it went, for as long as that has it cached', async () => {
    const all = world({ accounts: { p: accounts } })
    const { to, request, fail, time, relay } = all
    const [own = '', next = ''] = await placed(all, 'x')
    const asked = request({}, { headers: { 'x-session-id': 'x' } })
    fail(own)
    expect((await to(asked))[0]).toBe(next)
    expect((await to(asked)).at(-1)).toBe(own)
    // Its own answers again, and the other has what was said.
    relay.health.succeeded(own)
    expect((await to(asked))[0]).toBe(next)
    fail(next)
    expect((await to(asked))[0]).toBe(own)
    relay.health.succeeded(next)
    time.now += CACHED_MS
    expect(await to(asked)).toEqual(await placed(world({ accounts: { p: accounts } }), 'x'))
  })

  test('of an account that stays where it belongs is not remembered at all', async () => {
    const all = world({ accounts: { p: accounts } })
    const { to, request, fail, relay } = all
    const [own = '', next = '', third = ''] = await placed(all, 'x')
    const asked = request({}, { headers: { 'x-session-id': 'x' } })
    fail(third)
    await to(asked)
    relay.health.succeeded(third)
    fail(own)
    expect((await to(asked))[0]).toBe(next)
  })

  test('that opens is drawn, and counts as its account’s turn', async () => {
    const all = world({ accounts: { p: ['a', 'b'] } })
    const { to, request } = all
    const firsts: (string | undefined)[] = []
    for (let times = 0; times < 10; times++) {
      firsts.push((await to(request({ messages: [{ role: 'user', content: `${times}` }] })))[0])
      if (firsts.length % 2 === 0) continue
      // What may go anywhere makes up for it.
      const [anywhere] = await to(request(), false)
      expect(anywhere).not.toBe(firsts.at(-1))
      firsts.push(anywhere)
    }
  })
})

describe('an answer', () => {
  const accounts = ['a', 'b', 'c']
  const goesOn = { previous_response_id: 'resp_1' }
  const target = (account: string, of = accounts): Target =>
    ({ provider: { id: 'p', accounts: of.map((name) => ({ name })) }, account: { name: account } }) as Target

  test('is continued at the account that made it', async () => {
    for (const made of accounts) {
      for (const wire of ['responses', 'chat-completions'] as const) {
        const { to, request, relay } = world({
          accounts: { p: accounts },
          wires: { p: ['responses', 'chat-completions'] },
        })
        rememberAccount(relay, 'key_1', 'resp_1', target(made))
        // Another key's answer of the same id says nothing.
        for (const other of accounts) rememberAccount(relay, 'key_2', 'resp_1', target(other))
        expect((await to(request(goesOn, { wire })))[0]).toBe(nameOf(made))
      }
    }
  })

  test('that another process has seen made is looked up, and only then', async () => {
    const looked: string[] = []
    const placeOf: Recall['placeOf'] = async (keyId, id) => {
      looked.push(`${keyId} ${id}`)
      return { place: 'p/c', tokens: 1 }
    }
    const { to, request, relay } = world({ accounts: { p: accounts }, recall: { placeOf } })
    expect((await to(request(goesOn)))[0]).toBe(nameOf('c'))
    rememberAccount(relay, 'key_1', 'resp_1', target('b'))
    expect((await to(request(goesOn)))[0]).toBe(nameOf('b'))
    await to(request())
    const alone = world({ recall: { placeOf } })
    expect(await alone.to(alone.request(goesOn))).toEqual([nameOf('only')])
    // A model that stands in may be the one that made it.
    const stoodIn = world({ fallbacks: ['second'], recall: { placeOf } })
    await stoodIn.to(stoodIn.request(goesOn))
    expect(looked).toEqual(['key_1 resp_1', 'key_1 resp_1'])
  })

  test.each<[string, string[], boolean, number | undefined, boolean]>([
    ['of one of several accounts', accounts, false, undefined, true],
    ['of the only account', ['a'], false, 7, false],
    ['of the only account, which others ask too', ['a'], true, 7, true],
    ['of the only account, of which no tokens are known', ['a'], true, undefined, false],
  ])('%s is written down where that helps anybody', (_, of, isShared, tokens, isWritten) => {
    const placed: unknown[] = []
    const place: Recall['place'] = (one) => void placed.push(one)
    const { relay } = world({ recall: { isShared, place } })
    const key = { id: 'key_1' }
    placeAnswer(relay, { key, answerId: 'resp_1' }, target('a', of), tokens)
    expect(placed).toEqual(isWritten ? [{ keyId: 'key_1', id: 'resp_1', account: 'p/a', tokens }] : [])
    placed.length = 0
    placeAnswer(relay, { key }, target('a', of), tokens)
    placeAnswer(relay, { key, answerId: 'resp_1' }, undefined, tokens)
    expect(placed).toEqual([])
  })

  test.each<[boolean, Wire, object]>([
    [true, 'responses', {}],
    [true, 'responses', { store: true }],
    [false, 'responses', { store: false }],
    [false, 'chat-completions', { store: true }],
    [true, 'chat-completions', { thread: { previous_message_id: 'm' } }],
  ])('may be referred to: %p, on %s of %j', (may, wire, body) => {
    expect(isReferable(world({}).request(body, { wire }))).toBe(may)
  })
})

test('the most of a picture, and the least of a cap, are those of any model that may answer', () => {
  const { relay, request } = world({ fallbacks: ['second', 'third'], wires: { p: ['messages'], q: ['responses'] } })
  expect([request(), request({}, { models: ['asked', 'third'] })].map((one) => mostPerImage(relay, one))).toEqual([
    30, 20,
  ])
  const least = (wire: Wire, models = ['*']) => leastOutput(relay, request({}, { wire, models }))
  expect(CODECS.responses.leastOutput).toBe(16)
  expect([least('chat-completions'), least('responses'), least('messages', ['asked', 'third'])]).toEqual([16, 0, 0])
})
