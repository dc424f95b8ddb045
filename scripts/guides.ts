// Writes what `sluice connect` writes into the guides, so that both say the same. A test holds them to it.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Client, Listed, Setup } from '../src/clients/client.ts'
import { CLIENTS } from '../src/clients/index.ts'
import { filesFor } from '../src/clients/shown.ts'

const GUIDES = join(import.meta.dir, '..', 'docs', 'guides')
const BEGIN = '<!-- Made by "bun run guides" from src/clients; do not edit. -->'
const END = '<!-- The end of what is made. -->'

const model = (id: string, provider: string, context: number, output: number): Listed => ({
  ...{ id, provider, context, output, images: true, text: true, reasons: true },
})
const OPUS = model('vendorA-opus-4-8', 'vendor_a', 1_000_000, 64_000)
const HAIKU = model('vendorA-haiku-4-5', 'vendor_a', 200_000, 64_000)
const LARGE = model('vendorB-5.5', 'vendor_b', 1_050_000, 128_000)
const MINI = model('vendorB-5.4-mini', 'vendor_b', 400_000, 128_000)

const setupOf = ({ wire }: Client): Setup => {
  const [main, small] = wire === 'responses' ? [LARGE, MINI] : [OPUS, HAIKU]
  return { origin: '{base_url}', key: 'sk-sl-…', main, small, models: [main, small] }
}

const section = (client: Client): string => {
  const { name, title, notes = [], tried, start } = client
  const setup = setupOf(client)
  // Of no language: whoever takes the files out of a guide by theirs finds those that are to be copied.
  const fences = filesFor(client, setup).map(({ shown, text }) => `\`${shown}\`:\n\n\`\`\`text\n${text}\n\`\`\``)
  return [
    BEGIN,
    '## In one command',
    `\`\`\`sh\nsluice connect ${name} --server {base_url}\n\`\`\``,
    `It asks for the key, tries it, and writes what follows with the models of your key into ${title}'s own files, beside what is there. \`--print\` only shows it, \`--undo\` puts back what was there. Then: \`${start(setup)}\`.`,
    ...fences,
    ...notes,
    tried === undefined ? `Not tried with ${title} itself.` : `Last tried with ${tried.version} (${tried.date}).`,
    END,
  ].join('\n\n')
}

/** The guide with the section as it should be: in its place, or at the end where it has none yet. */
export const guideWith = (client: Client, text: string): string => {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  const kept = from === -1 ? `${text.trimEnd()}\n\n` : text.slice(0, from)
  return `${kept}${section(client)}${from === -1 ? '\n' : text.slice(to + END.length)}`
}

export const guidePath = ({ name }: Client): string => join(GUIDES, `${name}.md`)

if (import.meta.main) {
  for (const client of CLIENTS) {
    const path = guidePath(client)
    const text = existsSync(path) ? await Bun.file(path).text() : `# ${client.title}\n`
    await Bun.write(path, guideWith(client, text))
  }
}
