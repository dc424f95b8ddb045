// The stream of finished exchanges: one connection for all who listen, closed when nobody does.

import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ADMIN_BASE, ROUTES } from '../../../admin-api/routes.ts'
import type { Counters, Exchange } from '../../../admin-api/schema.ts'
import { refreshSession } from './session.ts'

type LiveState = 'connecting' | 'live' | 'lost'

export const liveState = signal<LiveState>('connecting')
export const counters = signal<Counters | undefined>(undefined)

/** How often the stream came back after it was lost: what ended between is to be fetched. */
export const returns = signal(0)

/** Many exchanges may end at once: what is on screen is drawn this often at most. */
const SHOW_MS = 150

/** When a refused stream is asked for again. */
const AGAIN_MS = 5_000

/** The server counts every two seconds: one that is silent for so long is not there, whatever the connection says. */
const SILENT_MS = 12_000

const listeners = new Set<(exchange: Exchange) => void>()
let source: EventSource | undefined
let again: ReturnType<typeof setTimeout> | undefined
let silence: ReturnType<typeof setTimeout> | undefined
let missed = false

const close = (): void => {
  clearTimeout(again)
  clearTimeout(silence)
  source?.close()
  source = undefined
}

const lose = (): void => {
  liveState.value = 'lost'
  missed = true
}

const open = (): void => {
  const mine = new EventSource(ADMIN_BASE + ROUTES.live.path)
  source = mine
  heard()
  source.onopen = () => {
    heard()
    if (missed) returns.value++
    missed = false
    liveState.value = 'live'
  }
  source.onerror = () => {
    lose()
    // A broken connection the browser mends by itself. A refusal it takes as final: a proxy's while the gateway starts
    // again, or the gateway's, when the session is over.
    if (mine.readyState !== EventSource.CLOSED) return
    clearTimeout(silence)
    void refreshSession()
    again = setTimeout(open, AGAIN_MS)
  }
  source.addEventListener('exchange', ({ data }) => {
    const exchange = JSON.parse(data) as Exchange
    for (const listener of listeners) listener(exchange)
  })
  source.addEventListener('counters', ({ data }) => {
    heard()
    liveState.value = 'live'
    counters.value = JSON.parse(data) as Counters
  })
}

const heard = (): void => {
  clearTimeout(silence)
  silence = setTimeout(() => {
    lose()
    close()
    open()
  }, SILENT_MS)
}

/** A browser has six connections to a server, for all of its tabs: one that nobody looks at gives its own back. */
const follow = (): void => {
  if (listeners.size === 0 || document.hidden) close()
  else if (source === undefined) {
    liveState.value = 'connecting'
    open()
  }
}

document.addEventListener('visibilitychange', () => {
  missed = true
  follow()
})

/** Calls the latest `ended` for every exchange that ends while the page is shown. */
export const useLive = (ended: (exchange: Exchange) => void): void => {
  const latest = useRef(ended)
  latest.current = ended
  useEffect(() => {
    const listener = (exchange: Exchange): void => latest.current(exchange)
    if (listeners.size === 0) missed = false
    listeners.add(listener)
    follow()
    return () => {
      listeners.delete(listener)
      follow()
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
  const came = useRef<Exchange[]>([])
  useEffect(() => {
    came.current = []
    setEnded([])
  }, inputs)
  const show = useAfter(SHOW_MS, () => {
    const fresh = came.current
    came.current = []
    setEnded((before) => [...fresh, ...before].slice(0, most))
  })
  useLive((exchange) => {
    if (!wanted(exchange)) return
    came.current.unshift(exchange)
    if (came.current.length > most) came.current.length = most
    show()
  })
  return ended
}

/** Calls `moved` a while after exchanges that are `wanted` have ended: once for all that end in that time. */
export const useAfterTraffic = (ms: number, moved: () => void, wanted: (exchange: Exchange) => boolean): void => {
  const move = useAfter(ms, moved)
  useLive((exchange) => {
    if (wanted(exchange)) move()
  })
}

/** A call of the latest `act` in a while; those that are asked for until then are the same one. */
const useAfter = (ms: number, act: () => void): (() => void) => {
  const latest = useRef(act)
  latest.current = act
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      latest.current()
    }, ms)
  }
}
