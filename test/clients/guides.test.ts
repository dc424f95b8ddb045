// The guides say what `connect` writes.

import { expect, test } from 'bun:test'
import manifest from '../../package.json' with { type: 'json' }
import { guidePath, guideWith } from '../../scripts/guides.ts'
import { CLIENTS } from '../../src/clients/index.ts'
import { guides } from '../../src/http/docs.ts'

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  'the guide of %s is up to date',
  async (name, client) => {
    const text = await Bun.file(guidePath(client)).text()
    expect(guideWith(client, text)).toBe(text)
    expect(guides().map((guide) => guide.name)).toContain(name)
  },
)

/** Of our own alone. */
const OURS = ['start', 'demo', 'curl']
/** Of one software by the section, each with a word of its own. */
const BY_SECTION = ['apps', 'frameworks']
const SAID = /[Ll]ast tried with|Not tried/

test.each(guides().filter(({ name }) => !OURS.includes(name)))(
  'the guide of $name says with which versions it was tried, or that it was not',
  ({ name, html }) => {
    const parts = BY_SECTION.includes(name) ? html.split('<h2').slice(1) : [html]
    for (const part of parts) expect(part).toMatch(SAID)
  },
)

test.each(Object.entries(manifest.devDependencies))(
  'no guide names another version of %s than is tried here',
  (name, version) => {
    const named = new RegExp(`(?<![\\w@/.-])${RegExp.escape(name)} (\\d+\\.\\d+\\.\\d+)`, 'g')
    for (const { html } of guides())
      for (const [, told] of html.matchAll(named)) expect([name, told]).toEqual([name, version])
  },
)
