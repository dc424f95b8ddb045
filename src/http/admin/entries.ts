// Members of the configuration that stand in the store: providers, models with their prices, aliases, fallbacks. Accounts,
// which have credentials, have routes of their own.

import type * as S from '../../admin-api/schema.ts'
import type { ShownEntry } from '../../entries/entries.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { iso } from '../../lib/iso-time.ts'
import { actorOf, type Part } from './call.ts'

export const entries: Part<'entries.list' | 'entries.put' | 'entries.remove' | 'reload'> = {
  'entries.list': ({ gateway }, { section }) => {
    const all = [...writtenViews(gateway), ...gateway.entries.list().map(entryView)]
    return { items: all.filter((entry) => section === undefined || entry.section === section) }
  },
  'entries.put': async ({ gateway, caller }, { section, name: given, value }) => {
    requireOther(section)
    if (value === undefined || value === null) throw invalidRequest('value: is required.', 'value')
    const name = catalogueName(gateway, section, given)
    await gateway.entries.change([{ section, name, value }], actorOf(caller))
    const kept = gateway.entries.list().find((entry) => entry.section === section && entry.name === name)
    if (kept === undefined) throw new GatewayError('not_found', 'Another admin has removed it meanwhile.')
    return entryView(kept)
  },
  'entries.remove': async ({ gateway, caller }, { section, name: given }) => {
    requireOther(section)
    const name = catalogueName(gateway, section, given)
    const isKept = gateway.entries.list().some((entry) => entry.section === section && entry.name === given)
    await gateway.entries.change([{ section, name: isKept ? given : name, value: undefined }], actorOf(caller))
    return { done: true }
  },
  reload: async ({ gateway }) => {
    if (gateway.reread === undefined)
      throw invalidRequest('This server cannot read its configuration again: restart it.')
    const answer = await gateway.reread()
    const nothing = { changed: [], refused: [], overridden: [], warnings: [], problems: [] }
    return { ...nothing, ...answer }
  },
}

const requireOther = (section: S.EntrySection): void => {
  if (section === 'accounts')
    throw invalidRequest('section: accounts have routes of their own, for their credentials.', 'section')
}

/** Models and their fallbacks are kept by their ids, however they are called. */
const catalogueName = ({ catalogue }: Gateway, section: S.EntrySection, name: string): string =>
  section === 'models' || section === 'fallbacks' ? (catalogue.resolve(name)?.id ?? name) : name

const entryView = ({ section, name, value, problem, updatedAt }: ShownEntry): S.Entry => ({
  ...{ section, name, managed: 'store', value },
  ...{ problem: problem ?? null, updated_at: iso(updatedAt) },
})

const writtenViews = ({ config }: Gateway): S.Entry[] => {
  const { written, accountSources } = config
  const accounts = Object.entries(accountSources).flatMap(([name, { from }]) => (from === 'store' ? [] : [name]))
  return (['providers', 'accounts', 'models', 'aliases', 'fallbacks'] as const).flatMap((section) =>
    (section === 'accounts' ? accounts : written[section]).map(
      (name): S.Entry => ({ section, name, managed: 'file', value: null, problem: null, updated_at: null }),
    ),
  )
}
