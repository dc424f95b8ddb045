// What a start says of a configuration that is right as it stands, and yet would not reach a model.

import { BUILTIN_MODELS } from '../catalogue/builtin.ts'
import type { Config } from '../config.ts'
import { isThisMachine } from '../lib/this-machine.ts'
import type { Preset } from '../provider/preset.ts'
import { PRESETS } from '../provider/presets/index.ts'
import type { Account, Provider } from '../provider/provider.ts'
import { presetFor } from './presets.ts'

export const startWarnings = (config: Config): string[] => [
  ...config.providers.flatMap((provider) =>
    provider.accounts.flatMap((account) => accountWarnings(config, provider, account)),
  ),
  ...aliasWarnings(config),
  ...keptWarnings(config),
]

/** A client comes to any of several, and finds an answer only where it was made. */
const keptWarnings = ({ storedAnswers, store, workers }: Config): string[] =>
  storedAnswers.keepMs > 0 || (store === undefined && workers === 1)
    ? []
    : [
        `stored_answers.keep is 0: a ${store === undefined ? 'worker' : 'node'} alone knows the answers that it translated, and a client that goes on from one by its id at another is refused: keep them for as long as a conversation lasts, 1h for instance`,
      ]

const accountWarnings = (config: Config, provider: Provider, account: Account): string[] => {
  const { hostname, port, protocol } = new URL(account.baseUrl)
  const at = `${provider.id}, account ${account.name}`
  const { listen } = config
  const own = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
  if (isThisMachine(hostname) && own === listen.port)
    return [
      `${at}: its base URL is this gateway's own address, ${hostname}:${own}: set the vendor's, or listen elsewhere`,
    ]
  const preset = presetFor(provider)
  if (isThisMachine(hostname) || preset?.neutral) return []
  const owner = preset === undefined ? undefined : ownerOf(preset, account)
  if (owner !== undefined) return [`${at}: its credential has the form of ${owner.title}'s, not of ${preset?.title}'s`]
  const [first, ...more] = config.models.filter(
    (model) => model.provider === provider.id && NEUTRAL.has(model.upstream),
  )
  if (first === undefined) return []
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`
  return [
    `${at}: ${hostname} would be sent the neutral id ${first.upstream}${others}, which no vendor knows: ${advice(provider, hostname)}`,
  ]
}

/** Of whose form a credential is that goes to another vendor's own address. */
const ownerOf = (preset: Preset, { baseUrl, credential }: Account): Preset | undefined => {
  const isOf = ({ credentialShape: shape }: Preset): boolean =>
    shape !== undefined && new RegExp(shape).test(credential)
  const isAtHome = URL.canParse(preset.baseUrl) && new URL(preset.baseUrl).host === new URL(baseUrl).host
  return isAtHome && !isOf(preset) ? PRESETS.find(isOf) : undefined
}

const NEUTRAL = new Set(BUILTIN_MODELS.map(({ id }) => id))

/** The preset whose vendor answers at that host, else the ways there are. */
const advice = ({ id }: Provider, hostname: string): string => {
  const preset = PRESETS.find(
    ({ baseUrl }) => baseUrl.startsWith(`https://${hostname}/`) || baseUrl === `https://${hostname}`,
  )
  if (preset === undefined)
    return `give ${id} a preset, or its models an upstream ("sluice models fetch" prints what it has)`
  const [variable] = preset.env.credential
  return `give ${id} "preset: ${preset.name}", or set ${variable} in place of ${id.toUpperCase()}_API_KEY`
}

/** Where nothing but another vendor is set up, the contract's own default leads nowhere. */
const aliasWarnings = ({ aliases, models, providers }: Config): string[] => {
  const isServed = (id: string): boolean => (providers.find((provider) => provider.id === id)?.accounts.length ?? 0) > 0
  const auto = models.find(({ id }) => id === aliases.auto)
  const other = models.find(({ kind, provider, unlisted }) => kind === 'text' && !unlisted && isServed(provider))
  if (auto === undefined || other === undefined || isServed(auto.provider)) return []
  return [
    `auto is ${auto.id}, and ${auto.provider} is not configured: aliases: { auto: ${other.id} } names one that is`,
  ]
}
