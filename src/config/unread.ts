// Environment variables that nothing reads, though their names say what they are meant for: a key would be missed, or go to
// the vendor's own address in place of the one that was set.

import { nearest } from '../lib/nearest.ts'
import { PRESETS } from '../provider/presets/index.ts'
import { isSet } from './presets.ts'
import type { Reader } from './reader.ts'

/** A vendor's word in the names of its variables, and the names that are read. */
type Vendor = { word: string; of: string; key: string; url: string | undefined }

const bare = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

const VENDORS: readonly Vendor[] = [
  ...PRESETS.flatMap(({ name, env, brand }) => {
    const [key] = env.credential
    if (key === undefined) return []
    const words = [...env.credential.map((each) => /^(.+)_API_KEY$/.exec(each)?.[1]), ...Object.values(brand ?? {})]
    return words.flatMap((word) => (word === undefined ? [] : { word: bare(word), of: name, key, url: env.baseUrl }))
  }),
  ...['vendor_a', 'vendor_b'].map((of) => {
    const word = of.toUpperCase()
    return { word: bare(word), of, key: `${word}_API_KEY`, url: `${word}_BASE_URL` }
  }),
]

const READ = new Set([
  ...VENDORS.flatMap(({ key, url }) => [key, ...(url === undefined ? [] : [url])]),
  ...PRESETS.flatMap(({ env, baseUrl }) => [
    ...env.credential,
    ...[...baseUrl.matchAll(/\{([A-Z_]+)\}/g)].map(([, name = '']) => name),
  ]),
])

const KEY = /^(?:API|AUTH|SECRET|ACCESS)*(?:KEY|TOKEN)$/
const BASE = /^(?:API|SERVER)*(?:BASE|URL|URI|HOST|ENDPOINT)+$/

/** Of the vendors' variables, where the environment alone says which vendors there are. */
export const warnOfUnread = ({ env, warn }: Pick<Reader, 'env' | 'warn'>): void => {
  const isNothingSet = VENDORS.every(({ key }) => !isSet(env[key]))
  for (const [name, value] of Object.entries(env)) {
    if (!isSet(value) || READ.has(name)) continue
    const written = bare(name)
    const meant = VENDORS.flatMap((vendor) =>
      written.startsWith(vendor.word) ? (insteadOf(vendor, written.slice(vendor.word.length)) ?? []) : [],
    )[0]
    const near = meant ?? (isNothingSet ? misspelt(name) : undefined)
    if (near !== undefined && !isSet(env[near.name])) warn(`${name} is not read: ${near.say}`)
  }
  for (const { name, env: own } of PRESETS)
    if (own.baseUrl !== undefined && isSet(env[own.baseUrl]) && own.credential.every((key) => !isSet(env[key])))
      warn(`${own.baseUrl} is set but ${own.credential.join(' or ')} is not: ${name} is not configured`)
}

/** Shorter words are too near to each other. */
const TOLD_APART = 5

/** The key of a vendor whose word is written a little wrong. */
const misspelt = (name: string): { name: string; say: string } | undefined => {
  const word = /^([A-Z]+)_(?:API_)?KEY$/.exec(name)?.[1] ?? ''
  const words = VENDORS.map((vendor) => vendor.word).filter(({ length }) => length > TOLD_APART)
  const near = word.length < TOLD_APART ? undefined : nearest(word, words)
  const key = VENDORS.find((vendor) => vendor.word === near)?.key
  return key === undefined ? undefined : { name: key, say: `did you mean ${key}?` }
}

const insteadOf = ({ of, key, url }: Vendor, rest: string): { name: string; say: string } | undefined => {
  if (KEY.test(rest)) return { name: key, say: `set ${key}` }
  if (!BASE.test(rest)) return undefined
  return url === undefined
    ? { name: '', say: `write it as base_url of an account of ${of}` }
    : { name: url, say: `set ${url}` }
}
