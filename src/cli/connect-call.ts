// What `connect` asks the gateway: its models, which costs nothing, and one small answer on the client's own wire.

import type { Client, Listed } from '../clients/client.ts'
import { failure } from './io.ts'
import { type Reply, reach, refusalIn } from './reach.ts'
import { inert } from './table.ts'

type Models = { models: Listed[]; auto: Listed | undefined; asked: Listed | undefined }

/** Those that answer in text, in the gateway's order. `asked`: the one of that name, which must be there. */
export const modelsOf = async (origin: string, key: string, name: string | undefined): Promise<Models> => {
  const list = await get(origin, key, '')
  const models = (Array.isArray(list) ? list : []).flatMap((entry) => listed(entry) ?? []).filter(({ text }) => text)
  const auto = await get(origin, key, 'auto', true)
  const asked = name === undefined ? undefined : listed(await get(origin, key, name))
  if (asked !== undefined && !asked.text) throw failure(`The model ${asked.id} does not answer in text.`)
  const same = (one: Listed | undefined) => models.find(({ id }) => id === one?.id)
  return { models, auto: same(listed(auto)), asked: same(asked) ?? asked }
}

/** The list, or one entry. `maybe`: there need not be one. */
const get = async (origin: string, key: string, name: string, maybe = false): Promise<unknown> => {
  const path = `/v1/models${name === '' ? '' : `/${encodeURIComponent(name)}`}`
  const reply = await reach(origin, path, { method: 'GET', secret: key })
  if (reply.status === 200 && isRecord(reply.body)) return name === '' ? reply.body.data : reply.body
  if (maybe && reply.status === 404) return undefined
  throw refused(origin, reply)
}

const listed = (entry: unknown): Listed | undefined => {
  if (!isRecord(entry) || typeof entry.id !== 'string') return undefined
  const { id, provider, context_window: context, max_output_tokens: output } = entry
  const has = (list: unknown, kind: string): boolean => Array.isArray(list) && list.includes(kind)
  return {
    id,
    provider: typeof provider === 'string' ? provider : '',
    context: typeof context === 'number' ? context : 0,
    output: typeof output === 'number' ? output : 0,
    images: has(entry.input_modalities, 'image'),
    text: has(entry.output_modalities, 'text'),
    reasons: entry.reasoning === true,
  }
}

/** The least that every vendor takes. */
const WORDS = 16

const POST: Record<Client['wire'], (model: string) => [string, object]> = {
  messages: (model) => [
    '/v1/messages',
    { model, max_tokens: WORDS, messages: [{ role: 'user', content: 'Say hello' }] },
  ],
  responses: (model) => ['/v1/responses', { model, max_output_tokens: WORDS, input: 'Say hello', store: false }],
  'chat-completions': (model) => [
    '/v1/chat/completions',
    { model, max_tokens: WORDS, messages: [{ role: 'user', content: 'Say hello' }] },
  ],
}

/** Throws a Failure where the model does not answer. */
export const tryOut = async (origin: string, key: string, wire: Client['wire'], model: string): Promise<void> => {
  const [path, body] = POST[wire](model)
  const reply = await reach(origin, path, { method: 'POST', secret: key, body: JSON.stringify(body) })
  if (reply.status !== 200)
    throw failure(`${refused(origin, reply).message} Nothing was written; --untried writes it all the same.`)
}

const refused = (origin: string, { status, body, location }: Reply): Error => {
  if (location !== undefined) {
    return failure(`${origin} sends callers elsewhere (${status}); give --server the address it leads to.`)
  }
  const said = refusalIn(body)
  return failure(
    said === undefined ? `What answers at ${inert(origin)} (${status}) is no sluice gateway.` : said.message,
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
