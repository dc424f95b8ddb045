// The tellings: for each client wire, what its client reads of each story, whichever vendor told it. Written by
// `UPDATE_GOLDEN=1 bun test test/wire/matrix`, read by people before they are committed.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Story, Told } from './story.ts'

const fileOf = (client: ChatWire): URL => new URL(`golden/${client}.golden.json`, import.meta.url)

type Tellings = { [story: string]: Told }

const loaded = new Map<ChatWire, Tellings>()
const tellings = (client: ChatWire): Tellings => {
  const known = loaded.get(client)
  if (known !== undefined) return known
  const file = fileOf(client)
  const read: Tellings = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  loaded.set(client, read)
  return read
}

const updating = process.env.UPDATE_GOLDEN === '1'
const written = new Set<string>()

/** The name a telling is kept under: one for all vendors, and one for those whose wire cannot say it all. */
const titleOf = ({ name, differs }: Story, vendor: ChatWire): string =>
  differs?.vendors.includes(vendor) ? `${name}, as ${differs.vendors.join(' and ')} can say it` : name

/** The telling that is due; the first one seen where they are being written anew. */
export const golden = (story: Story, client: ChatWire, vendor: ChatWire, told: Told): Told | undefined => {
  const title = titleOf(story, vendor)
  const all = tellings(client)
  if (updating && !written.has(`${client} ${title}`)) {
    written.add(`${client} ${title}`)
    all[title] = told
  }
  return all[title]
}

/** Tellings nobody asked for: left over from a story that is gone. */
export const leftOver = (stories: Story[], client: ChatWire, vendors: readonly ChatWire[]): string[] => {
  const due = new Set(stories.flatMap((story) => vendors.map((vendor) => titleOf(story, vendor))))
  return Object.keys(tellings(client)).filter((title) => !due.has(title))
}

export const save = (): void => {
  if (!updating) return
  for (const [client, all] of loaded) writeFileSync(fileOf(client), `${JSON.stringify(all, null, 2)}\n`)
}
