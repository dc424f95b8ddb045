// A gateway asked over the network, and why it could not be, in sentences for whoever typed.

import { parseJson } from '../ir/json.ts'
import { isLoopback, unspokenProxy } from '../lib/proxy.ts'
import { failure } from './io.ts'
import { inert } from './table.ts'

export const TIMEOUT_MS = 30_000

/** `body`: what came as JSON, undefined for anything else. */
export type Reply = { status: number; body: unknown; location: string | undefined }

/** `body`: JSON as text. `once`: the name by which it is known again when it is repeated. */
type Request = { method: string; secret: string; body?: string | undefined; once?: string | undefined }

/** Throws a Failure where nothing answers. */
export const reach = async (url: string, path: string, { method, secret, body, once }: Request): Promise<Reply> => {
  const to = new URL(url)
  const passedBy = isLoopback(to) ? undefined : unspokenProxy(to)
  if (passedBy !== undefined) {
    throw failure(
      `${passedBy.name} names a proxy of the scheme ${passedBy.scheme}, and only http and https are spoken; name ${to.hostname} in NO_PROXY to reach it directly.`,
    )
  }
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', accept: 'application/json' }
  try {
    const answer = await fetch(url + path, {
      method,
      headers: once === undefined ? headers : { ...headers, 'idempotency-key': once },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.text()
    return { status: answer.status, body: parseJson(text), location: answer.headers.get('location') ?? undefined }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      throw failure(`The gateway at ${url} did not answer within ${TIMEOUT_MS / 1000} s.`)
    }
    const reason = reasonOf(error)
    if (reason.includes('CERT') || reason.includes('VERIFY')) {
      throw failure(
        `The certificate of ${url} is not trusted (${reason}). If an authority of your own signed it, name its file in NODE_EXTRA_CA_CERTS.`,
      )
    }
    throw failure(`No gateway can be reached at ${url} (${reason}); is it running, and is the address right?`)
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no connection'

type Refusal = { code: string; message: string }

/** What a gateway says in place of an answer; undefined for what is not of its form. */
export const refusalIn = (body: unknown): Refusal | undefined => {
  const error = (body as { error?: Partial<Refusal> } | undefined)?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined
  return { code: error.code, message: inert(error.message).slice(0, 500) }
}
