// `models prices`: the configured models' prices beside those of the community's map, and written where that may be.

import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type FilePrice, type Found, priceIn } from '../config/price-map.ts'
import { isObject, type JsonObject, parseJson } from '../ir/json.ts'
import type { ShownModel } from '../observe/shown.ts'
import { presetNamed } from '../provider/presets/index.ts'
import { BACKEND_FLAGS, type Priced } from './backend.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, failure, type Io, printJson, usageError } from './io.ts'
import { openBackend } from './open-backend.ts'
import { columns } from './table.ts'

/** The map has 2 MB. */
const MAX_BYTES = 64 * 1024 * 1024

export const modelsPrices = command({
  name: 'prices',
  summary: "Compare prices with the community's map, and set those that differ, in force at once",
  args: {
    import: {
      type: 'string',
      valueHint: 'FILE',
      required: true,
      description: 'The map: model_prices_and_context_window.json, as LiteLLM publishes it',
    },
    date: { type: 'string', valueHint: 'DATE', description: 'The day it is of (default: when FILE was last written)' },
    model: { type: 'string', valueHint: 'a,b', description: 'Only these models (default: all that are configured)' },
    yes: { type: 'boolean', description: 'Write without asking' },
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice models prices --import model_prices_and_context_window.json'],
  run: async (args, io) => {
    const { map, asOf } = await readMap(args.import, args.date, io)
    const backend = await openBackend(args, io)
    const priced = await backend.priced()
    const compared = compare(map, asOf, priced, chosen(args.model, priced))
    const toWrite = compared.filter((each) => each.changes.length > 0 && !each.isInFile)
    if (!args.json) io.out(told(compared, asOf).join('\n'))
    const written = toWrite.length > 0 && (args.yes === true || (await isWanted(toWrite.length, io)))
    if (written) await backend.setModels(toWrite.map(({ id, value }) => ({ name: id, value })))
    if (args.json)
      printJson(io, { as_of: asOf, written: written ? toWrite.map(({ id }) => id) : [], models: compared.map(json) })
    else if (written) io.out(`Set the prices of ${count(toWrite.length)}.`)
    return toWrite.length === 0 || written ? EXIT.ok : EXIT.failed
  },
})

const readMap = async (
  path: string,
  date: string | undefined,
  { cwd }: Io,
): Promise<{ map: JsonObject; asOf: string }> => {
  if (date !== undefined && !(/^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(Date.parse(date))))
    throw usageError(`--date: found "${date}", allowed: a date such as 2026-11-27.`)
  const file = resolve(cwd, path)
  const found = await stat(file).catch(() => undefined)
  if (found === undefined || !found.isFile()) throw failure(`There is no file ${path}.`)
  if (found.size > MAX_BYTES) throw failure(`${path} has more than 64 MB: it is no map of prices.`)
  const map = parseJson(await readFile(file, 'utf8').catch(() => ''))
  if (!isObject(map) || !Object.values(map).some((entry) => isObject(entry) && 'litellm_provider' in entry))
    throw failure(`${path} is no map of prices: an object of models with input_cost_per_token and the like.`)
  return { map, asOf: date ?? found.mtime.toISOString().slice(0, 10) }
}

const chosen = (names: string | undefined, { models }: Priced): ShownModel[] => {
  if (names === undefined) return models
  return names.split(',').map((name) => {
    const model = models.find(({ id }) => id === name.trim())
    if (model === undefined)
      throw usageError(`--model: there is no model "${name.trim()}"; "sluice models" lists them.`)
    return model
  })
}

type Change = { price: string; now: number | null; map: number | null }

/** `value`: of the entry that is to stand beside the file. `entry` undefined: the map does not know it. */
type Compared = {
  id: string
  entry: string | undefined
  left: string[]
  changes: Change[]
  isInFile: boolean
  value: object
  price: FilePrice | undefined
}

const compare = (map: JsonObject, asOf: string, priced: Priced, models: readonly ShownModel[]): Compared[] =>
  models.map((model) => {
    const found = foundFor(map, model, priced)
    const kept = priced.kept[model.id]
    const isInFile = priced.inFile.includes(model.id)
    if (found === undefined)
      return { id: model.id, entry: undefined, left: [], changes: [], isInFile, value: {}, price: undefined }
    const before = isObject(kept) && isObject(kept.price) ? kept.price : {}
    const price = { ...stays(before), ...found.price, as_of: asOf }
    const changes = changesOf(model, found.price)
    return { id: model.id, entry: found.entry, left: found.left, changes, isInFile, value: { ...kept, price }, price }
  })

/** Of a price that was set what another leaves alone. */
const stays = ({ service_tiers: tiers, per_call: fees }: JsonObject): JsonObject => ({
  ...(tiers === undefined ? {} : { service_tiers: tiers }),
  ...(fees === undefined ? {} : { per_call: fees }),
})

const foundFor = (map: JsonObject, model: ShownModel, { presetOf, brands }: Priced): Found | undefined => {
  const name = presetOf[model.provider]
  const preset = name === undefined ? undefined : presetNamed(name)
  // A server of one's own charges what its owner says.
  if (preset !== undefined && preset.priceMap === undefined) return undefined
  return priceIn(map, {
    ...{ id: model.id, upstream: model.upstream ?? model.id, provider: model.provider, kind: model.kind },
    tokensPer: { second: model.tokens_per_second, character: model.tokens_per_character },
    vendor: preset?.priceMap,
    tiers: model.price.service_tiers,
    also: brands.flatMap(({ neutral, branded }) =>
      model.id.startsWith(`${neutral}-`)
        ? [model.id.replace(neutral, branded), model.id.replace(neutral, branded).replaceAll('.', '-')]
        : [],
    ),
  })
}

const RATES = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const

/** Each price by its path in a configuration. */
const flat = (price: object, path = ''): Map<string, number> =>
  new Map(
    Object.entries(price).flatMap(([name, value]): [string, number][] =>
      typeof value === 'number' ? [[path + name, value]] : isObject(value) ? [...flat(value, `${path}${name}.`)] : [],
    ),
  )

/** What would be another price than it is now; what long prompts cost is gone where the map has no word of it. */
const changesOf = ({ price: shown }: ShownModel, price: FilePrice): Change[] => {
  const now = flat(shown)
  const then = flat(price)
  const hour = RATES.at(-1) ?? ''
  // Without a word of its own it is as the other.
  if (price.cache_write !== undefined && !then.has(hour)) then.set(hour, price.cache_write)
  const gone = [...now.keys()].filter(
    (path) => path.startsWith('long_context.') && price.input !== undefined && price.long_context === undefined,
  )
  return [
    ...[...then].flatMap(([path, value]) =>
      now.get(path) === value ? [] : [{ price: path, now: now.get(path) ?? null, map: value }],
    ),
    ...gone.map((path) => ({ price: path, now: now.get(path) ?? null, map: null })),
  ]
}

const told = (compared: readonly Compared[], asOf: string): string[] => {
  const changed = compared.filter(({ changes }) => changes.length > 0)
  const rows = changed.flatMap(({ id, changes }) =>
    changes.map(({ price, now, map }, index) => [index === 0 ? id : '', price, amount(now), amount(map)]),
  )
  const head = ['MODEL', 'PRICE', 'NOW', `AS OF ${asOf}`]
  const notes = compared.flatMap(({ id, entry, left }) =>
    left.length === 0 ? [] : [`${id} (${entry}) is not taken over: ${left.join('; ')}.`],
  )
  const missing = compared.filter(({ entry }) => entry === undefined).map(({ id }) => id)
  const same = compared.length - changed.length - missing.length
  const inFile = changed.filter(({ isInFile }) => isInFile)
  return [
    ...(changed.length === 0 ? [] : [...columns([head, ...rows], '', [2, 3]), '']),
    ...notes,
    `${count(changed.length)} with other prices, ${same} with the same.${missing.length === 0 ? '' : ` Not in the map, or of a server of one's own: ${missing.join(', ')}.`}`,
    ...(inFile.length === 0
      ? []
      : ['', 'What the configuration file says holds; to be pasted into it:', ...yaml(inFile)]),
  ]
}

const amount = (usd: number | null): string => (usd === null ? '' : String(usd))

const count = (models: number): string => (models === 1 ? '1 model' : `${models} models`)

const yaml = (compared: readonly Compared[]): string[] => [
  'models:',
  ...compared.map(({ id, price }) => `  ${JSON.stringify(id)}: { price: ${flow(price ?? {})} }`),
]

/** A mapping on one line. */
const flow = (value: object): string =>
  `{ ${Object.entries(value)
    .map(
      ([name, of]) =>
        `${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${isObject(of) ? flow(of) : JSON.stringify(of)}`,
    )
    .join(', ')} }`

const isWanted = async (models: number, io: Io): Promise<boolean> => {
  const answer = await io.confirm?.(`Set the prices of ${count(models)}?`)
  if (answer !== true)
    io.err(answer === undefined ? 'Nothing is set: give --yes to set these prices.' : 'Nothing is set.')
  return answer === true
}

const json = ({ id, entry, changes, isInFile, price, left }: Compared) => ({
  ...{ id, entry: entry ?? null, changes, from: isInFile ? 'file' : 'store', price: price ?? null, left },
})
