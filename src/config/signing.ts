// Accounts whose credential signs each request, as Amazon's does: when one does, where it comes from, what must fit.

import { awsScope } from '../provider/aws-scope.ts'
import type { Preset } from '../provider/preset.ts'
import type { Account } from '../provider/provider.ts'
import { credentialName, isSet, presetUrl } from './presets.ts'
import type { Reader } from './reader.ts'
import type { FileProvider } from './schema/providers.ts'

type Named = { id: string; file: FileProvider; path: string; preset: Preset | undefined }

/**
 * So it is written; or nothing is, and the machine has Amazon's usual keys and no credential of the preset's own, for an account
 * set at run time neither.
 */
export const signs = ({ env, kept }: Reader, { id, file, preset }: Named): boolean =>
  file.auth === 'aws-sigv4' ||
  (preset?.signs === true &&
    file.auth === undefined &&
    file.accounts === undefined &&
    credentialName(preset, env) === undefined &&
    kept.accounts.every(({ provider }) => provider !== id) &&
    isSet(env.AWS_ACCESS_KEY_ID))

/** The one account of Amazon's usual variables. */
export const signingAccount = (reader: Reader, path: string, preset: Preset): Account[] => {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = reader.env
  const { url, missing } = presetUrl(preset, reader)
  const unset = [
    ...(isSet(id) ? [] : ['AWS_ACCESS_KEY_ID']),
    ...(isSet(secret) ? [] : ['AWS_SECRET_ACCESS_KEY']),
    ...missing,
  ]
  if (unset.length > 0) {
    reader.warn(`${path} has no account: set ${unset.join(' and ')}, or list one`)
    return []
  }
  const credential = [id, secret, ...(isSet(token) ? [token] : [])].join(':')
  return [{ name: 'main', baseUrl: url, credential, weight: 1 }]
}

/** A signature is for a service in a region, which the host names; its credential has two parts at least. */
export const checkSigning = (reader: Reader, path: string, accounts: readonly Account[]): void => {
  for (const { name, baseUrl, credential } of accounts) {
    const { host } = new URL(baseUrl)
    if (awsScope(host) === undefined)
      reader.report(
        `${path}.auth`,
        `found aws-sigv4 beside the host ${host} of account ${name}, allowed: a host such as bedrock-mantle.eu-west-1.api.aws`,
      )
    if (!/^[^:]+:[^:]+/.test(credential))
      reader.report(
        `${path}.accounts`,
        `found a credential of account ${name} that signs nothing, allowed: ACCESS_KEY_ID:SECRET_ACCESS_KEY`,
      )
  }
}
