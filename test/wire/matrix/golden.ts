// Golden files: for each client wire, what its client reads of each story, whichever vendor gave the answer. Written by
// `UPDATE_GOLDEN=1 bun test test/wire/matrix`; review the differences before committing.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { ClientView, Story } from './story.ts'

const fileOf = (client: ChatWire): URL => new URL(`golden/${client}.golden.json`, import.meta.url)

type Views = { [story: string]: ClientView }

const loaded = new Map<ChatWire, Views>()
const views = (client: ChatWire): Views => {
  const known = loaded.get(client)
  if (known !== undefined) return known
  const file = fileOf(client)
  const read: Views = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  loaded.set(client, read)
  return read
}

const updating = process.env.UPDATE_GOLDEN === '1'
const written = new Set<string>()

/** The key of a view: one for all vendors, and one for those whose wire cannot express all of the answer. */
const titleOf = ({ name, differs }: Story, vendor: ChatWire): string =>
  differs?.vendors.includes(vendor) ? `${name}, as ${differs.vendors.join(' and ')} can say it` : name

/** The expected view. When the files are being updated, the first view seen becomes the expected one. */
export const golden = (story: Story, client: ChatWire, vendor: ChatWire, view: ClientView): ClientView | undefined => {
  const title = titleOf(story, vendor)
  const all = views(client)
  if (updating && !written.has(`${client} ${title}`)) {
    written.add(`${client} ${title}`)
    all[title] = view
  }
  return all[title]
}

/** Views in the file that no story has. */
export const leftOver = (stories: Story[], client: ChatWire, vendors: readonly ChatWire[]): string[] => {
  const due = new Set(stories.flatMap((story) => vendors.map((vendor) => titleOf(story, vendor))))
  return Object.keys(views(client)).filter((title) => !due.has(title))
}

export const save = (): void => {
  if (!updating) return
  for (const [client, all] of loaded) writeFileSync(fileOf(client), `${JSON.stringify(all, null, 2)}\n`)
}
