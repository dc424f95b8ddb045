// Which of a gateway's models a client is given, and why.

import type { Client, Listed } from './client.ts'

export type Choice = { main: Listed; small: Listed; why: string }

/** Whose own wire it is: there a model keeps what only that wire can say, its earlier reasoning first of all. */
const NATIVE: Record<Client['wire'], string | undefined> = {
  messages: 'vendor_a',
  responses: 'vendor_b',
  'chat-completions': undefined,
}

/** By what vendors call their small models. */
const SMALL = /haiku|mini|nano|flash|lite|small/i

/** `models` answer in text, in the gateway's order; `auto` is the gateway's own choice. Undefined where there is none. */
export const choose = (
  { wire, title }: Client,
  models: readonly Listed[],
  auto: Listed | undefined,
  asked?: Listed,
): Choice | undefined => {
  const vendor = NATIVE[wire]
  const [first] = models
  const usual = auto ?? first
  const native = vendor === undefined ? undefined : models.find(({ provider }) => provider === vendor)
  const main = asked ?? (usual?.provider === vendor ? usual : (native ?? usual))
  if (main === undefined) return undefined
  const of = models.filter(({ provider, id }) => provider === main.provider && id !== main.id)
  const small = of.find(({ id }) => SMALL.test(id)) ?? main
  const why =
    asked !== undefined
      ? 'as you asked'
      : main === auto
        ? "the gateway's own choice (auto)"
        : main === native
          ? `the first whose vendor has the ${wire} wire, which ${title} speaks`
          : 'the first that the key may use'
  return { main, small, why }
}
