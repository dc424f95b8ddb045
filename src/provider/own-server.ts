// What the servers have in common that their users run themselves: no credential unless one is set, and whatever models they
// were given, which they list.

import type { Preset } from './preset.ts'

export const OWN_SERVER = {
  auth: 'bearer',
  env: { credential: [] },
  open: true,
  listsModels: true,
  models: [],
} as const satisfies Partial<Preset>

/** Those of them that speak every chat wire. */
export const OWN_ON_ALL_WIRES = {
  ...OWN_SERVER,
  wires: ['chat-completions', 'responses', 'messages'],
  versionHeader: { name: 'anthropic-version', value: '2023-06-01' },
} as const satisfies Partial<Preset>
