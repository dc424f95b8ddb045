// The providers of a configuration: the built-in ones overridden, new ones added, accounts with their credentials.

import type { Quirks } from '../ir/quirks.ts'
import { PASS_WIRES } from '../ir/wire.ts'
import { nearest } from '../lib/nearest.ts'
import { isKeptFromProxy } from '../lib/no-proxy.ts'
import { isLoopback, portOf, unspokenProxy, unspokenScheme } from '../lib/proxy.ts'
import { BUILTIN_PROVIDERS, blankProvider } from '../provider/builtin.ts'
import type { Preset } from '../provider/preset.ts'
import type { Account, Provider } from '../provider/provider.ts'
import { credentialName, environmentProviders, isSet, presetBase, presetFor, presetUrl } from './presets.ts'
import { memberPath, mismatch } from './problem.ts'
import { asWritten, IN_CONFIGURATION, type Reader, withKept } from './reader.ts'
import type { FileProvider, FileQuirks } from './schema/providers.ts'
import { unsendable, wrongCredential } from './secret.ts'
import { checkSigning, signingAccount, signs } from './signing.ts'
import { warnOfUnread } from './unread.ts'

/** vendor_a and vendor_b first, then the file's own in its order. */
export const readProviders = (reader: Reader): Provider[] => {
  const files = withKept(reader, 'providers', configured(reader), ownAccountsOnly(reader.kept.providers))
  const known = BUILTIN_PROVIDERS.map((provider) => provider.id)
  const builtin = BUILTIN_PROVIDERS.map((provider) => {
    const file = files[provider.id] ?? {}
    const path = memberPath('providers', provider.id)
    return override(reader, provider, { id: provider.id, file, path, preset: presetFor(file) })
  })
  const own = Object.entries(files)
    .filter(([id]) => !known.includes(id))
    .map(([id, file]) => {
      const path = memberPath('providers', id)
      const preset = presetFor(file)
      if (file.wires === undefined && preset === undefined) {
        const near = nearest(id, known)
        const hint = near === undefined ? '' : `; or did you mean the provider "${near}"?`
        const wires = `the wires it speaks (messages, responses, chat-completions, ${PASS_WIRES.join(', ')}), or a preset beside it`
        reader.report(`${path}.wires`, mismatch(undefined, wires + hint))
      }
      return override(reader, blankProvider(id), { id, file, path, preset })
    })
  const providers = [...builtin, ...own]
  for (const { provider } of reader.kept.accounts)
    if (providers.every(({ id }) => id !== provider))
      reader.report(memberPath('providers', provider), `there is no provider ${provider} any more`)
  if (reader.file.providers === undefined) warnOfUnread(reader)
  // A preset without its credential has been told of by itself.
  const isTold = Object.values(files).some(({ preset, accounts }) => preset !== undefined && accounts === undefined)
  if (!isTold && providers.every((provider) => provider.accounts.length === 0)) {
    reader.warn(
      "no provider is configured: add an account in the dashboard, set ANTHROPIC_API_KEY, OPENAI_API_KEY or another vendor's variable (a file .env is not read), or VENDOR_A_BASE_URL and VENDOR_A_API_KEY, or write a sluice.yaml",
    )
  }
  return providers
}

/** A provider as it is configured. `path`: where, for the words of a report. */
type Entry = { id: string; file: FileProvider; path: string; preset: Preset | undefined }

/** `unset`: what it is where neither its entry nor a preset says otherwise. */
const override = (reader: Reader, unset: Provider, entry: Entry): Provider => {
  const { id, file, path, preset } = entry
  const base = preset === undefined ? unset : presetBase(id, preset)
  const accounts = allAccounts(reader, entry)
  const wires = file.wires ?? base.wires
  if (new Set(wires).size < wires.length) reader.report(`${path}.wires`, 'found a wire twice, allowed: each wire once')
  const versioned = wires.filter((wire) => wire !== 'messages').join(', ')
  for (const { name, baseUrl } of accounts) {
    const added = WIRE_PATHS.exec(new URL(baseUrl).pathname)?.[0]
    if (added !== undefined) {
      reader.warn(`${path}, account ${name}: the base URL ends in ${added}, which the gateway adds itself`)
    }
    if (versioned !== '' && new URL(baseUrl).pathname === '/') {
      reader.warn(`${path}, account ${name}: the base URL has no path, but ${versioned} expect one that ends in /v1`)
    }
  }
  for (const { name } of accounts.filter((account) => isInTheOpen(account, preset)))
    reader.warn(
      `${path}, account ${name}: its credential can be read on the way by http; write https:// in the base URL`,
    )
  const auth = signs(reader, entry) ? 'aws-sigv4' : (file.auth ?? base.auth)
  if (auth === 'aws-sigv4') checkSigning(reader, path, accounts)
  const version = file.version_header?.name
  if (version !== undefined && FILLED_HEADERS.has(version.toLowerCase())) {
    const found = `found ${JSON.stringify(version)}, which the gateway fills itself`
    reader.report(`${path}.version_header.name`, `${found}, allowed: another header`)
  }
  const proxy = readProxy(reader, file, path)
  checkReach(reader, proxy, path, accounts)
  const timeouts = file.timeouts ?? {}
  const versionHeader = file.version_header === null ? undefined : (file.version_header ?? base.versionHeader)
  return {
    id: base.id,
    ...(base.preset === undefined ? {} : { preset: base.preset }),
    wires,
    auth,
    versionHeader,
    headers: readHeaders(reader, file, `${path}.headers`, versionHeader?.name.toLowerCase()),
    brand: file.brand ?? base.brand,
    ...(proxy === undefined ? {} : { proxy }),
    accounts,
    timeouts: {
      connectMs: reader.duration(`${path}.timeouts.connect`, timeouts.connect, base.timeouts.connectMs),
      firstByteMs: reader.duration(`${path}.timeouts.first_byte`, timeouts.first_byte, base.timeouts.firstByteMs),
      idleMs: reader.duration(`${path}.timeouts.idle`, timeouts.idle, base.timeouts.idleMs),
      totalMs: reader.duration(`${path}.timeouts.total`, timeouts.total, base.timeouts.totalMs),
    },
    quirks: { ...base.quirks, ...readQuirks(file.quirks) },
  }
}

/** A proxy's address may hold a password: neither is shown. */
const readProxy = (reader: Reader, file: FileProvider, path: string): string | false | undefined => {
  if (file.proxy === undefined || !reader.resolves) return undefined
  if (file.proxy === 'none') return false
  const at = `${path}.proxy`
  const written = reader.reference(at, file.proxy)?.trim()
  if (written === undefined) return undefined
  const scheme = unspokenScheme(written)
  if (scheme !== undefined) reader.report(at, `found a proxy of the scheme ${scheme}, allowed: an http or https URL`)
  else if (!/^https?:\/\//i.test(written) || !URL.canParse(written))
    reader.report(at, 'found something that is not a URL, allowed: an http or https URL, or none')
  else return written
  return undefined
}

/** The runtime goes past a proxy whose scheme it does not speak: what was to be hidden or watched would leave directly. */
const checkReach = (reader: Reader, proxy: string | false | undefined, path: string, accounts: Account[]): void => {
  for (const { name, baseUrl } of accounts) {
    const url = new URL(baseUrl)
    const passedBy = proxy === undefined && !isLoopback(url) ? unspokenProxy(url, reader.env) : undefined
    if (passedBy !== undefined) {
      const how = `name the host of ${path}, account ${name}, in NO_PROXY, or set ${path}.proxy`
      reader
        .outside(passedBy.name)
        .report('', `found a proxy of the scheme ${passedBy.scheme}, allowed: http or https; or ${how}`)
    }
    if (typeof proxy === 'string' && (isLoopback(url) || isKeptFromProxy(url.hostname, portOf(url), reader.env)))
      reader.warn(`${path}, account ${name}: its proxy is not used, as its host is on this machine or in NO_PROXY`)
  }
}

const readHeaders = (
  reader: Reader,
  file: FileProvider,
  path: string,
  version: string | undefined,
): Record<string, string> => {
  const headers: Record<string, string> = {}
  const names = new Set<string>()
  for (const [written, value] of Object.entries(file.headers ?? {})) {
    const at = memberPath(path, written)
    const name = written.toLowerCase()
    if (!HEADER_NAME.test(name)) {
      reader.report(at, mismatch(written, 'the name of a header'))
    } else if (name === version || (FILLED_HEADERS.has(name) && name !== 'user-agent')) {
      reader.report(at, `found ${JSON.stringify(written)}, which the gateway fills itself, allowed: another header`)
    } else if (names.has(name)) {
      reader.report(at, `found ${JSON.stringify(written)} a second time, allowed: each header once`)
    } else if (reader.resolves) {
      const resolved = reader.reference(at, value)
      const fault = resolved === undefined ? undefined : unsendable(resolved)
      if (fault !== undefined) reader.report(at, fault)
      else if (resolved !== undefined) headers[name] = resolved
    }
    names.add(name)
  }
  return headers
}

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/

/** It leads to the vendor's own host without the TLS that is spoken there. */
const isInTheOpen = ({ baseUrl }: Account, preset: Preset | undefined): boolean => {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && `${preset?.baseUrl}/`.startsWith(`https://${hostname}/`)
}

const WIRE_PATHS = /\/(?:chat\/completions|responses|messages|embeddings|moderations|(?:images|audio)\/\w+)$/

// What a version stood in the place of: the account's credential, for one, and the client's own key would go out for it.
const FILLED_HEADERS = new Set([
  'authorization',
  'x-api-key',
  'api-key',
  'content-type',
  'content-length',
  'accept-encoding',
  'transfer-encoding',
  'connection',
  'host',
  'user-agent',
])

type Files = Record<string, FileProvider>

/** What the file says of providers, or the environment where it says nothing. */
const configured = (reader: Reader): Files => {
  const neutral = BUILTIN_PROVIDERS.filter(({ id }) => isSet(reader.env[`${id.toUpperCase()}_BASE_URL`]))
  const otherwise = Object.fromEntries(neutral.map(({ id }) => [id, {}]))
  return { ...otherwise, ...(reader.file.providers ?? environmentProviders(reader)) }
}

/** What the environment has is for the providers of the configuration. */
const ownAccountsOnly = (kept: Files): Files =>
  Object.fromEntries(Object.entries(kept).map(([id, file]) => [id, { ...file, accounts: [] }]))

/** Those of the configuration, then those beside it. */
const allAccounts = (reader: Reader, entry: Entry): Account[] => {
  const { id, file, path, preset } = entry
  const own = accountsOf(reader, entry)
  const kept = reader.kept.accounts.filter(({ provider }) => provider === id).map(({ account }) => account)
  const taken = new Set([...own, ...(file.accounts ?? [])].map(({ name = ONLY }) => name))
  for (const { name } of kept)
    if (taken.has(name)) reader.report(memberPath(`${path}.accounts`, name), IN_CONFIGURATION)
  const free = kept.filter(({ name }) => !taken.has(name))
  return [...own, ...readAccounts(asWritten(reader), { accounts: free }, path, preset)]
}

/** What an account is called that has no name, and needs none where it is the only one. */
const ONLY = 'main'

/** The file's accounts, else the one that the environment has the variables of. */
const accountsOf = (reader: Reader, entry: Entry): Account[] => {
  const { id, file, path, preset } = entry
  if (file.accounts !== undefined) return readAccounts(reader, file, path, preset)
  if (!reader.resolves) return []
  if (preset === undefined) return BUILTIN_PROVIDERS.some((known) => known.id === id) ? neutralAccount(reader, id) : []
  if (credentialName(preset, reader.env) === undefined && isSet(reader.env[`${id.toUpperCase()}_BASE_URL`]))
    return neutralAccount(reader, id)
  return signs(reader, entry) ? signingAccount(reader, path, preset) : presetAccount(reader, path, preset)
}

const readAccounts = (reader: Reader, file: FileProvider, path: string, preset: Preset | undefined): Account[] => {
  const names = new Set<string>()
  return (file.accounts ?? []).flatMap((account, index) => {
    const at = memberPath(`${path}.accounts`, index)
    const { name = ONLY } = account
    if (names.has(name)) {
      const found = account.name === undefined ? 'nothing' : `${JSON.stringify(name)} a second time`
      reader.report(`${at}.name`, `found ${found}, allowed: a name of its own`)
    }
    names.add(name)
    if (!reader.resolves) return []
    if (account.credential === undefined && preset === undefined)
      reader.report(`${at}.credential`, mismatch(undefined, CREDENTIAL))
    if (account.base_url === undefined && preset === undefined) {
      reader.warn(`${at} has no base_url and is not used`)
      return []
    }
    const written =
      account.base_url === undefined
        ? defaultUrl(reader, `${at}.base_url`, preset)
        : reader.reference(`${at}.base_url`, account.base_url)
    const baseUrl = written === undefined ? undefined : readBaseUrl(reader, `${at}.base_url`, written)
    const credential =
      account.credential === undefined
        ? defaultCredential(reader, `${at}.credential`, preset)
        : reader.secret(`${at}.credential`, account.credential)
    if (baseUrl === undefined || credential === undefined) return []
    return [{ name, baseUrl, credential, weight: account.weight ?? 1 }]
  })
}

const CREDENTIAL = 'env:NAME, file:PATH or the secret itself'

/** What an open server is shown: it does not look at it. */
export const NO_CREDENTIAL = 'none'

const GATEWAY_KEY = /^sk-sl-[0-9A-Za-z]{43}$/

const defaultUrl = (reader: Reader, path: string, preset: Preset | undefined): string | undefined => {
  if (preset === undefined) return undefined
  const { url, missing } = presetUrl(preset, reader)
  if (missing.length === 0) return url
  reader.report(path, `found nothing, allowed: a URL, or the environment variable ${missing.join(' and ')}`)
  return undefined
}

const defaultCredential = (reader: Reader, path: string, preset: Preset | undefined): string | undefined => {
  if (preset === undefined) return undefined
  const name = credentialName(preset, reader.env)
  if (name !== undefined) return reader.secret(path, `env:${name}`)
  if (preset.open) return NO_CREDENTIAL
  const [usual] = preset.env.credential
  const hint = usual === undefined ? '' : `, or the environment variable ${usual}`
  reader.report(path, mismatch(undefined, CREDENTIAL + hint))
  return undefined
}

/** The one account that a preset makes of its vendor's usual variables. */
const presetAccount = (reader: Reader, path: string, preset: Preset): Account[] => {
  const name = credentialName(preset, reader.env)
  const [usual] = preset.env.credential
  if (name === undefined && !preset.open) {
    const hint = usual === undefined ? 'list one, with its base_url and credential' : `set ${usual}, or list one`
    reader.warn(`${path} has no account: ${hint}`)
    return []
  }
  const urlName = preset.env.baseUrl
  const given = urlName === undefined ? undefined : reader.env[urlName]
  const { url, missing } = presetUrl(preset, reader)
  if (!isSet(given) && missing.length > 0) {
    const because = name === undefined ? '' : `${name} is set but `
    reader.warn(
      `${preset.name} is not configured: ${because}${missing.join(' and ')} is not${because === '' ? ' set' : ''}`,
    )
    return []
  }
  const baseUrl = readBaseUrl(reader.outside(urlName ?? preset.name), '', isSet(given) ? given : url)
  const credential = name === undefined ? NO_CREDENTIAL : (reader.env[name] ?? '')
  const fault = wrongCredential(credential)
  if (fault !== undefined && name !== undefined) reader.outside(name).report('', fault)
  // Clients of a gateway have its key in the vendor's variable: the vendor is none to be shown it.
  if (GATEWAY_KEY.test(credential) && !isSet(given)) {
    reader.warn(`${preset.name} is not configured: ${name} holds a key of a gateway, not one of ${preset.title}`)
    return []
  }
  return baseUrl === undefined ? [] : [{ name: ONLY, baseUrl, credential, weight: 1 }]
}

/** The one account that a provider of the contract gets from VENDOR_X_BASE_URL and VENDOR_X_API_KEY. */
const neutralAccount = (reader: Reader, id: string): Account[] => {
  const urlName = `${id.toUpperCase()}_BASE_URL`
  const keyName = `${id.toUpperCase()}_API_KEY`
  const url = reader.env[urlName] ?? ''
  const credential = reader.env[keyName] ?? ''
  if (url === '') {
    if (credential !== '') reader.warn(`${keyName} is set but ${urlName} is not: ${id} is not configured`)
    return []
  }
  const outside = reader.outside(urlName)
  const baseUrl = readBaseUrl(outside, '', url)
  if (credential === '') {
    reader.outside(keyName).report('', `found nothing, allowed: the credential for ${urlName}`)
    return []
  }
  const fault = wrongCredential(credential)
  if (fault !== undefined) reader.outside(keyName).report('', fault)
  return baseUrl === undefined ? [] : [{ name: ONLY, baseUrl, credential, weight: 1 }]
}

// Neither the URL nor its parts are shown: a credential may have been written in its place.
const readBaseUrl = (reader: Pick<Reader, 'report'>, path: string, written: string): string | undefined => {
  const text = written.trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    const [found, allowed] = /^["'].*["']$/.test(text)
      ? ['a URL in quotes', 'one without them']
      : ['something that is not a URL', 'an http or https URL, which begins with http:// or https://']
    reader.report(path, `found ${found}, allowed: ${allowed}`)
    return undefined
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    reader.report(path, 'found a URL with a user, a password or a fragment, allowed: an http or https URL without them')
    return undefined
  }
  return url.search === '' ? text.replace(/[/?]+$/, '') : text
}

/** The file's words for quirks, in the code's. */
export const readQuirks = (file: FileQuirks | undefined): Quirks => ({
  ...(file?.no_sampling === undefined ? {} : { noSampling: file.no_sampling }),
  ...(file?.structured_output_by_tool === undefined ? {} : { structuredOutputByTool: file.structured_output_by_tool }),
  ...(file?.max_tokens_field === undefined ? {} : { maxTokensField: file.max_tokens_field }),
  ...(file?.no_mid_system === undefined ? {} : { noMidSystem: file.no_mid_system }),
  ...(file?.no_adaptive_thinking === undefined ? {} : { noAdaptiveThinking: file.no_adaptive_thinking }),
  ...(file?.no_xhigh_effort === undefined ? {} : { noXhighEffort: file.no_xhigh_effort }),
  ...(file?.no_forced_tools === undefined ? {} : { noForcedTools: file.no_forced_tools }),
  ...(file?.no_reasoning === undefined ? {} : { noReasoning: file.no_reasoning }),
  ...(file?.needs_reasoning === undefined ? {} : { needsReasoning: file.needs_reasoning }),
  ...(file?.cache_breakpoints === undefined ? {} : { cacheBreakpoints: file.cache_breakpoints }),
  ...(file?.always_thinks === undefined ? {} : { alwaysThinks: file.always_thinks }),
  ...(file?.thinks_unasked === undefined ? {} : { thinksUnasked: file.thinks_unasked }),
  ...(file?.no_custom_tools === undefined ? {} : { noCustomTools: file.no_custom_tools }),
  ...(file?.no_user_after_tool === undefined ? {} : { noUserAfterTool: file.no_user_after_tool }),
  ...(file?.no_done === undefined ? {} : { noDone: file.no_done }),
  ...(file?.stops_itself === undefined ? {} : { stopsItself: file.stops_itself }),
  ...(file?.thinks_in_text === undefined ? {} : { thinksInText: file.thinks_in_text }),
  ...(file?.loose_answers === undefined ? {} : { looseAnswers: file.loose_answers }),
  ...(file?.short_call_ids === undefined ? {} : { shortCallIds: file.short_call_ids }),
  ...(file?.no_developer_role === undefined ? {} : { noDeveloperRole: file.no_developer_role }),
  ...(file?.reads_tags === undefined ? {} : { readsTags: file.reads_tags }),
  ...(file?.no_web_search === undefined ? {} : { noWebSearch: file.no_web_search }),
  ...(file?.rejects === undefined ? {} : { rejects: file.rejects }),
})
