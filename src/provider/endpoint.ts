// Where a wire of a provider is reached: its account's base URL and the wire's path, for answers, for counts and for
// answers it keeps.

import type { Operation, Wire } from '../ir/wire.ts'
import type { Account } from './provider.ts'

const PATHS: Record<Operation, string> = {
  'chat-completions': '/chat/completions',
  responses: '/responses',
  'responses/compact': '/responses/compact',
  messages: '/v1/messages',
  images: '/images/generations',
  'images/edits': '/images/edits',
  'images/variations': '/images/variations',
  embeddings: '/embeddings',
  moderations: '/moderations',
  audio: '/audio/transcriptions',
  'audio/speech': '/audio/speech',
  'audio/translations': '/audio/translations',
}

/** Below a wire's own path. */
const COUNTING_PATHS: Partial<Record<Wire, string>> = { messages: '/count_tokens', responses: '/input_tokens' }

/**
 * The URL of what is asked on a wire. The messages wire adds `/v1/messages` (a base that ends in `/v1` is taken without it, so that a
 * provider of all wires needs one base URL); the others add their path to a base that ends in `/v1` itself. A query
 * on the base URL is kept, and `{model}` in it stands for the provider's id of the model.
 */
export const endpoint = (account: Account, asked: Operation, model = ''): string => {
  const url = baseOf(account, asked)
  return url.includes(MODEL) ? url.replace(MODEL, encodeURIComponent(model)) : url
}

/** Made once for each account, which never changes. */
const BASES = new WeakMap<Account, Partial<Record<Operation, string>>>()

const baseOf = (account: Account, asked: Operation): string => {
  const bases = BASES.get(account) ?? {}
  const known = bases[asked]
  if (known !== undefined) return known
  const url = urlOf(account, asked, PATHS[asked])
  BASES.set(account, { ...bases, [asked]: url })
  return url
}

/** Where older APIs name the model: in the path. */
const MODEL = '{model}'

/** Where a provider lists its models. */
export const modelsEndpoint = (account: Account, wires: readonly Wire[]): string => {
  const isMessagesOnly = wires.every((wire) => wire === 'messages')
  return urlOf(account, isMessagesOnly ? 'messages' : 'chat-completions', isMessagesOnly ? '/v1/models' : '/models')
}

/** Where a wire counts prompts; undefined where it has no way to. */
export const countingEndpoint = (account: Account, wire: Wire): string | undefined => {
  const path = COUNTING_PATHS[wire]
  return path === undefined ? undefined : urlOf(account, wire, PATHS[wire] + path)
}

/** Where an answer of the responses wire is kept, by its id; `below` of it, with a query that begins with `?`. */
export const answerEndpoint = (
  account: Account,
  id: string,
  below: '' | '/cancel' | '/input_items' = '',
  query = '',
): string => {
  const url = urlOf(account, 'responses', `${PATHS.responses}/${encodeURIComponent(id)}${below}`)
  return url.includes('?') ? url + query.replace('?', '&') : url + query
}

/** A base URL as operators are shown it: users, passwords and queries may be secrets. */
export const bareUrl = (baseUrl: string): string => {
  const { origin, pathname } = new URL(baseUrl)
  return origin + pathname.replace(/\/+$/, '')
}

const urlOf = (account: Account, wire: Operation, path: string): string => {
  const question = account.baseUrl.indexOf('?')
  const base = question === -1 ? account.baseUrl : account.baseUrl.slice(0, question)
  const query = question === -1 ? '' : account.baseUrl.slice(question)
  const root = base.replace(/\/+$/, '')
  return (wire === 'messages' ? root.replace(/\/v1$/, '') : root) + path + query
}
