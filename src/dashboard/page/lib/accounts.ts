// Accounts as the page adds them: whose credential was pasted, and what is asked for.

import type { Preset } from '../../../admin-api/schema.ts'

/** The one preset whose credentials look so. */
export const presetOf = (credential: string, presets: readonly Preset[]): Preset | undefined => {
  const written = credential.trim()
  const alike = presets.filter(({ credential_shape: shape }) => shape !== null && new RegExp(shape).test(written))
  return alike.length === 1 ? alike[0] : undefined
}

/** What is filled in of a new account. */
export type AccountDraft = { preset: string; credential: string; baseUrl: string; name: string; weight: string }

export const EMPTY_ACCOUNT: AccountDraft = { preset: '', credential: '', baseUrl: '', name: '', weight: '' }

export const needWeight = (text: string): number => {
  const weight = Number(text.replace(',', '.'))
  if (text.trim() !== '' && weight > 0 && Number.isFinite(weight)) return weight
  throw new Error('Weight: write a number above 0, such as 1 or 0.5.')
}

/** As the API takes it. Throws what to write. */
export const accountInput = (draft: AccountDraft) => {
  if (draft.preset === '') throw new Error('Vendor: choose whose key it is.')
  const { credential, baseUrl, name, weight } = draft
  return {
    preset: draft.preset,
    ...(credential.trim() === '' ? {} : { credential: credential.trim() }),
    ...(baseUrl.trim() === '' ? {} : { base_url: baseUrl.trim() }),
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(weight.trim() === '' ? {} : { weight: needWeight(weight) }),
  }
}
