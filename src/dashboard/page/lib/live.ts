// The stream of finished exchanges: one connection for all who listen, closed when nobody does.

import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ADMIN_BASE, ROUTES } from '../../../admin-api/routes.ts'
import type { Counters, Exchange } from '../../../admin-api/schema.ts'
import { refreshSession } from './session.ts'

export type LiveState = 'connecting' | 'live' | 'lost'

export const liveState = signal<LiveState>('connecting')
export const counters = signal<Counters | undefined>(undefined)

/** How often the stream came back after it was lost: what ended between is to be fetched. */
export const returns = signal(0)

/** When a refused stream is asked for again. */
const AGAIN_MS = 5_000

const listeners = new Set<(exchange: Exchange) => void>()
let source: EventSource | undefined
let again: ReturnType<typeof setTimeout> | undefined

const open = (): void => {
  const mine = new EventSource(ADMIN_BASE + ROUTES.live.path)
  source = mine
  source.onopen = () => {
    if (liveState.value === 'lost') returns.value++
    liveState.value = 'live'
  }
  source.onerror = () => {
    liveState.value = 'lost'
    // A broken connection the browser mends by itself. A refusal it takes as final: a proxy's while the gateway starts
    // again, or the gateway's, when the session is over.
    if (mine.readyState !== EventSource.CLOSED) return
    void refreshSession()
    again = setTimeout(open, AGAIN_MS)
  }
  source.addEventListener('exchange', ({ data }) => {
    const exchange = JSON.parse(data) as Exchange
    for (const listener of listeners) listener(exchange)
  })
  source.addEventListener('counters', ({ data }) => {
    liveState.value = 'live'
    counters.value = JSON.parse(data) as Counters
  })
}

/** Calls the latest `heard` for every exchange that ends while the page is shown. */
export const useLive = (heard: (exchange: Exchange) => void): void => {
  const latest = useRef(heard)
  latest.current = heard
  useEffect(() => {
    const listener = (exchange: Exchange): void => latest.current(exchange)
    listeners.add(listener)
    if (source === undefined) {
      liveState.value = 'connecting'
      open()
    }
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      clearTimeout(again)
      source?.close()
      source = undefined
    }
  }, [])
}

/**
 * Exchanges that ended while the page is shown, newest first: the `most` last ones that are `wanted`. Anew whenever an
 * input changes.
 */
export const useEnded = (
  most: number,
  wanted: (exchange: Exchange) => boolean,
  inputs: readonly unknown[],
): Exchange[] => {
  const [ended, setEnded] = useState<Exchange[]>([])
  useEffect(() => setEnded([]), inputs)
  useLive((exchange) => {
    if (wanted(exchange)) setEnded((before) => [exchange, ...before].slice(0, most))
  })
  return ended
}
