// Calls of the admin API from the page, and what is shown of their failures.

import { type Answer, type Ask, adminRequest } from '../../../admin-api/request.ts'
import type { RouteName } from '../../../admin-api/routes.ts'

export type { Answer, Ask }

/** A refusal in the gateway's envelope; `status` 0: no answer came. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** The member of the request at fault, or that it lacks. */
  readonly param: string | null

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
  }
}

/** Whether the same question may get another answer in a moment: what is not there, or not allowed, stays so. */
export const mayPass = (error: Error): boolean =>
  !(error instanceof ApiError) || error.status < 400 || error.status >= 500 || error.status === 429

/** Set by the session: what to do when the server no longer knows us, or no longer as what we were. */
export const onRefused: { run: () => void } = { run: () => undefined }

/** Set by the page: asks for the password again; resolves with whether it was given. */
export const onProof: { ask: () => Promise<boolean> } = { ask: async () => false }

/** Who is at the page says who they are: what is refused then is the password. */
const AT_THE_DOOR: ReadonlySet<RouteName> = new Set([
  'session.sign-in',
  'session.password',
  'session.prove',
  'invitation.accept',
])

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
    if (AT_THE_DOOR.has(name)) throw error
    if (error.status === 403 && error.param === 'password') {
      if (await onProof.ask()) return call(name, input, signal)
      throw new ApiError(error.status, error.code, 'Nothing was done: it needs your password.')
    }
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
    const { error } = (await answer.json()) as { error: { code: string; message: string; param?: string | null } }
    return new ApiError(answer.status, error.code, error.message, error.param ?? null)
  } catch {
    // Not in our envelope: most likely a proxy's.
    const message = `The gateway answered ${answer.status} without saying why. Try again in a moment.`
    return new ApiError(answer.status, 'unreadable', message)
  }
}
