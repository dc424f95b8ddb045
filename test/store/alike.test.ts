// Both stores are one to whoever uses them: whatever is done to both, in whatever order, what they hold and what they tell in
// the audit are the same, and so are their refusals.

import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { BudgetTerms } from '../../src/keys/budget.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { postgresMissing } from '../support/postgres.ts'
import { type AnyStore, closeAll, STORES } from './stores.ts'
import { ACTOR, DAY, HOUR, NOW, newKey } from './support.ts'

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

const step: fc.Arbitrary<Step> = fc.oneof(
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

/** With the names of ids in place of them, and without what is drawn by lot. */
const told = (value: unknown, { ids }: World): unknown => {
  let text =
    JSON.stringify(value, (member, each) => (member === 'lastFour' || member === 'row' ? undefined : each)) ?? 'nothing'
  for (const [known, id] of ids) text = text.replaceAll(id, known)
  // Those made under a name that was given again are known by none.
  return JSON.parse(text === 'nothing' ? 'null' : text.replace(/\b(key|mem|team)_[0-9A-Za-z]{16}\b/g, 'an earlier one'))
}

const outcomeOf = async (run: () => unknown): Promise<unknown> => {
  try {
    return await run()
  } catch (error) {
    const { code, message, param } = error as { code?: unknown; message?: unknown; param?: unknown }
    return { code, message, param }
  }
}

const stateOf = async ({ store }: World): Promise<unknown> => ({
  keys: store.keys.list(),
  budgets: store.budgets.list().toSorted((a, b) => a.since - b.since || a.amount - b.amount),
  of: store.keys.list().map((key) => store.budgets.of(key).map(({ amount }) => amount)),
  members: await store.members.list(),
  teams: await store.teams.list(),
  settings: await store.settings.read(),
  audit: await store.audit({ limit: 100 }),
})

describe.skipIf(postgresMissing !== undefined)('both stores', () => {
  test('come to the same, step by step', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 20, size: 'max' }), async (steps) => {
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
      { numRuns: 8 },
    )
  }, 60_000)
})
