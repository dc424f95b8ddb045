// Both stores are one to whoever uses them: whatever is done to both, in whatever order, what they hold and what they tell in
// the audit are the same, and so are their refusals.

import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Alert } from '../../src/alerts/alert.ts'
import { GatewayError } from '../../src/errors.ts'
import type { BudgetTerms } from '../../src/keys/budget.ts'
import { DEFAULT_LIMITS, sessionId } from '../../src/members/member.ts'
import { postgresMissing } from '../support/postgres.ts'
import { type AnyStore, closeAll, STORES } from './stores.ts'
import { ACTOR, DAY, HOUR, NOW, newKey, refusalOf } from './support.ts'

afterEach(closeAll)

/** What names of things in one store are to both: ids are made up anew in each. */
type World = { store: AnyStore; ids: Map<string, string> }

type Step = { name: string; run: (world: World) => unknown }

const name = fc.constantFrom('a', 'a', 'b', 'c')
const renews = fc.constantFrom('day' as const, 'month' as const, null)
const terms: fc.Arbitrary<BudgetTerms> = fc.record({
  unit: fc.constantFrom('usd' as const, 'tokens' as const),
  amount: fc.integer({ min: -1, max: 1_000 }),
  renews: fc.constantFrom('day' as const, undefined),
  warnAt: fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { maxLength: 3 }),
})
const budget = fc.option(terms)
const patch = fc.record(
  {
    label: fc.constantFrom('one', 'two', ' '),
    tokensTotal: fc.integer({ min: -1, max: 5_000 }),
    addTokens: fc.integer({ min: 0, max: 500 }),
    lasting: fc.boolean(),
    tokensUsed: fc.constant(0 as const),
    renews,
    rpm: fc.constantFrom(0, 5, null),
    ips: fc.constantFrom(['10.0.0.0/8'], null),
    capture: fc.constantFrom('content' as const, null),
    budget,
  },
  { requiredKeys: [] },
)

const idOf = ({ ids }: World, kind: string, of: string): string => ids.get(`${kind} ${of}`) ?? `${kind}_none`

/** Makes what a step makes known by its name. */
const named = async <T extends { id: string }>(world: World, kind: string, of: string, made: T): Promise<T> => {
  world.ids.set(`${kind} ${of}`, made.id)
  return made
}

const memberPatch = fc.record(
  {
    name: fc.constantFrom('A', 'b', 'Other'),
    role: fc.constantFrom('admin' as const, 'member' as const),
    budget,
    team: fc.option(name),
  },
  { requiredKeys: [] },
)

const owned: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ of: name, renews, budget }).map(
    ({ of, ...more }): Step => ({
      name: 'issue',
      run: async (world) =>
        named(world, 'key', of, (await world.store.keys.issue(newKey({ ...more, tokensTotal: 1_000 }), ACTOR)).key),
    }),
  ),
  fc.tuple(name, patch).map(
    ([of, wish]): Step => ({
      name: 'update',
      run: (world) => world.store.keys.update(idOf(world, 'key', of), wish, ACTOR),
    }),
  ),
  fc.tuple(name, fc.constantFrom('renew' as const, 'revoke' as const)).map(
    ([of, what]): Step => ({
      name: what,
      run: (world) =>
        what === 'renew'
          ? world.store.keys.renew(idOf(world, 'key', of))
          : world.store.keys.revoke(idOf(world, 'key', of), ACTOR),
    }),
  ),
  fc.tuple(name, fc.constantFrom(0, HOUR)).map(
    ([of, grace]): Step => ({
      name: 'rotate',
      run: async (world) => (await world.store.keys.rotate(idOf(world, 'key', of), grace, ACTOR)).key,
    }),
  ),
  fc.tuple(fc.constantFrom('gateway', 'key:none'), budget).map(
    ([of, wish]): Step => ({
      name: 'budget',
      run: ({ store }) => store.budgets.set(of, wish, ACTOR),
    }),
  ),
  fc.constant<Step>({ name: 'renew budget', run: ({ store }) => store.budgets.renew('gateway') }),
  fc.tuple(name, fc.constantFrom('admin' as const, 'member' as const), fc.option(name), budget).map(
    ([of, role, team, wish]): Step => ({
      name: 'add member',
      run: async (world) => {
        const teamId = team === null ? null : idOf(world, 'team', team)
        const input = { name: of, role, limits: DEFAULT_LIMITS, passwordHash: 'x', teamId, budget: wish }
        return named(world, 'member', of, await world.store.members.add(input, ACTOR))
      },
    }),
  ),
  fc.tuple(name, memberPatch).map(
    ([of, { team, ...wish }]): Step => ({
      name: 'update member',
      run: (world) => {
        const teamId = team === undefined ? {} : { teamId: team === null ? null : idOf(world, 'team', team) }
        return world.store.members.update(idOf(world, 'member', of), { ...wish, ...teamId }, ACTOR)
      },
    }),
  ),
  fc.tuple(name, fc.constantFrom('keep' as const, 'revoke' as const)).map(
    ([of, keys]): Step => ({
      name: 'remove member',
      run: (world) => world.store.members.remove(idOf(world, 'member', of), keys, ACTOR),
    }),
  ),
  fc.tuple(name, budget).map(
    ([of, wish]): Step => ({
      name: 'add team',
      run: async (world) => named(world, 'team', of, await world.store.teams.add({ name: of, budget: wish }, ACTOR)),
    }),
  ),
  name.map(
    (of): Step => ({
      name: 'remove team',
      run: (world) => world.store.teams.remove(idOf(world, 'team', of), ACTOR),
    }),
  ),
  fc.tuple(name, fc.constantFrom(1, 'x', null)).map(
    ([of, value]): Step => ({
      name: 'setting',
      run: ({ store }) => store.settings.write({ [of]: value }, ACTOR),
    }),
  ),
)

/** So that there is something to change. */
const PRELUDE: Step[] = [
  ...(['a', 'b'] as const).map(
    (of): Step => ({
      name: 'issue',
      run: async (world) =>
        named(
          world,
          'key',
          of,
          (await world.store.keys.issue(newKey({ tokensTotal: 1_000, renews: 'month' }), ACTOR)).key,
        ),
    }),
  ),
  ...(['a', 'b'] as const).map(
    (of): Step => ({
      name: 'add member',
      run: async (world) => {
        const input = { name: of, role: 'admin' as const, limits: DEFAULT_LIMITS, passwordHash: 'x' }
        return named(world, 'member', of, await world.store.members.add(input, ACTOR))
      },
    }),
  ),
  {
    name: 'add team',
    run: async (world) => named(world, 'team', 'a', await world.store.teams.add({ name: 'a' }, ACTOR)),
  },
]

const hash = fc.constantFrom('h1', 'h1', 'h2')
const soon = fc.integer({ min: -2, max: 40 }).map((days) => NOW + days * DAY)
const row = fc.constantFrom('r1', 'r1', 'r2')
const step = <T>(name: string, args: fc.Arbitrary<T>, run: (world: World, args: T) => unknown): fc.Arbitrary<Step> =>
  args.map((given) => ({ name, run: (world) => run(world, given) }))

/** What is kept beside keys and people: all that each function may be told. */
const kept: fc.Arbitrary<Step>[] = [
  step(
    'open session',
    fc.record({
      of: name,
      hash,
      expiresAt: soon,
      told: fc.boolean(),
      by: fc.constantFrom(undefined, 'x', 'y'),
      now: soon,
    }),
    async (world, { of, told, by, ...more }) => {
      const session = { ...more, memberId: idOf(world, 'member', of), address: undefined, agent: 'a browser' }
      return world.store.sessions.open(session, told, by)
    },
  ),
  step(
    'refuse',
    fc.record({
      of: fc.option(name),
      peer: fc.constantFrom(undefined, '10.0.0.1'),
      unrecorded: fc.nat(2),
      by: fc.constantFrom('password' as const, 'code' as const),
    }),
    (world, { of, ...refusal }) =>
      world.store.sessions.refuse(of === null ? undefined : idOf(world, 'member', of), refusal),
  ),
  step('find session', hash, ({ store }, one) => store.sessions.find(one)),
  step('seen', fc.tuple(hash, soon), ({ store }, [one, now]) => store.sessions.seen(one, now)),
  step('prove', fc.tuple(hash, name, fc.constantFrom('x', 'y'), fc.boolean()), (world, [one, of, passwordHash, told]) =>
    world.store.sessions.prove(one, { memberId: idOf(world, 'member', of), passwordHash, told }),
  ),
  step('end session', fc.tuple(hash, name, fc.constantFrom(undefined, ACTOR)), (world, [one, of, by]) =>
    world.store.sessions.end(idOf(world, 'member', of), sessionId(one), by),
  ),
  step('close all', name, (world, of) => world.store.sessions.closeAll(idOf(world, 'member', of))),
  step('sweep', fc.tuple(soon, soon), ({ store }, [now, idle]) => store.sessions.sweep(now, idle)),
  step(
    'change password',
    fc.tuple(name, hash, hash, fc.constantFrom('x', 'y')),
    (world, [of, session, next, before]) => {
      const memberId = idOf(world, 'member', of)
      const renewed = { hash: next, memberId, now: NOW, expiresAt: NOW + DAY, address: undefined, agent: undefined }
      return world.store.members.changePassword(memberId, { before, after: 'x', session, renewed })
    },
  ),
  step('invite', fc.tuple(name, hash, soon, fc.boolean()), (world, [of, one, expiresAt, endsFactor]) =>
    world.store.members.invite(idOf(world, 'member', of), { hash: one, expiresAt, endsFactor }, ACTOR),
  ),
  step('accept', fc.tuple(hash, soon), ({ store }, [one, now]) => store.members.accept(one, 'x', now)),
  step('invited', fc.tuple(hash, soon), ({ store }, [one, now]) => store.members.invited(one, now)),
  step('offer', fc.tuple(name, hash), (world, [of, one]) => world.store.factors.offer(idOf(world, 'member', of), one)),
  step('confirm', fc.tuple(name, fc.nat(5), hash), (world, [of, at, keep]) =>
    world.store.factors.confirm(idOf(world, 'member', of), { step: at, codes: ['c1', 'c2'], keep }),
  ),
  step('step', fc.tuple(name, fc.nat(9), fc.nat(9)), (world, [of, at, latest]) =>
    world.store.factors.takeStep(idOf(world, 'member', of), at, latest),
  ),
  step('code', fc.tuple(name, fc.constantFrom('c1', 'c3')), (world, [of, code]) =>
    world.store.factors.takeCode(idOf(world, 'member', of), code),
  ),
  step('renew codes', name, (world, of) => world.store.factors.renewCodes(idOf(world, 'member', of), ['c1', 'c3'])),
  step('remove factor', name, (world, of) => world.store.factors.remove(idOf(world, 'member', of), ACTOR)),
  step('token', fc.tuple(name, hash, fc.constantFrom(undefined, NOW + DAY)), async (world, [of, one, expiresAt]) => {
    const createdBy = idOf(world, 'member', of)
    return named(
      world,
      'token',
      of,
      await world.store.tokens.add({ label: of, hash: one, createdBy, expiresAt }, ACTOR),
    )
  }),
  step('token used', fc.tuple(name, soon), (world, [of, now]) =>
    world.store.tokens.used(idOf(world, 'token', of), now),
  ),
  step('revoke token', name, (world, of) => world.store.tokens.revoke(idOf(world, 'token', of), ACTOR)),
  step(
    'refused',
    fc.tuple(row, name, soon, fc.constantFrom(undefined, 'm'), fc.nat(3)),
    (world, [id, of, at, model, count]) => {
      const keyId = idOf(world, 'key', of)
      const hour = at - (at % HOUR)
      return world.store.refusals.write({
        refusals: [refusalOf({ id, keyId, at, model })],
        counts: [{ keyId, hour, code: model ?? 'none', count }],
      })
    },
  ),
  step(
    'entry',
    fc.tuple(fc.constantFrom('aliases' as const, 'models' as const), name, fc.option(fc.nat(3))),
    ({ store }, [section, of, value]) =>
      store.entries.change([{ section, name: of, next: () => (value === null ? undefined : { value }) }], ACTOR),
  ),
  step(
    'tell',
    fc.tuple(name, soon, fc.constantFrom(undefined, NOW), fc.array(name, { maxLength: 2 }), fc.boolean()),
    async ({ store }, [cause, at, _, forgotten, sends]) => {
      const was = (await store.alerts.told()).find((told) => told.cause === cause)?.at
      const alert: Alert = { id: `${cause} ${at}`, type: 'quota', at, items: [{ cause, text: 'x' }], more: 0 }
      return store.alerts.tell([{ cause, period: 'p', at, was }], forgotten, sends ? [{ alert, receiver: 'desk' }] : [])
    },
  ),
  step('sent', fc.constantFrom('send' as const, 'give-up' as const, 'drop' as const), async ({ store }, end) => {
    const [first] = await store.alerts.waiting()
    if (first !== undefined) await store.alerts.close(first, end, ACTOR)
  }),
  step('background', fc.tuple(row, row, name, soon), (world, [id, exchangeId, of, createdAt]) =>
    world.store.background.keep({
      id,
      exchangeId,
      keyId: idOf(world, 'key', of),
      provider: 'p',
      account: 'a',
      model: 'm',
      createdAt,
    }),
  ),
  step('find background', fc.tuple(row, name), (world, [id, of]) =>
    world.store.background.find(idOf(world, 'key', of), id),
  ),
  step('forget background', fc.tuple(row, name), async (world, [id, of]) => {
    const found = await world.store.background.find(idOf(world, 'key', of), id)
    if (found !== undefined) await world.store.background.forget(found)
  }),
  step('prune', fc.tuple(soon, fc.integer({ min: 1, max: 5 })), ({ store }, [before, batch]) =>
    store.prune(before, batch),
  ),
  step(
    'audit',
    fc.tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom(undefined, 4, 9), fc.option(name)),
    (world, [limit, before, of]) =>
      world.store.audit({ limit, before, target: of === null ? undefined : idOf(world, 'member', of) }),
  ),
  step(
    'exchanges',
    fc.tuple(fc.integer({ min: 1, max: 9 }), fc.option(row, { nil: undefined })),
    ({ store }, [limit, id]) => store.exchanges({ limit, id }),
  ),
  step('refused by code', fc.tuple(soon, soon, fc.option(name)), (world, [since, until, of]) =>
    world.store.insight.refused({ since, until, keyIds: of === null ? undefined : [idOf(world, 'key', of)] }),
  ),
]

/** With the names of ids in place of them, and without what is drawn by lot. */
const told = (value: unknown, { ids }: World): unknown => {
  let text =
    JSON.stringify(value, (member, each) => (member === 'lastFour' || member === 'row' ? undefined : each)) ?? 'nothing'
  for (const [known, id] of ids) text = text.replaceAll(id, known)
  // Those made under a name that was given again are known by none.
  return JSON.parse(
    text === 'nothing' ? 'null' : text.replace(/\b(key|mem|team|tok)_[0-9A-Za-z]{16}\b/g, 'an earlier one'),
  )
}

const outcomeOf = async (run: () => unknown): Promise<unknown> => {
  try {
    return await run()
  } catch (error) {
    // What a database refuses by itself it says in words of its own.
    if (!(error instanceof GatewayError)) return 'refused by the database'
    const { code, message, param } = error
    return { code, message, param }
  }
}

const stateOf = async ({ store, ids }: World): Promise<unknown> => ({
  keys: store.keys.list(),
  budgets: store.budgets.list().toSorted((a, b) => a.since - b.since || a.amount - b.amount),
  of: store.keys.list().map((key) => store.budgets.of(key).map(({ amount }) => amount)),
  members: await store.members.list(),
  teams: await store.teams.list(),
  settings: await store.settings.read(),
  audit: await store.audit({ limit: 100 }),
  sessions: await Promise.all(membersIn(ids).map(async (id) => sorted(await store.sessions.of(id)))),
  factors: await Promise.all(membersIn(ids).map((id) => store.factors.get(id))),
  enabled: (await store.factors.enabled()).size,
  tokens: await store.tokens.list(),
  entries: await store.entries.list(),
  told: sorted(await store.alerts.told()),
  waiting: sorted(await store.alerts.waiting()),
  background: await Promise.all(
    ['r1', 'r2', 'r3'].map((id) => store.background.of(id).then((found) => found !== undefined)),
  ),
  rows: await store.exchanges({ limit: 50 }),
})

const membersIn = (ids: World['ids']): string[] => ['a', 'b', 'c'].flatMap((of) => ids.get(`member ${of}`) ?? [])

/** What has no order of its own, or another where times are alike. */
const sorted = <T>(rows: readonly T[]): T[] => rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

describe.skipIf(postgresMissing !== undefined)('both stores', () => {
  test.each([
    ['keys, people and budgets', fc.array(owned, { minLength: 10, maxLength: 25, size: 'max' })],
    // Each at least three times, and so some of them on what is there.
    ['what is kept of them', fc.tuple(...kept, ...kept, ...kept)],
  ])(
    'come to the same, step by step: %s',
    async (_, drawn) => {
      await fc.assert(
        fc.asyncProperty(drawn as fc.Arbitrary<Step[]>, async (steps) => {
          let now = NOW
          const worlds: World[] = []
          for (const [, { newPlace }] of STORES)
            worlds.push({ store: await (await newPlace()).open(() => now), ids: new Map() })
          const [one, other] = worlds
          if (one === undefined || other === undefined) throw new Error('there must be two')
          for (const { name, run } of [...PRELUDE, ...steps]) {
            now += DAY
            const outcomes: unknown[] = []
            for (const world of worlds) outcomes.push({ name, outcome: told(await outcomeOf(() => run(world)), world) })
            expect(outcomes[1]).toEqual(outcomes[0])
          }
          expect(told(await stateOf(other), other)).toEqual(told(await stateOf(one), one))
          await closeAll()
        }),
        { numRuns: 6, endOnFailure: true },
      )
    },
    120_000,
  )
})
