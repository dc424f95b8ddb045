// What of a configuration is the file's own, and where the credential of each account comes from.

import { type Brand, createCatalogue } from '../catalogue/catalogue.ts'
import type { Model } from '../catalogue/model.ts'
import type { Provider } from '../provider/provider.ts'
import { credentialName, presetFor } from './presets.ts'
import type { Reader } from './reader.ts'
import type { FileConfig } from './schema.ts'

/** Ids of providers and of models, aliases, and ids of models with fallbacks. */
export type Written = { providers: string[]; models: string[]; aliases: string[]; fallbacks: string[] }

type Served = { providers: readonly Provider[]; models: readonly Model[]; brands: readonly Brand[] }

export const writtenIn = (file: FileConfig, { models, brands }: Served): Written => {
  const catalogue = createCatalogue({ models, aliases: {}, brands })
  const ids = (of: object | undefined): string[] =>
    Object.keys(of ?? {}).map((name) => catalogue.resolve(name)?.id ?? name)
  return {
    providers: Object.keys(file.providers ?? {}),
    models: ids(file.models),
    aliases: Object.keys(file.aliases ?? {}),
    fallbacks: ids(file.fallbacks),
  }
}

/**
 * `from`: who says that there is such an account. `credential`: a variable or a file by its `name`, the secret itself, in the
 * file or sealed, or none.
 */
export type AccountSource = {
  from: 'file' | 'environment' | 'store'
  credential: 'env' | 'file' | 'literal' | 'sealed' | 'none'
  name?: string
}

/** By `provider/account`. */
export const sourcesOf = (reader: Reader, providers: readonly Provider[]): Record<string, AccountSource> =>
  Object.fromEntries(
    providers.flatMap((provider) =>
      provider.accounts.map(({ name, credential }) => [
        `${provider.id}/${name}`,
        credential === '' ? { from: 'file', credential: 'none' } : sourceOf(reader, provider, name),
      ]),
    ),
  )

const sourceOf = ({ file, kept, env }: Reader, provider: Provider, name: string): AccountSource => {
  if (kept.accounts.some(({ provider: id, account }) => id === provider.id && account.name === name))
    return { from: 'store', credential: 'sealed' }
  const listed = file.providers?.[provider.id]?.accounts
  const written = listed?.find((account) => account.name === name)?.credential
  const from = listed === undefined ? 'environment' : 'file'
  if (written !== undefined) {
    const [, kind, of = ''] = /^(env|file):(.*)$/s.exec(written) ?? []
    return kind === undefined ? { from, credential: 'literal' } : { from, credential: kind as 'env' | 'file', name: of }
  }
  const preset = presetFor(provider)
  const variable = preset === undefined ? `${provider.id.toUpperCase()}_API_KEY` : credentialName(preset, env)
  if (variable !== undefined) return { from, credential: 'env', name: variable }
  return { from, credential: 'none' }
}
