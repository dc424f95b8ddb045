// Pages of a list, newest first, growing downwards on demand.

import { useRef } from 'preact/hooks'
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
  const { busy, error, run } = useAction(async () => {
    const shown = page.value
    if (shown === undefined || shown.next === null) return
    const next = await load({ before: shown.next })
    // What was asked for meanwhile is another list.
    if (latest.current === shown) page.set({ items: [...shown.items, ...next.items], next: next.next })
  })
  return { ...page, older: { busy, error, run: () => void run() } }
}
