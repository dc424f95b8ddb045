// `models`: the catalogue as this configuration makes it, or as a running server has it.

import type { ShownModel } from '../observe/shown.ts'
import { BACKEND_FLAGS, type ShownModels } from './backend.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, printJson } from './io.ts'
import { modelsFetch } from './models-fetch.ts'
import { modelsPrices } from './models-prices.ts'
import { openBackend } from './open-backend.ts'
import { columns, grouped } from './table.ts'

export const models = command({
  name: 'models',
  summary: 'List the models and aliases',
  args: { ...BACKEND_FLAGS, ...JSON_FLAG },
  below: [modelsFetch, modelsPrices],
  run: async (args, io) => {
    const known = await (await openBackend(args, io)).models()
    if (args.json) printJson(io, { models: known.items.map(modelJson), aliases: known.aliases })
    else io.out([...modelLines(known), '', ...aliasLines(known)].join('\n'))
    return EXIT.ok
  },
})

const modelLines = ({ items }: ShownModels): string[] => {
  const rows = items.map((model) => [
    model.id,
    model.provider,
    model.family,
    `${model.input_modalities.join('+')} → ${model.output_modalities.join('+')}`,
    grouped(model.context_window),
    grouped(model.max_output_tokens),
    `${model.price.input}`,
    `${model.price.output}`,
    model.price.as_of ?? '',
  ])
  const head = [
    'MODEL',
    'PROVIDER',
    'FAMILY',
    'IN → OUT',
    'CONTEXT',
    'MAX OUTPUT',
    'USD/M IN',
    'USD/M OUT',
    'PRICES OF',
  ]
  return columns([head, ...rows], '', [4, 5, 6, 7])
}

const aliasLines = ({ aliases, brands }: ShownModels): string[] => [
  ...columns(Object.entries(aliases).map(([alias, id]) => [alias, `→ ${id}`])),
  ...brands.map(({ neutral, branded }) => `${branded}-… → ${neutral}-…`),
]

const modelJson = (model: ShownModel): ShownModel => ({
  id: model.id,
  provider: model.provider,
  upstream: model.upstream,
  family: model.family,
  display_name: model.display_name,
  kind: model.kind,
  input_modalities: model.input_modalities,
  output_modalities: model.output_modalities,
  context_window: model.context_window,
  max_output_tokens: model.max_output_tokens,
  tokens_per_image: model.tokens_per_image,
  tokens_per_second: model.tokens_per_second,
  tokens_per_character: model.tokens_per_character,
  price: model.price,
})
