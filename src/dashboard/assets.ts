// Where the page's files come from: embedded in the binary, bundled in memory when run from source.

import type { Asset, Bundle } from './bundle.ts'

/** A file of the page with its compressed form. */
type Served = Asset & { gzip: Uint8Array<ArrayBuffer> }
export type Page = Omit<Bundle, 'assets'> & { assets: ReadonlyMap<string, Served> }

let page: Promise<Page> | undefined

/** The page's files, made once. After a failure the next call tries again. */
export const loadPage = (): Promise<Page> => {
  page ??= load().catch((error: unknown) => {
    page = undefined
    throw error
  })
  return page
}

const load = async (): Promise<Page> => {
  const { assets, ...names } = await readBundle()
  return {
    ...names,
    assets: new Map(assets.map((asset) => [asset.name, { ...asset, gzip: Bun.gzipSync(asset.text, { level: 9 }) }])),
  }
}

const readBundle = async (): Promise<Bundle> => {
  // The build of the binary sets this, after writing the file; from source neither is there, and a stale file is not read.
  if (process.env.SLUICE_EMBEDDED_PAGE === 'yes') {
    const embedded = await import('./dist/page.bundle', { with: { type: 'text' } })
    return JSON.parse(embedded.default) as Bundle
  }
  const { bundlePage } = await import('./bundle.ts')
  return bundlePage()
}
