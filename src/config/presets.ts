// Presets in a configuration: which provider is set up by which, by the file or by the environment alone, and what it gives.

import { blankProvider } from '../provider/builtin.ts'
import { brandAt } from '../provider/own-names.ts'
import type { Preset } from '../provider/preset.ts'
import { PRESETS, presetNamed } from '../provider/presets/index.ts'
import type { Provider } from '../provider/provider.ts'
import type { Reader } from './reader.ts'
import type { FileConfig } from './schema.ts'

type Files = NonNullable<FileConfig['providers']>
type Env = Pick<Reader, 'env'>

/** A provider of which the file says nothing but its preset. */
export const presetBase = (id: string, preset: Preset): Provider => ({
  ...blankProvider(id),
  preset: preset.name,
  wires: [...preset.wires],
  auth: preset.auth,
  versionHeader: preset.versionHeader,
  brand: brandAt(preset, id),
  quirks: preset.quirks ?? {},
})

export const presetFor = ({ preset }: { preset?: string }): Preset | undefined =>
  preset === undefined ? undefined : presetNamed(preset)

/** The names beside their ids by which vendors know their models: name → id. */
export const alsoNamed = (providers: readonly Provider[]): [string, string][] =>
  providers.flatMap((provider) =>
    (presetFor(provider)?.models ?? []).flatMap(({ id, also = [] }) =>
      also.map((name): [string, string] => [name, id]),
    ),
  )

/**
 * The providers of a configuration that says nothing of them: those whose vendors' usual variables are set. A vendor of the
 * contract that has its own VENDOR_X_BASE_URL stays neutral.
 */
export const environmentProviders = ({ env }: Env): Files =>
  Object.fromEntries(
    PRESETS.flatMap((preset) => {
      const id = preset.provider ?? preset.name
      const isNeutral = preset.provider !== undefined && isSet(env[`${id.toUpperCase()}_BASE_URL`])
      return credentialName(preset, env) === undefined || isNeutral ? [] : [[id, { preset: preset.name }]]
    }),
  )

/** The variable that holds the credential: the first that is set. */
export const credentialName = (preset: Preset, env: Reader['env']): string | undefined =>
  preset.env.credential.find((name) => isSet(env[name]))

/** `missing`: variables its base URL is made of that are not set. */
export const presetUrl = (preset: Preset, { env }: Env): { url: string; missing: string[] } => {
  const missing: string[] = []
  const url = preset.baseUrl.replace(/\{([A-Z_]+)\}/g, (_, name: string) => {
    if (!isSet(env[name])) missing.push(name)
    return (env[name] ?? '').replace(/\/+$/, '')
  })
  return { url, missing }
}

export const isSet = (value: string | undefined): value is string => value !== undefined && value !== ''
