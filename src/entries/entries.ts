// What stands beside the configuration: its entries in the store, read by the configuration's own rules. One that does not
// fit rests, with the reason, and everything else is served.

import { isIP } from 'node:net'
import type { Overlay } from '../config/overlay.ts'
import { memberPath } from '../config/problem.ts'
import { NO_CREDENTIAL } from '../config/providers.ts'
import type { FileModel } from '../config/schema/models.ts'
import type { FileAccount, FileProvider } from '../config/schema/providers.ts'
import { ENTRY_SCHEMAS } from '../config/schema.ts'
import { checkShape, soundPart } from '../config/shape.ts'
import { startWarnings } from '../config/start.ts'
import type { Config, Problem } from '../config.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { Actor } from '../keys/key.ts'
import { createInOrder } from '../lib/in-order.ts'
import { presetNamed } from '../provider/presets/index.ts'
import type { EntryChange, EntryStore, KeptEntry, Section } from '../store/entries.ts'
import type { Bound, Credentials } from './credentials.ts'

/** An account's value: `provider` and `name` beside what the file says of one. */
export type AccountValue = Omit<FileAccount, 'credential'> & { provider: string; name: string; base_url: string }

/** `problem`: why it is not in force. */
export type ShownEntry = KeptEntry & { problem: string | undefined }

/** `value` undefined removes it. `credential`: a new one, in clear; absent keeps what there is. */
export type Change = { section: Section; name: string; value: unknown; credential?: string | undefined }

export type Entries = {
  /** The configuration in force, its warnings with those of a start. */
  config(): Config
  list(): ShownEntry[]
  /** The configuration was read again: what is in force then. */
  rebase(base: Config): Promise<Config>
  /** Looks for what other processes have changed. */
  refresh(): Promise<void>
  /** The configuration as it would become. Throws `invalid_request` that names the member. */
  tried(changes: readonly Change[]): Config
  /** In force once they are written, all or none. Throws as `tried` does, and `not_found` for the removal of what is not there. */
  change(changes: readonly Change[], actor: Actor): Promise<void>
}

type EntriesOptions = {
  base: Config
  store: EntryStore
  credentials: Credentials
  /** Another configuration is in force from now on. */
  changed: (config: Config) => void
}

/** An entry as the configuration's reader takes it, the credential opened. */
type Candidate = { section: Section; name: string; value: unknown; secret: string }

type Fitted = { sound: Candidate[]; resting: Map<string, string>; config: Config }

export const accountName = (provider: string, name: string): string => `${provider}/${name}`

export const createEntries = async ({ base: given, store, credentials, changed }: EntriesOptions): Promise<Entries> => {
  const inOrder = createInOrder()
  let base = given
  let revision = ''
  let kept: KeptEntry[] = []
  let fitted: Fitted = { sound: [], resting: new Map(), config: base }

  const load = async (): Promise<void> => {
    // Before the entries: what comes between the two is looked for again.
    const read = await store.revision()
    kept = await store.list()
    revision = read
    fitted = fit(base, kept, credentials)
  }
  await load()

  const triedOf = (changes: readonly Change[]): Config => {
    const isChanged = (entry: EntryId): boolean => changes.some((change) => idOf(change) === idOf(entry))
    const others = fitted.sound.filter((entry) => !isChanged(entry))
    const changed = changes.flatMap((change): Candidate[] => {
      const { section, name, value, credential } = change
      if (value === undefined) return []
      const before = kept.find((entry) => idOf(entry) === idOf(change))
      return [{ section, name, value, secret: credential ?? secretThatStays(before, change, credentials) }]
    })
    const all = [...others, ...changed]
    const { served, problems, warnings } = base.extend(overlayOf(all))
    if (problems.length > 0) throw refusal(changes, problems, base.extend(overlayOf(others)).problems.length > 0)
    for (const { section, value } of changed) if (section === 'accounts') checkReach(base, all, value as AccountValue)
    return { ...base, ...served, warnings }
  }
  const tried: Entries['tried'] = (changes) => triedOf(changes.map(checked))

  return {
    config: () => fitted.config,
    list: () => kept.map((entry) => ({ ...entry, problem: fitted.resting.get(idOf(entry)) })),
    rebase: (next) =>
      inOrder(async () => {
        base = next
        await load()
        return fitted.config
      }),
    refresh: () =>
      inOrder(async () => {
        if ((await store.revision()) === revision) return
        await load()
        changed(fitted.config)
      }),
    tried,
    change: (changes, actor) =>
      inOrder(async () => {
        for (const change of changes)
          if (change.value === undefined && !kept.some((entry) => idOf(entry) === idOf(change)))
            throw new GatewayError('not_found', NONE_SUCH[change.section])
        const sound = changes.map(checked)
        triedOf(sound)
        await store.change(
          sound.map((change) => ({ ...change, next: () => nextOf(change, credentials) })),
          actor,
        )
        await load()
        changed(fitted.config)
      }),
  }
}

/** Sealed within the change, so that no key is let go of meanwhile. */
const nextOf = (change: Change, credentials: Credentials): EntryChange | undefined => {
  const { value, credential } = change
  if (value === undefined) return undefined
  return credential === undefined ? { value } : { value, credential: credentials.seal(credential, boundOf(change)) }
}

const NONE_SUCH: Record<Section, string> = {
  providers: 'There is no such provider that was set up at run time.',
  accounts: 'There is no such account that was added at run time.',
  models: 'There is no such model that was set at run time.',
  aliases: 'There is no such alias that was set at run time.',
  fallbacks: 'There are no such fallbacks that were set at run time.',
}

type EntryId = Pick<KeptEntry, 'section' | 'name'>

const idOf = ({ section, name }: EntryId): string => `${section} ${name}`

export const boundOf = ({ name, value }: Pick<KeptEntry, 'name' | 'value'>): Bound => ({
  account: name,
  baseUrl: (value as AccountValue).base_url,
})

/** One that cannot be opened any more, or was for another address, must be set again. */
const secretThatStays = (before: KeptEntry | undefined, change: Change, credentials: Credentials): string => {
  if (change.section !== 'accounts' || before?.credential === undefined) return NO_CREDENTIAL
  const opened = credentials.open(before.credential, boundOf(before))
  if ('problem' in opened) throw invalidRequest(`credential: ${opened.problem}.`, 'credential')
  if (boundOf(before).baseUrl === boundOf(change).baseUrl) return opened.value
  const words = 'credential: set it again with the address: it is sent to where it was meant for, and nowhere else.'
  throw invalidRequest(words, 'credential')
}

/** All at once; where something does not fit, in halves, so that few are read one by one. */
const fit = (base: Config, kept: readonly KeptEntry[], credentials: Credentials): Fitted => {
  if (kept.length === 0)
    return { sound: [], resting: new Map(), config: { ...base, warnings: [...base.warnings, ...startWarnings(base)] } }
  const resting = new Map<string, string>()
  const rest = (entry: EntryId, problem: string): [] => {
    resting.set(idOf(entry), problem)
    return []
  }
  const candidates = kept.flatMap((entry): Candidate[] => {
    const { section, name, value, credential } = entry
    const unreachable = section === 'accounts' ? outOfReach(base, kept, value as AccountValue) : undefined
    if (unreachable !== undefined) return rest(entry, unreachable)
    const opened = credential === undefined ? { value: NO_CREDENTIAL } : credentials.open(credential, boundOf(entry))
    return 'value' in opened ? [{ section, name, value, secret: opened.value }] : rest(entry, opened.problem)
  })
  const take = (sound: Candidate[], more: Candidate[]): Candidate[] => {
    const { problems } = base.extend(overlayOf([...sound, ...more]))
    const [only] = more
    if (problems.length === 0 || only === undefined) return [...sound, ...more]
    if (more.length === 1) {
      rest(only, problems.map(({ message }) => message).join('; '))
      return sound
    }
    const half = Math.ceil(more.length / 2)
    return take(take(sound, more.slice(0, half)), more.slice(half))
  }
  const sound = take([], candidates)
  const { served, warnings } = base.extend(overlayOf(sound))
  const told = [...resting].map(([id, problem]) => `set at run time, ${id}: ${problem}; it is not used`)
  const config = { ...base, ...served }
  return { sound, resting, config: { ...config, warnings: [...warnings, ...told, ...startWarnings(config)] } }
}

const overlayOf = (candidates: readonly Candidate[]): Overlay => {
  const of = <T>(section: Section): Record<string, T> =>
    Object.fromEntries(
      candidates.filter((each) => each.section === section).map(({ name, value }) => [name, value as T]),
    )
  return {
    providers: of<FileProvider>('providers'),
    accounts: candidates
      .filter(({ section }) => section === 'accounts')
      .map(({ value, secret }) => {
        const { provider, ...account } = value as AccountValue
        return { provider, account: { ...account, credential: secret } }
      }),
    models: of<FileModel>('models'),
    aliases: of<string>('aliases'),
    fallbacks: of<string[]>('fallbacks'),
  }
}

/**
 * Without its empty members. What the configuration's reader does not look at is refused: that trusts whoever can write the
 * file.
 */
const checked = (change: Change): Change => {
  const { section, name, value, credential } = change
  if (value === undefined) return change
  if (!NAMES[section].test(name))
    throw invalidRequest(`name: found ${JSON.stringify(name.slice(0, 60))}, allowed: ${NAME_WORDS[section]}.`, 'name')
  const {
    provider: _of,
    name: _called,
    ...account
  } = section === 'accounts' ? (value as AccountValue) : ({} as AccountValue)
  checkShape(ENTRY_SCHEMAS[section], section === 'accounts' ? account : value, (path, message) => {
    throw invalidRequest(path === '' ? `${message}.` : `${path}: ${message}.`, path || undefined)
  })
  if (section === 'accounts') checkAccount(account.base_url, credential)
  if (section === 'providers' && authOf(value as FileProvider) === 'google')
    throw invalidRequest('auth: google shows what this machine has for Google: set it up in the configuration.', 'auth')
  return section === 'accounts' ? change : { ...change, value: soundPart(ENTRY_SCHEMAS[section], value) }
}

const authOf = ({ auth, preset }: FileProvider): string | undefined =>
  auth ?? (preset === undefined ? undefined : presetNamed(preset)?.auth)

const PLAIN = /^[\w.@-]{1,100}$/
const UNBROKEN = /^[^\s*]{1,200}$/
const NAMES: Record<Section, RegExp> = {
  providers: PLAIN,
  accounts: /^\S+\/[\w.@-]{1,100}$/,
  models: UNBROKEN,
  aliases: UNBROKEN,
  fallbacks: UNBROKEN,
}
const NAME_WORDS: Record<Section, string> = {
  providers: 'letters, digits and . _ @ -',
  accounts: 'letters, digits and . _ @ -',
  models: 'a model id without blanks or *',
  aliases: 'a name without blanks or *',
  fallbacks: 'the id of a model',
}

const checkAccount = (baseUrl: string | undefined, credential: string | undefined): void => {
  if (credential !== undefined && /^(?:env|file):/.test(credential))
    throw invalidRequest(
      'credential: set the credential itself. References to variables and files are for the configuration.',
      'credential',
    )
  const url = baseUrl === undefined ? null : URL.parse(baseUrl)
  if (url === null || !isOfTheMachine(url.hostname)) return
  const words = 'base_url: found an address at which a machine is told of itself, and no vendor answers.'
  throw invalidRequest(words, 'base_url')
}

const checkReach = (base: Config, entries: readonly KeptValue[], account: AccountValue): void => {
  const problem = outOfReach(base, entries, account)
  if (problem !== undefined) throw invalidRequest(`base_url: ${problem}.`, 'base_url')
}

type KeptValue = EntryId & { value: unknown }

/** Where the configuration keeps accounts that were added at run time from being used, the reason. */
const outOfReach = (base: Config, entries: readonly KeptValue[], account: AccountValue): string | undefined => {
  if (base.runTimeAccounts === 'any') return undefined
  if (base.runTimeAccounts === 'none') return 'admin.accounts in the configuration allows none but its own'
  const kept = entries.find(({ section, name }) => section === 'providers' && name === account.provider)
  const provider = base.written.providers.includes(account.provider) ? undefined : (kept?.value as FileProvider)
  const preset = provider?.preset ?? base.providers.find(({ id }) => id === account.provider)?.preset
  if (preset !== undefined && presetNamed(preset)?.baseUrl === account.base_url) return undefined
  return "admin.accounts in the configuration allows the preset's own address only"
}

/** Link-local addresses, where clouds tell a machine its credentials, and the names that lead there. */
const isOfTheMachine = (hostname: string): boolean => {
  const host = hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
  if (/^metadata(?:\.google\.internal|\.goog)?$|^instance-data(?:\..*)?$/.test(host)) return true
  if (isIP(host) === 4) return host.startsWith('169.254.') || host === '100.100.100.200'
  if (isIP(host) === 6) return /^fe[89ab]/.test(host) || host === 'fd00:ec2::254' || /^::ffff:a9fe:/.test(host)
  return false
}

/** `before`: what is there would not fit without what is changed. */
const refusal = (changes: readonly Change[], problems: readonly Problem[], before: boolean): GatewayError => {
  const [{ path, message }] = problems as [Problem]
  if (before) return invalidRequest(`Another entry leans on it: ${path}: ${message}.`)
  const prefixes = changes.map(({ section, name }) => memberPath(section, name))
  const own = prefixes.find((prefix) => path.startsWith(prefix)) ?? ''
  const member = path
    .slice(own.length)
    .replace(/^providers[^\]]*?\.accounts\[\d+\]/, '')
    .replace(/^\./, '')
  return invalidRequest(`${member === '' ? path : member}: ${message}.`, member === '' ? undefined : member)
}
