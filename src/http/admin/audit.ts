// The audit: who changed what, newest first.

import { iso } from '../../lib/iso-time.ts'
import type { Part } from './call.ts'
import { memberNames } from './view.ts'

export const audit: Part<'audit.list'> = {
  'audit.list': async ({ gateway }, { target, limit, before }) => {
    const rows = await gateway.store.audit({ limit: limit + 1, before, target })
    const page = rows.slice(0, limit)
    const members = await memberNames(gateway)
    const tokens = new Map((await gateway.store.tokens.list()).map((token) => [token.id, token.label]))
    const nameOf = (id: string): string | null =>
      members.get(id) ?? tokens.get(id) ?? gateway.store.keys.get(id)?.label ?? null
    const items = page.map((entry) => ({
      ...entry,
      at: iso(entry.at),
      actor: { ...entry.actor, name: nameOf(entry.actor.id) },
      target_name: nameOf(entry.target),
    }))
    return { items, next: rows.length > limit ? (page.at(-1)?.row ?? null) : null }
  },
}
