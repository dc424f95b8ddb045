// The page as assets: bundled by Bun, hashed names. `scripts/build.ts` does it ahead for the binary; a server that runs
// from source does it once, at the first request.

import { join } from 'node:path'
import type { BunPlugin } from 'bun'

/** A file of the page. `name` carries a hash of its content, so that it may be cached for ever. */
export type Asset = { name: string; type: string; text: string }

/** `theme` runs before the first paint, `script` starts the page; all of them name assets. */
export type Bundle = { theme: string; script: string; styles: string[]; icon: string; assets: Asset[] }

const PAGE = join(import.meta.dir, 'page')
const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Throws what the bundler says where the page does not compile. */
export const bundlePage = async (): Promise<Bundle> => {
  const [main, theme] = await Promise.all([build('main.tsx', 'esm'), build('theme-early.ts', 'iife')])
  const icon = await iconAsset()
  const script = main.find((asset) => asset.name.startsWith('main-') && asset.name.endsWith('.js'))
  const early = theme[0]
  if (script === undefined || early === undefined) throw new Error('the page bundled to nothing')
  return {
    theme: early.name,
    script: script.name,
    styles: main.filter((asset) => asset.name.endsWith('.css')).map((asset) => asset.name),
    icon: icon.name,
    assets: [...main, early, icon],
  }
}

/**
 * Nothing stands for the runtime's buffers: the decoders of the wires, which the playground reads answers by, never reach for
 * them in a page, and the bundler's stand-in weighs 28 KB.
 */
export const WITHOUT_BUFFERS: BunPlugin = {
  name: 'without-buffers',
  setup: (bundler) => {
    bundler.onResolve({ filter: /^node:buffer$/ }, ({ path }) => ({ path, namespace: 'nothing' }))
    bundler.onLoad({ filter: /^/, namespace: 'nothing' }, () => ({ contents: 'module.exports = {}', loader: 'js' }))
  },
}

const build = async (entry: string, format: 'esm' | 'iife'): Promise<Asset[]> => {
  const built = await Bun.build({
    entrypoints: [join(PAGE, entry)],
    target: 'browser',
    format,
    splitting: format === 'esm',
    minify: true,
    sourcemap: 'none',
    naming: { entry: '[name]-[hash].[ext]', chunk: 'part-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [WITHOUT_BUFFERS],
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
  })
  return Promise.all(
    built.outputs.map(async (output) => {
      const name = output.path.replace(/^.*[\\/]/, '')
      return { name, type: TYPES[name.replace(/^.*\./, '')] ?? 'application/octet-stream', text: await output.text() }
    }),
  )
}

const iconAsset = async (): Promise<Asset> => {
  const text = await Bun.file(join(PAGE, 'icon.svg')).text()
  return { name: `icon-${Bun.hash(text).toString(36)}.svg`, type: TYPES.svg ?? '', text }
}
