// What a page shows, kept in its address: reload, back and sharing work.

import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'

const seen = new Map<string, string>()

/** The address a page of filters was last seen at, for the way back to it. */
export const lastSeen = (path: string): string => seen.get(path) ?? path

/** The address's query, and a way to change members of it; an empty value takes a member out. */
export const useQuery = (): [Record<string, string>, (change: Record<string, string>) => void] => {
  const { path, query, route, url } = useLocation()
  useEffect(() => {
    seen.set(path, url)
  }, [path, url])
  const change = (members: Record<string, string>): void => {
    // The address of now: who asks may have waited since it was drawn.
    const next = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(members)) {
      if (value === '') next.delete(name)
      else next.set(name, value)
    }
    route(next.size > 0 ? `${path}?${next}` : path, true)
  }
  return [query, change]
}
