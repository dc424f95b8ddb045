// Receivers of alerts for tests: a webhook on a port of its own that answers as it is told, and what it was sent.

import type { Alert, Delivery, DeliveryEnd, Receiver } from '../../src/alerts/alert.ts'

export type Hook = {
  url: string
  /** All that came, answered or not, in order. */
  requests: { headers: Headers; text: string }[]
  /** What it does with the next ones. */
  behave(how: Behaviour): void
  /** Resolves once so many have come in all. */
  until(count: number): Promise<void>
  stop(): Promise<void>
}

type Behaviour = 'take' | 'hang' | number | ((index: number, id: string) => Response | 'hang')

export const startHook = (port = 0): Hook => {
  let how: Behaviour = 'take'
  const requests: Hook['requests'] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const ends: (() => void)[] = []
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: async (request) => {
      const text = await request.text()
      requests.push({ headers: request.headers, text })
      const chosen = typeof how === 'function' ? how(requests.length - 1, request.headers.get('webhook-id') ?? '') : how
      for (const each of waiting) if (requests.length >= each.count) each.resolve()
      if (chosen === 'hang') {
        const { promise, resolve } = Promise.withResolvers<Response>()
        ends.push(() => resolve(new Response(null, { status: 503 })))
        return promise
      }
      if (chosen instanceof Response) return chosen
      return new Response(null, { status: chosen === 'take' ? 204 : chosen })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    requests,
    behave: (next) => {
      how = next
    },
    until: async (count) => {
      if (requests.length >= count) return
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ count, resolve })
      await promise
    },
    stop: async () => {
      for (const end of ends) end()
      await server.stop(true)
    },
  }
}

export const webhook = (name: string, url: string, more: Partial<Receiver> = {}): Receiver =>
  ({ kind: 'webhook', name, url, format: 'json', secret: 'shared', only: undefined, ...more }) as Receiver

export const alertOf = (id: string, at = 0, text = `Something about ${id}.`): Alert => ({
  ...{ id, type: 'quota', at, more: 0 },
  items: [{ cause: `quota/${id}`, text, key: id }],
})

/** Pauses that end when the test says so. */
export const createPauses = () => {
  const open: { run: () => void; delayMs: number }[] = []
  return {
    later: (run: () => void, delayMs: number): Timer => {
      open.push({ run, delayMs })
      return setTimeout(() => undefined, 0)
    },
    /** Their lengths so far. */
    lengths: () => open.map(({ delayMs }) => delayMs),
    /** Ends the one that was begun last. */
    end: () => open.at(-1)?.run(),
  }
}

/** What became of deliveries, each of which can be waited for. */
export const createEnds = () => {
  const ends: { id: string; receiver: string; end: DeliveryEnd }[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  return {
    ends,
    closed: ({ alert, receiver }: Delivery, end: DeliveryEnd): void => {
      ends.push({ id: alert.id, receiver, end })
      for (const each of waiting) if (ends.length >= each.count) each.resolve()
    },
    until: async (count: number): Promise<void> => {
      if (ends.length >= count) return
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ count, resolve })
      await promise
    },
  }
}
