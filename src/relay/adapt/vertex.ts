// Requests of the messages wire as Vertex AI takes them: the model and whether to stream stand in the path, the version in
// the body, and the token is one of Google's, renewed as it ends. Loaded for providers that ask for it.

import { GoogleAuth } from 'google-auth-library'
import { GatewayError } from '../../errors.ts'
import { readContainer, skipSpace } from '../../lib/json-scan.ts'
import { splice } from '../../lib/json-splice.ts'
import { textOf } from '../../lib/pieces.ts'
import type { Outgoing, Target } from '../target.ts'

const VERSION = '"vertex-2023-10-16"'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

const MESSAGES = /\/v1\/messages(\/count_tokens)?$/

/** The same request in Vertex's words; one that is not of the messages wire as it is. */
export const forVertex = ({ model }: Pick<Target, 'model'>, outgoing: Outgoing): Outgoing => {
  const url = new URL(outgoing.url)
  const found = MESSAGES.exec(url.pathname)
  if (found === null || outgoing.body === undefined) return outgoing
  const text = textOf(outgoing.body)
  const counts = found[1] !== undefined
  const name = counts ? 'count-tokens' : encodeURIComponent(model.upstream)
  const method = !counts && streams(text) ? 'streamRawPredict' : 'rawPredict'
  url.pathname = url.pathname.replace(MESSAGES, `/models/${name}:${method}`)
  // A count names its model in the body.
  const modelEdit = counts ? [] : [{ path: ['model'], value: undefined }]
  const body = splice(text, [...modelEdit, { path: ['anthropic_version'], value: VERSION }])
  return { ...outgoing, url: url.href, body }
}

const streams = (text: string): boolean => {
  const slots = readContainer(text, skipSpace(text, 0))?.slots ?? []
  return slots.some(({ key, valueStart, end }) => key === 'stream' && text.slice(valueStart, end) === 'true')
}

/** By the credentials that the machine has: a file that is named, those of its command line, or its own. */
let auth: GoogleAuth | undefined

/** The headers of a request with a token that is still good. Throws GatewayError where none is to be had. */
export const authorized = async (headers: Record<string, string>): Promise<Record<string, string>> => {
  auth ??= new GoogleAuth({ scopes: SCOPE })
  const token = await auth.getAccessToken().catch((cause) => {
    auth = undefined
    throw new GatewayError('upstream_error', 'Connection error: the provider could not be reached. Try again.', {
      cause,
      provider: { code: 'GoogleCredentials' },
    })
  })
  const { 'anthropic-version': _, ...rest } = headers
  return { ...rest, authorization: `Bearer ${token}` }
}
