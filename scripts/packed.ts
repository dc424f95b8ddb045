// What of the build lies as files within the binary: large tables and texts, compressed, and libraries that no start needs. As
// modules of the program they take several times the room, once as source and once as bytecode.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BunPlugin } from 'bun'
import { ROOT } from './run.ts'

/** What a file of the sources, or of a library, is as the value of its default export. `ends`: its path. */
type Packed = { name: string; ends: string; as: 'json' | 'text'; value: () => Promise<unknown> }

const ofModule = (name: string, ends: string, id: string): Packed => ({
  ...{ name, ends, as: 'json' },
  value: async () => ((await import(Bun.resolveSync(id, ROOT))) as { default: unknown }).default,
})

/**
 * The bundler would write the folder of this checkout in their place. Libraries use them to find files for threads of theirs, which
 * no compiled file has; ours use import.meta.
 */
export const PLACELESS = { __dirname: '"/"', __filename: '"/sluice"' }

const PAGE = 'src/dashboard/dist/page.bundle'

const PACKED: readonly Packed[] = [
  ofModule(
    'tokens',
    'gpt-tokenizer/esm/bpeRanks/o200k_base.js',
    `${ROOT}/node_modules/gpt-tokenizer/esm/bpeRanks/o200k_base.js`,
  ),
  ...['passwords', 'diceware'].map((name) =>
    ofModule(
      name,
      `language-common/dist/${name}.json.mjs`,
      `${ROOT}/node_modules/@zxcvbn-ts/language-common/dist/${name}.json.mjs`,
    ),
  ),
  { name: 'page', ends: PAGE, as: 'text', value: () => Bun.file(join(ROOT, PAGE)).text() },
]

/** Loaded where they are first used: bytecode would spare them some milliseconds then. */
const APART = [
  ...['nodemailer', 'google-auth-library', '@smithy/signature-v4', '@opentelemetry/otlp-transformer'],
  ...['@decimalturn/toml-patch', 'jsonc-parser', 'yaml'],
]

/** Never asked for: the framework would look into uploads with it, and bodies are read by ourselves. */
const LEFT_OUT = 'file-type'

/** Writes the files, which have to be there before a build looks around, and gives the plugin that puts them in place. */
export const packed = async (): Promise<BunPlugin> => {
  const folder = join(ROOT, 'dist/packed')
  mkdirSync(folder, { recursive: true })
  const tables = await Promise.all(PACKED.map((each) => tableOf(each, folder)))
  const libraries = new Map<string, string>()
  for (const id of APART) libraries.set(id, await libraryOf(id, folder))
  return {
    name: 'packed',
    setup(build) {
      for (const { ends, contents } of tables)
        build.onLoad({ filter: new RegExp(`${RegExp.escape(ends)}$`) }, () => ({ loader: 'js', contents }))
      build.onResolve({ filter: /./ }, ({ path }) => (libraries.has(path) ? { path, namespace: 'apart' } : undefined))
      build.onLoad({ filter: new RegExp(`/node_modules/${LEFT_OUT}/`) }, () => ({
        loader: 'js',
        contents: "throw new Error('it is not in this build')",
      }))
      build.onLoad({ filter: /./, namespace: 'apart' }, ({ path }) => ({
        loader: 'js',
        contents: libraries.get(path) ?? '',
      }))
    },
  }
}

const embedded = (path: string): string => `import file from ${JSON.stringify(path)} with { type: 'file' }`

/** Its table as a file; `contents`: of the module that stands in its place. */
const tableOf = async ({ name, ends, as, value }: Packed, folder: string) => {
  const table = await value()
  const text = as === 'json' ? JSON.stringify(table) : String(table)
  if (as === 'json' && !Bun.deepEquals(JSON.parse(text), table, true))
    throw new Error(`${ends} is more than JSON holds.`)
  const path = join(folder, `${name}.zst`)
  writeFileSync(path, Bun.zstdCompressSync(text, { level: 22 }))
  const contents = [
    "import { readFileSync } from 'node:fs'",
    "import { zstdDecompressSync } from 'node:zlib'",
    embedded(path),
    'const text = zstdDecompressSync(readFileSync(file)).toString()',
    `export default ${as === 'json' ? 'JSON.parse(text)' : 'text'}`,
  ].join('\n')
  return { ends, contents }
}

/** A library in one file of its own; returns the module that stands in its place. */
export const libraryOf = async (id: string, folder: string): Promise<string> => {
  const given = Object.keys((await import(Bun.resolveSync(id, ROOT))) as object)
  const names = given.filter((each) => !['default', 'module.exports', '__esModule'].includes(each)).join(', ')
  const name = id.replaceAll(/\W+/g, '-')
  // As the bundler finds it, which may be another file than the runtime's. It lies nowhere: a file of its name beside the
  // other was taken in its place, where the bundler had looked into the folder before the other was written.
  const entry = join(ROOT, `${name}.mts`)
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    files: { [entry]: `export { ${names} } from ${JSON.stringify(id)}\n` },
    ...{ target: 'bun', format: 'esm', sourcemap: 'none' },
    minify: { syntax: true, whitespace: true },
    define: PLACELESS,
  })
  const [output] = outputs
  if (output === undefined) throw new Error(`${id} was not bundled.`)
  const path = join(folder, `${name}.js`)
  writeFileSync(path, await output.text())
  return [embedded(path), `export const { ${names} } = await import(file)`].join('\n')
}
