// The client's own word for what a request is billed as: a project, a customer, a job.

import { invalidRequest } from '../errors.ts'

const TAG_HEADER = 'x-gateway-tag'
const TAG = /^[\x20-\x7e]{1,64}$/

/** Undefined where there is none. Throws `invalid_request` for one that could not be shown as it was sent. */
export const tagOf = (headers: Headers): string | undefined => {
  const tag = headers.get(TAG_HEADER)?.trim() ?? ''
  if (tag === '') return undefined
  if (TAG.test(tag)) return tag
  throw invalidRequest(
    `${TAG_HEADER}: expected 1 to 64 letters, digits, spaces and signs of ASCII. Shorten it, or leave it out.`,
    TAG_HEADER,
  )
}
