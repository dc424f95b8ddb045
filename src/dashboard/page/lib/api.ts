// Calls of the admin API from the page, and what is shown of their failures.

import { type Answer, type Ask, adminRequest } from '../../../admin-api/request.ts'
import type { RouteName } from '../../../admin-api/routes.ts'

export type { Answer, Ask }

/** A refusal in the gateway's envelope; `status` 0: no answer came. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Whether the same question may get another answer in a moment: what is not there, or not allowed, stays so. */
export const mayPass = (error: Error): boolean =>
  !(error instanceof ApiError) || error.status < 400 || error.status >= 500 || error.status === 429

/** Set by the session: what to do when the server no longer knows us, or no longer as what we were. */
export const onRefused: { run: () => void } = { run: () => undefined }

/** Throws an ApiError. */
export const call = async <N extends RouteName>(name: N, input?: Ask<N>, signal?: AbortSignal): Promise<Answer<N>> => {
  const { method, path, body } = adminRequest(name, input)
  const answer = await send(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (!answer.ok) {
    const error = await errorOf(answer)
    if (name === 'session.sign-in' || name === 'session.password') throw error
    // Which asks for the session: where that is refused too, by a proxy, there is no more to ask.
    if ((error.status === 401 || error.status === 403) && name !== 'session.get') onRefused.run()
    // Said by the door of the admin API; other refusals have their own words.
    if (error.code !== 'missing_api_key') throw error
    throw new ApiError(error.status, error.code, 'Your session had ended: nothing was done. Try again.')
  }
  return jsonOf(answer)
}

/** How a key is shown. Throws an ApiError where no header can hold it: a placeholder, or what a chat put between. */
export const bearer = (secret: string): { authorization: string } => {
  if (/^[\x21-\x7e]+$/.test(secret)) return { authorization: `Bearer ${secret}` }
  throw new ApiError(
    401,
    'invalid_api_key',
    'This holds characters that no key has. Take the key itself: copy it again.',
  )
}

/** A GET of the client API or its documentation. Throws an ApiError. */
export const getJson = async <T>(path: string, headers: Record<string, string> = {}): Promise<T> => {
  const answer = await send(path, { headers })
  if (!answer.ok) throw await errorOf(answer)
  return jsonOf(answer)
}

const jsonOf = async <T>(answer: Response): Promise<T> => {
  try {
    return (await answer.json()) as T
  } catch {
    throw new ApiError(0, 'unreadable', 'What came is no answer of the gateway, or broke off. Reload the page.')
  }
}

/** Throws an ApiError where no answer came. */
export const send = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, { credentials: 'same-origin', redirect: 'error', ...init })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'unreachable', 'The gateway did not answer. Check that it is running and try again.')
  }
}

export const errorOf = async (answer: Response): Promise<ApiError> => {
  try {
    const body = (await answer.json()) as { error: { code: string; message: string } }
    return new ApiError(answer.status, body.error.code, body.error.message)
  } catch {
    // Not in our envelope: most likely a proxy's.
    const message = `The gateway answered ${answer.status} without saying why. Try again in a moment.`
    return new ApiError(answer.status, 'unreadable', message)
  }
}
