// Writes docs/providers.md: what the presets know, and how it is known. A test holds the file to it.

import type { Fact, Preset, PresetModel, PresetPrice, Verified } from '../src/provider/preset.ts'
import { PRESETS } from '../src/provider/presets/index.ts'
import { CELLS } from './servers/cells.ts'
import { seen, shownCell } from './servers/seen.ts'

const INTRO = `# Providers

Presets: what is publicly known of a vendor or server, chosen by \`preset: NAME\` in a provider, whose other members override it, or by the vendor's usual environment variable where the configuration names no providers. Made by \`bun run providers\` from \`src/provider/presets/\`; do not edit.

No vendor was asked while this was written: nothing here was tried with a vendor's own account. How it is known:

- **driven**: the server itself was run behind the gateway
- **documented**: its makers' own pages say so
- **reported**: others' pages or tables say so
- **unverified**: it is assumed, and left out where it is a price or a limit

A model of which no price is known costs 0 in the books, and a start says so. Prices change: \`models\` in the configuration overrides them.
`

/** The whole file. */
export const providersPage = (): string =>
  [
    INTRO,
    '## Presets\n',
    table(
      ['preset', 'for', 'wires', 'base URL', 'variables', 'known how, by 2026-11-27'],
      PRESETS.map((preset) => [
        `\`${preset.name}\``,
        preset.title + (preset.provider === undefined ? '' : ` (\`${preset.provider}\`)`),
        preset.wires.join(', '),
        `\`${preset.baseUrl}\``,
        variables(preset),
        known(preset.facts),
      ]),
    ),
    '\n## Notes\n',
    ...PRESETS.flatMap(({ name, note }) => (note === undefined ? [] : [`- **${name}**: ${note}`])),
    '\n## Servers that were driven\n',
    `\`bun run test:servers\` (optional; it installs what it runs, at these versions) on ${seen.on}: each server itself, with a tiny model made for it that answers, thinks and calls a tool, behind the gateway by each of its wires. The official SDKs ask on chat-completions, responses and messages: a word alone is what they got, one with wires behind it what clients of those got instead.\n`,
    table(['server', 'version', 'its wire', ...CELLS.map(({ name }) => name)], seen.rows.map(seenRow)),
    `\n${CELLS.map(({ name, of }) => `**${name}**: ${of}`).join('; ')}. "told": the client is told so in the gateway's words; "left out": the server leaves it out, without a word; "as text": the server sends it within its text; "ends as end": no answer of that wire says which word ended it.`,
    "\nOllama's wires are read and written by its own code; its runner, which its module does not hold, is llama.cpp's server. SMG has no messages wire before such a server. Not driven: new-api, one-api and GoModel, of which no package holds the server; mlx_vlm.server and vllm-mlx, which hold an answer to a schema, or answer at all, by Metal alone; and otari, whose last packaged form is any-llm's gateway above. That one tells nobody why the server behind it has refused. It, OGX and Claude Code Router tell no figures of a stream on messages (they are billed by the tokenizer, and clients see zeros): that is the `no` of their streams there. LM-Proxy (3.3.2) was driven, too, and is left out: its streams lose calls, its answers their figures, and its refusals what was refused. The third version of Claude Code Router, whose package names another that is not to be had, and CLIProxyAPI, of which no package holds the server, were not.",
    '\n## Models\n',
    "USD per million tokens. What stands for a model of the contract answers by the neutral id too; what is empty is not known, and a built-in model's own figure then counts.\n",
    table(
      ['preset', 'id', "the vendor's id", 'context', 'output', 'input', 'output', 'cached', 'prices of'],
      PRESETS.flatMap((preset) => preset.models.map((model) => modelRow(preset, model))),
    ),
    '',
  ].join('\n')

const variables = ({ env, open }: Preset): string => {
  const names = [...env.credential, ...(env.baseUrl === undefined ? [] : [env.baseUrl])].map((name) => `\`${name}\``)
  return names.length > 0 ? names.join(', ') : open ? 'none' : 'an account in the file'
}

const ORDER: readonly Verified[] = ['driven', 'documented', 'reported', 'unverified']

const known = (facts: readonly Fact[]): string =>
  facts
    .toSorted((a, b) => ORDER.indexOf(a.how) - ORDER.indexOf(b.how))
    .map(({ of, how, on, source }) => `${of}: **${how}**${source === '' ? '' : ` (${source}, ${on})`}`)
    .join('; ')

const modelRow = (
  { name, pricesOf = '' }: Preset,
  { id, also = [], upstream, context, maxOutput, price, gone }: PresetModel,
) => [
  name,
  [id, ...also].map((one) => `\`${one}\``).join(', '),
  [...(upstream === undefined ? [] : [`\`${upstream}\``]), ...(gone === undefined ? [] : [`shut down ${gone}`])].join(
    ' ',
  ),
  context?.toLocaleString('en-US') ?? '',
  maxOutput?.toLocaleString('en-US') ?? '',
  amount(price, 'input'),
  amount(price, 'output'),
  amount(price, 'cacheRead'),
  price === undefined ? '' : pricesOf,
]

const seenRow = ({ title, version, wire, cells }: (typeof seen.rows)[number]): string[] => [
  ...[title, version, wire],
  ...CELLS.map(({ name }) => shownCell(cells[name] ?? {})),
]

const amount = (price: PresetPrice | undefined, of: 'input' | 'output' | 'cacheRead'): string =>
  price?.[of] === undefined ? '' : `${price[of]}`

/** Aligned, as the formatter has it. */
const table = (head: string[], rows: string[][]): string => {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((row) => Bun.stringWidth(row[at] ?? ''))))
  const line = (row: string[], fill: string): string =>
    `| ${row.map((cell, at) => cell + fill.repeat((widths[at] ?? 0) - Bun.stringWidth(cell))).join(' | ')} |`
  return [
    line(head, ' '),
    line(
      head.map(() => ''),
      '-',
    ),
    ...rows.map((row) => line(row, ' ')),
  ].join('\n')
}

if (import.meta.main) {
  await Bun.write(new URL('../docs/providers.md', import.meta.url), providersPage())
}
