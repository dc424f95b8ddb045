// Entries of the configuration as rows, of either dialect, and what the audit is told of their changes.

import { type EntryChange, type KeptEntry, SECTIONS, type Section } from '../entries.ts'
import type { entries } from '../postgres/schema.ts'

type Row = typeof entries.$inferSelect

export const toEntry = (row: Row): KeptEntry => ({
  section: row.section,
  name: row.name,
  value: row.value,
  credential: row.sealed === null ? undefined : { text: row.sealed, by: row.sealedBy ?? '', lastFour: row.lastFour },
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

export const entryRow = ({ section, name, value, credential, createdAt, updatedAt }: KeptEntry, version: number) => ({
  ...{ section, name, value, createdAt, updatedAt, version },
  ...{ sealed: credential?.text ?? null, sealedBy: credential?.by ?? null, lastFour: credential?.lastFour ?? null },
})

/** By section, in their order; within one as they come. */
export const bySection = (a: KeptEntry, b: KeptEntry): number =>
  SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section)

/** What an entry becomes, and the words of the audit; `entry` undefined: it goes. Undefined: nothing is to be done. */
type Changed = { entry: KeptEntry | undefined; action: string; before: unknown; after: unknown }

export const changedEntry = (
  { section, name }: { section: Section; name: string },
  before: KeptEntry | undefined,
  after: EntryChange | undefined,
  now: number,
): Changed | undefined => {
  const noun = NOUNS[section]
  if (after === undefined)
    return before && { entry: undefined, action: `${noun}.remove`, before: told(before), after: null }
  const entry: KeptEntry = {
    ...{ section, name, value: after.value, credential: after.credential ?? before?.credential },
    ...{ createdAt: before?.createdAt ?? now, updatedAt: now },
  }
  const renewed = before === undefined || after.credential === undefined ? {} : { credential_changed: true }
  return {
    ...{ entry, action: `${noun}.${before === undefined ? 'add' : 'change'}` },
    ...{ before: before ? told(before) : null, after: { ...told(entry), ...renewed } },
  }
}

const NOUNS: Record<Section, string> = {
  providers: 'provider',
  accounts: 'account',
  models: 'model',
  aliases: 'alias',
  fallbacks: 'fallback',
}

/** As the audit is told of it: never what is sealed. */
const told = ({ value, credential }: KeptEntry) => ({
  value,
  ...(credential === undefined ? {} : { credential: credential.lastFour === null ? 'set' : `…${credential.lastFour}` }),
})
