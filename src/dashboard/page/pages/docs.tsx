// Documentation: guides for common clients, and the operations of the API read from its own document.

import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Guide } from '../../../http/guide.ts'
import { getJson } from '../lib/api.ts'
import { API_ORIGIN } from '../lib/origin.ts'
import { useResource } from '../lib/resource.ts'
import { Brand, ThemeButton } from '../ui/frame.tsx'
import { Loaded, Snippet, useTitle } from '../ui/parts.tsx'
import { type Document, Operations } from './operations.tsx'

export const Docs = () => {
  const { path } = useLocation()
  const loaded = useResource(
    async () => ({
      guides: await getJson<Guide[]>('/docs/guides.json'),
      document: await getJson<Document>('/docs/openapi.json'),
    }),
    [],
  )
  const name = /^\/docs\/guides\/([^/]+)/.exec(path)?.[1]
  const guide = loaded.value?.guides.find((each) => each.name === name)
  useTitle(guide?.title ?? 'API reference')
  return (
    <div class="frameless">
      <header>
        <Brand />
        <ThemeButton />
      </header>
      <Loaded of={loaded} lines={12}>
        {({ guides, document: api }) => (
          <div class="docs">
            <nav aria-label="Documentation">
              <a href="/docs" aria-current={guide ? undefined : 'page'}>
                API reference
              </a>
              <span class="group">Guides</span>
              {guides.map((each) => (
                <a
                  key={each.name}
                  href={`/docs/guides/${each.name}`}
                  aria-current={each === guide ? 'page' : undefined}
                >
                  {each.title}
                </a>
              ))}
            </nav>
            <main>{guide ? <GuideText key={guide.name} of={guide} /> : <Operations of={api} />}</main>
          </div>
        )}
      </Loaded>
    </div>
  )
}

const GuideText = ({ of }: { of: Guide }) => {
  const pieces = useMemo(() => piecesOf(of.html.replaceAll('{base_url}', API_ORIGIN)), [of])
  return (
    <article class="prose">
      <h1>{of.title}</h1>
      {pieces.map(({ html, code }, index) =>
        code === undefined ? (
          <div key={index} class="prose" dangerouslySetInnerHTML={{ __html: html }} />
        ) : (
          <Snippet key={index} text={code} />
        ),
      )}
    </article>
  )
}

type Piece = { html: string; code?: string }

/** Code to paste, and the HTML between. */
const piecesOf = (html: string): Piece[] => {
  const { body } = new DOMParser().parseFromString(html, 'text/html')
  // A wide one is moved sideways: the keyboard must reach it.
  for (const table of body.querySelectorAll('table')) table.tabIndex = 0
  return [...body.children].reduce<Piece[]>((before, element) => {
    const last = before.at(-1)
    if (element.tagName === 'PRE') before.push({ html: '', code: (element.textContent ?? '').trimEnd() })
    else if (last !== undefined && last.code === undefined) last.html += element.outerHTML
    else before.push({ html: element.outerHTML })
    return before
  }, [])
}
