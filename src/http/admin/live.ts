// The live stream: a frame `exchange` as each one ends, and `counters` every two seconds. It ends with the right to see it.

import type * as S from '../../admin-api/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { iso } from '../../lib/iso-time.ts'
import { writeFrame } from '../../lib/sse.ts'
import { type Call, type Caller, isFactorDue, keysOf, limitedMember, type Part } from './call.ts'
import { endedView, exchangeView, refusedView, seenBy } from './view.ts'

const COUNTERS_MS = 2_000
/** Of one session or token: what a browser opens to one server, for all of its tabs. */
const MOST_AT_ONCE = 6
/** Frames a slow page may be behind; past them it misses some, and nothing piles up. */
const MOST_WAITING = 256

export const live: Part<'live'> = {
  live: (call) => {
    if (call.gateway.live.watching(nameOf(call.caller)) >= MOST_AT_ONCE) {
      throw new GatewayError('rate_limit_exceeded', `Live views are open ${MOST_AT_ONCE} times already: close one.`, {
        retryAfterMs: COUNTERS_MS,
      })
    }
    call.headers.set('content-type', 'text/event-stream; charset=utf-8')
    call.headers.set('x-accel-buffering', 'no')
    // The framework reads the body of what answers a HEAD to its end, and this has none.
    const body = call.request.method === 'HEAD' ? null : streamOf(call)
    return new Response(body, { headers: call.headers })
  },
}

const nameOf = (caller: Caller): string =>
  caller.kind === 'session' ? caller.session.hash : caller.kind === 'token' ? caller.token.id : caller.kind

const streamOf = (call: Call): ReadableStream<Uint8Array> => {
  const { gateway, caller } = call
  const { signal: gone } = call.request
  const utf8 = new TextEncoder()
  const member = limitedMember(caller)
  let end = (): void => undefined
  return new ReadableStream<Uint8Array>(
    {
      start(out) {
        const send = (event: string, data: S.Exchange | S.Counters): void => {
          if ((out.desiredSize ?? 0) <= 0) return
          out.enqueue(utf8.encode(writeFrame({ event, data: JSON.stringify(data) })))
        }
        const unwatch = gateway.live.watch(
          (exchange, summary) => {
            if (member !== undefined && exchange.key.ownerId !== member.id) return
            send('exchange', seenBy(caller, endedView(gateway, exchange, summary)))
          },
          nameOf(caller),
          (refusal) => {
            if (member !== undefined && gateway.store.keys.get(refusal.keyId)?.ownerId !== member.id) return
            send('exchange', refusedView(gateway, refusal))
          },
          (row) => {
            if (member !== undefined && gateway.store.keys.get(row.keyId)?.ownerId !== member.id) return
            send('exchange', seenBy(caller, exchangeView(gateway, row)))
          },
        )
        let isOver = false
        const tell = async (): Promise<void> => {
          const may = await stillMay(gateway, caller).catch(() => false)
          if (isOver) return
          if (may && !gateway.draining) send('counters', countersOf(call))
          else finish()
        }
        const counters = setInterval(() => void tell(), COUNTERS_MS)
        counters.unref()
        end = () => {
          isOver = true
          clearInterval(counters)
          unwatch()
          gone.removeEventListener('abort', end)
          gateway.listener?.streamed(call.request)
        }
        const finish = (): void => {
          end()
          out.close()
        }
        gone.addEventListener('abort', end, { once: true })
        send('counters', countersOf(call))
      },
      cancel: () => end(),
    },
    { highWaterMark: MOST_WAITING },
  )
}

/** A session may have ended, a token been revoked, a role been taken since. */
const stillMay = async (gateway: Gateway, caller: Caller): Promise<boolean> => {
  const { membership } = gateway
  if (caller.kind === 'session') {
    const member = (await membership.session(caller.secret))?.member
    return member?.role === caller.session.member.role && !(await isFactorDue(gateway, member))
  }
  return caller.kind === 'token' && (await membership.token(caller.secret)) !== undefined
}

/** A member is told of their own exchanges only. */
const countersOf = (call: Call): S.Counters => {
  const { gateway, caller } = call
  const member = limitedMember(caller)
  const own = member && new Set(keysOf(call).map((key) => key.id))
  return {
    at: iso(gateway.clock()),
    open_exchanges: gateway.ledger.openCount(own),
    ...gateway.live.counts(member?.id),
  }
}
