// The attempt loop: where it stops, whose failure is told, and what each failure says of the account.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import { createDetours } from '../../src/relay/adapt/detours.ts'
import type { ClientRequest } from '../../src/relay/exchange.ts'
import { createHealth } from '../../src/relay/health.ts'
import type { Relay } from '../../src/relay/services.ts'
import type { Target } from '../../src/relay/target.ts'
import { firstAnswer } from '../../src/relay/tries.ts'
import { broken } from '../../src/relay/upstream.ts'

const CREDENTIAL = 'sk-provider-secret'

const target = (account: string, model = 'asked', totalMs = 60_000): Target =>
  ({
    ...{ provider: { id: 'p', timeouts: { totalMs }, wires: ['messages'] }, model: { id: model }, wire: 'messages' },
    ...{ account: { name: account, credential: CREDENTIAL }, name: `p/${account}/${model}` },
  }) as Target

type Play = Error | 'answers' | 'leaves'

const busy = new GatewayError('service_unavailable', 'busy', { retryAfterMs: 30_000 })
const never = new GatewayError('service_unavailable', 'too large', { retry: false, failover: true })
const sealed = new GatewayError('upstream_error', 'sealed', { retry: false, failover: true, remedy: 'no-reasoning' })
const wrong = new GatewayError('invalid_request', 'wrong')
const refusal = (status: number, code?: string): GatewayError =>
  new GatewayError('upstream_error', 'refused', { provider: { status, ...(code === undefined ? {} : { code }) } })

/** Targets that play their parts; gives what came of it and which of them were tried. */
const tried = async (parts: [Target, Play][], { begunAgoMs = 0, times = 1, maxTries = parts.length } = {}) => {
  let now = 5_000
  const clock = () => now
  const health = createHealth(clock)
  const relay = { health, clock, stopwatch: clock, maxTries, detours: createDetours() } as unknown as Relay
  const names: string[] = []
  const run = async () => {
    const client: ClientRequest['client'] = { gone: false, call: undefined, callOutlivesClient: false }
    const request = {
      ...{ model: { id: 'asked' }, client, attempts: [], background: false, wire: 'messages', bodyWire: 'messages' },
      ...{ begunAt: performance.now() - begunAgoMs, body: { outline: {} } },
    } as unknown as ClientRequest
    const outcome = await firstAnswer(
      relay,
      request,
      parts.map(([each]) => each),
      async (each) => {
        names.push(each.account.name)
        now += 7
        const play = parts.find(([one]) => one.name === each.name)?.[1]
        if (play === 'answers') return each.name
        if (play === 'leaves') client.gone = true
        throw play instanceof Error ? play : broken()
      },
    ).catch((error: unknown) => error)
    return { outcome, attempts: request.attempts }
  }
  let last = await run()
  for (let time = 1; time < times; time++) last = await run()
  return { ...last, names, states: health.states() }
}

describe('tries', () => {
  test('go on while there are targets and time left', async () => {
    const [one, two] = [target('one'), target('two')]
    const parts: [Target, Play][] = [
      [one, broken()],
      [two, 'answers'],
    ]
    const first = await tried(parts)
    expect([first.outcome, first.names]).toEqual([two.name, ['one', 'two']])
    expect(first.states.map(({ inFlight }) => inFlight)).toEqual([0, 0])
    expect(first.attempts.map(({ account, ms, errorCode }) => [account, ms, errorCode])).toEqual([
      ['one', 7, 'upstream_error'],
      ['two', 7, undefined],
    ])
    const late = await tried(parts, { begunAgoMs: 60_000 })
    expect([late.outcome, late.names]).toMatchObject([{ code: 'gateway_timeout' }, []])
  })

  test.each<[string, string, string, number]>([
    ['leave one for a model that stands in', 'one- two- three- other/four+', 'one two four', 3],
    ['leave one for each model that stands in', 'one- two- three- other/four- third/five+', 'one four five', 3],
    ['stop where they are used up', 'one- two- three- other/four- other/five+', 'one two four', 3],
    ['are one where one is allowed', 'one- other/two+', 'one', 1],
    ['keep the order they were given in', 'other/two- one- three+', 'two one three', 3],
    [
      'do not count accounts whose credential has ended',
      'one! two! three! four- five- six+',
      'one two three four five',
      2,
    ],
    ['do not count those before a model that stands in', 'one! two! three- other/four+', 'one two three four', 2],
  ])('%s', async (_, written, names, maxTries) => {
    const parts = written.split(' ').map((word): [Target, Play] => {
      const [account = '', model = 'asked'] = word.slice(0, -1).split('/').toReversed()
      return [target(account, model), word.endsWith('+') ? 'answers' : word.endsWith('!') ? refusal(401) : refusal(500)]
    })
    expect((await tried(parts, { maxTries })).names.join(' ')).toBe(names)
  })

  test('end when the client disconnects, which does not count against the account', async () => {
    const { names, states } = await tried(
      [
        [target('one'), 'leaves'],
        [target('two'), 'answers'],
      ],
      { times: 10 },
    )
    expect(names).toEqual(Array(10).fill('one'))
    expect(states).toEqual([{ target: 'p/one/asked', state: 'closed', inFlight: 0 }])
  })
})

describe('of several failures the client gets the one', () => {
  test.each<[string, [Target, Play][], GatewayError, string[]]>([
    [
      'that came first',
      [
        [target('one'), refusal(500)],
        [target('two'), broken()],
      ],
      refusal(500),
      ['one', 'two'],
    ],
    [
      'that says when to retry',
      [
        [target('one'), refusal(500)],
        [target('two'), busy],
      ],
      busy,
      ['one', 'two'],
    ],
    [
      'of a fallback model, where that says when to retry',
      [
        [target('one'), refusal(500)],
        [target('two', 'other'), busy],
      ],
      busy,
      ['one', 'two'],
    ],
    [
      'that a retry may solve',
      [
        [target('one'), never],
        [target('two'), refusal(500)],
      ],
      refusal(500),
      ['one', 'two'],
    ],
    [
      'that a retry may solve, where another account cannot read the reasoning',
      [
        [target('one'), sealed],
        [target('two'), refusal(500)],
      ],
      refusal(500),
      ['one', 'two', 'one'],
    ],
    [
      'of the model asked for, where a fallback model refuses the request',
      [
        [target('one'), refusal(500)],
        [target('two', 'other'), wrong],
      ],
      refusal(500),
      ['one', 'two'],
    ],
    [
      'that is the fault of the request, without further attempts',
      [
        [target('one'), wrong],
        [target('two'), busy],
      ],
      wrong,
      ['one'],
    ],
    ['of a fallback model, where no other was tried', [[target('two', 'other'), wrong]], wrong, ['two']],
  ])('%s', async (_, parts, told, names) => {
    const { outcome, names: asked } = await tried(parts)
    expect([outcome, asked]).toMatchObject([{ code: told.code, message: told.message }, names])
  })
})

describe('an account', () => {
  test.each<[string, 'open' | 'closed', Play]>([
    ['breaks off', 'open', broken()],
    ['fails', 'open', refusal(500)],
    ['asks for time', 'open', busy],
    ...[400, 401, 402, 403, 407, 408, 429].map((status): [string, 'open', Play] => [
      `refuses with ${status}`,
      'open',
      refusal(status),
    ]),
    ['has no such model', 'open', refusal(404, 'model_not_found')],
    ['has not deployed the model', 'open', refusal(404, 'DeploymentNotFound')],
    ...[404, 409, 424].map((status): [string, 'closed', Play] => [`refuses with ${status}`, 'closed', refusal(status)]),
    ...['tool_use_failed', 'json_validate_failed'].map((code): [string, 'closed', Play] => [
      `serves a model that slips: ${code}`,
      'closed',
      refusal(400, code),
    ]),
    ['answers', 'closed', 'answers'],
    ['is asked by a gateway at fault', 'closed', new Error('unexpected')],
    ['refuses the request', 'closed', wrong],
    ['will never take it', 'closed', never],
  ])('that repeatedly %s is %s', async (_, state, play) => {
    expect((await tried([[target('one'), play]], { times: 6 })).states).toMatchObject([{ state, inFlight: 0 }])
  })

  test('with a Retry-After on another failure than unavailability is tried again at once', async () => {
    const failing = new GatewayError('upstream_error', 'no', { retryAfterMs: 30_000, provider: { status: 500 } })
    expect((await tried([[target('one'), failing]])).states).toMatchObject([{ state: 'closed' }])
    expect((await tried([[target('one'), busy]])).states).toMatchObject([{ state: 'open' }])
  })

  test.each([
    ['invalid_key', 'req_1', 'invalid_key', 'req_1'],
    [`no_${CREDENTIAL}`, `req_${CREDENTIAL}`, undefined, undefined],
  ])(
    'is recorded with the provider’s code and request id, unless they contain the credential: %s',
    async (code, requestId, notedCode, notedId) => {
      const error = new GatewayError('upstream_error', 'no', { provider: { status: 401, code, requestId } })
      const { attempts } = await tried([[target('one'), error]])
      expect(attempts[0]).toMatchObject({ providerStatus: 401 })
      expect([attempts[0]?.providerCode, attempts[0]?.providerRequestId]).toEqual([notedCode, notedId])
    },
  )
})
