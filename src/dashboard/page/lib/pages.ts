// Pages of a list, newest first, growing downwards on demand.

import { useRef, useState } from 'preact/hooks'
import { type Resource, useAction, useResource } from './resource.ts'

/** `next` is the `before` of the following page; null on the last. */
export type Page<T> = { items: T[]; next: number | null }

export type Pages<T> = Resource<Page<T>> & { older: { busy: boolean; error: Error | undefined; run(): void } }

/** `load` gives the first page without `before`. Starts over whenever an input changes. */
export const usePages = <T>(
  load: (before: { before?: number }, signal?: AbortSignal) => Promise<Page<T>>,
  inputs: readonly unknown[],
): Pages<T> => {
  const page = useResource((signal) => load({}, signal), inputs)
  const latest = useRef(page.value)
  latest.current = page.value
  const [failed, setFailed] = useState<{ page: Page<T>; error: Error }>()
  const { busy, run } = useAction(async () => {
    const shown = page.value
    if (shown === undefined || shown.next === null) return
    try {
      const next = await load({ before: shown.next })
      // What was asked for meanwhile is another list.
      if (latest.current === shown) page.set({ items: [...shown.items, ...next.items], next: next.next })
    } catch (error) {
      setFailed({ page: shown, error: error as Error })
    }
  })
  const error = failed !== undefined && failed.page === page.value ? failed.error : undefined
  return { ...page, older: { busy, error, run: () => void run() } }
}
