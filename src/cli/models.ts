// `models`: the catalogue as this configuration makes it.

import type { Model } from '../catalogue/model.ts'
import type { Config } from '../config.ts'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData } from './data.ts'
import { EXIT, printJson } from './io.ts'
import { columns, grouped } from './table.ts'

export const models = command({
  name: 'models',
  summary: 'List the models and aliases',
  args: { config: DATA_FLAGS.config, ...JSON_FLAG },
  run: (args, io) => {
    const config = requireData(args, io)
    if (args.json) printJson(io, { models: config.models.map(modelJson), aliases: config.aliases })
    else io.out([...modelLines(config), '', ...aliasLines(config)].join('\n'))
    return EXIT.ok
  },
})

const modelLines = ({ models }: Config): string[] => {
  const rows = models.map((model) => [
    model.id,
    model.provider,
    model.family,
    `${model.inputModalities.join('+')} → ${model.outputModalities.join('+')}`,
    grouped(model.contextWindow),
    grouped(model.maxOutput),
    `${model.price.input}`,
    `${model.price.output}`,
  ])
  const head = ['MODEL', 'PROVIDER', 'FAMILY', 'IN → OUT', 'CONTEXT', 'MAX OUTPUT', 'USD/M IN', 'USD/M OUT']
  return columns([head, ...rows], '', [4, 5, 6, 7])
}

const aliasLines = ({ aliases, brands }: Config): string[] => [
  ...columns(Object.entries(aliases).map(([alias, id]) => [alias, `→ ${id}`])),
  ...brands.map(({ neutral, branded }) => `${branded}-… → ${neutral}-…`),
]

const modelJson = (model: Model) => ({
  id: model.id,
  provider: model.provider,
  upstream: model.upstream,
  family: model.family,
  display_name: model.displayName,
  kind: model.kind,
  input_modalities: model.inputModalities,
  output_modalities: model.outputModalities,
  context_window: model.contextWindow,
  max_output_tokens: model.maxOutput,
  tokens_per_image: model.tokensPerImage,
  price: {
    input: model.price.input,
    output: model.price.output,
    cache_read: model.price.cacheRead,
    cache_write: model.price.cacheWrite,
  },
})
