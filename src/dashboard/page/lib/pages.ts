// Pages of a list, newest first, growing downwards on demand.

import { useEffect, useRef, useState } from 'preact/hooks'
import { type Resource, useAction, useResource } from './resource.ts'

/** `next` is the `before` of the following page; null on the last. */
export type Page<T> = { items: T[]; next: number | null }

export type Pages<T> = Resource<Page<T>> & { older: { busy: boolean; error: Error | undefined; run(): void } }

/**
 * `load` gives the first page without `before`. Starts over whenever an input changes; a reload asks for as many pages as
 * are shown.
 */
export const usePages = <T>(
  load: (before: { before?: number }, signal?: AbortSignal) => Promise<Page<T>>,
  inputs: readonly unknown[],
): Pages<T> => {
  const list = useRef({ pages: 1 })
  useEffect(() => {
    list.current = { pages: 1 }
  }, inputs)
  const page = useResource(async (signal) => {
    let all = await load({}, signal)
    for (let pages = 1; pages < list.current.pages && all.next !== null; pages++)
      all = joined(all, await load({ before: all.next }, signal))
    return all
  }, inputs)
  const latest = useRef(page.value)
  latest.current = page.value
  const [failed, setFailed] = useState<{ page: Page<T>; error: Error }>()
  const { busy, run } = useAction(async () => {
    const shown = page.value
    const asked = list.current
    if (shown === undefined || shown.next === null) return
    try {
      const next = await load({ before: shown.next })
      // What was asked for meanwhile is another list, or the same as it is now.
      if (asked !== list.current) return
      asked.pages++
      if (latest.current === shown) page.set(joined(shown, next))
      else page.reload()
    } catch (error) {
      setFailed({ page: shown, error: error as Error })
    }
  })
  const error = failed !== undefined && failed.page === page.value ? failed.error : undefined
  return { ...page, older: { busy, error, run: () => void run() } }
}

const joined = <T>(newer: Page<T>, older: Page<T>): Page<T> => ({
  items: [...newer.items, ...older.items],
  next: older.next,
})
