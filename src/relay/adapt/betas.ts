// The betas that a client of the messages wire asks for, less those that the provider has refused. Agents ask for all that
// their own vendor has, and cannot know what another server of its models lacks.

import type { Target } from '../target.ts'

const BETA_HEADERS = ['anthropic-beta', 'vendorA-beta']

/** In the place of a beta's name: the provider knows none. */
const ANY_BETA = '*'

/** `name`: of the provider's header. `asked`: of the client's. */
type Betas = { name: string; asked: string; sent: string[]; leftOut: string[] }

/** Undefined where the client asks for none, or the provider has no such header. */
export const betasFor = ({ provider, wire, learned }: Target, client: Headers): Betas | undefined => {
  const version = provider.versionHeader
  if (version === undefined || wire !== 'messages') return undefined
  const name = version.name.replace(/version$/i, 'beta')
  const asked = [name, ...BETA_HEADERS].find((header) => client.get(header))
  if (asked === undefined) return undefined
  const unknown = learned?.unknownBetas ?? []
  const value = client.get(asked) ?? ''
  if (unknown.length === 0) return { name, asked, sent: [value], leftOut: [] }
  const all = listed(value)
  const isUnknown = (beta: string): boolean => unknown.includes(beta) || unknown.includes(ANY_BETA)
  return { name, asked, sent: all.filter((beta) => !isUnknown(beta)), leftOut: all.filter(isUnknown) }
}

/** Those that the target is not asked for, by the client's header. */
export const droppedBetas = (target: Target, client: Headers): string[] => {
  if (target.learned?.unknownBetas === undefined) return []
  const { asked, leftOut = [] } = betasFor(target, client) ?? {}
  return leftOut.map((beta) => `${asked}.${beta}`)
}

/**
 * The same target without the betas that it has refused: those `named`, or all where none is. Undefined where the client
 * asked for none of them.
 */
export const withoutBetas = (target: Target, client: Headers, named: readonly string[]): Target | undefined => {
  const { learned = {} } = target
  const sent = betasFor(target, client)?.sent.flatMap(listed) ?? []
  const refused = named.length === 0 && sent.length > 0 ? [ANY_BETA] : sent.filter((beta) => named.includes(beta))
  if (refused.length === 0) return undefined
  return { ...target, learned: { ...learned, unknownBetas: [...(learned.unknownBetas ?? []), ...refused] } }
}

const listed = (value: string): string[] => value.split(',').map((beta) => beta.trim())
