// What a page shows, kept in its address: reload, back and sharing work.

import { useLocation } from 'preact-iso/router'

/** The address's query, and a way to change members of it; an empty value takes a member out. */
export const useQuery = (): [Record<string, string>, (change: Record<string, string>) => void] => {
  const { path, query, route } = useLocation()
  const change = (members: Record<string, string>): void => {
    const next = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...query, ...members })) if (value !== '') next.set(name, value)
    route(next.size > 0 ? `${path}?${next}` : path, true)
  }
  return [query, change]
}
