// Requests signed for Amazon (SigV4): the credential itself is never sent. Loaded for providers that ask for it.

import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { Pieces } from '../../lib/pieces.ts'
import { awsScope } from '../../provider/aws-scope.ts'
import type { Outgoing, Target } from '../target.ts'

type Source = string | ArrayBuffer | ArrayBufferView

class Sha256 {
  readonly #hash

  constructor(secret?: Source) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }
  update(data: Source): void {
    this.#hash.update(bytesOf(data))
  }
  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest())
  }
}

const bytesOf = (source: Source): Uint8Array => {
  if (typeof source === 'string') return new TextEncoder().encode(source)
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source)
}

/** The headers of a request with its signature among them. */
export const signed = async (
  { account }: Target,
  { method = 'POST', url, body }: Outgoing,
  headers: Record<string, string>,
): Promise<Record<string, string>> => {
  const { protocol, host, hostname, pathname, searchParams } = new URL(url)
  const scope = awsScope(host)
  if (scope === undefined) throw new Error(`no service and region can be told of ${host}`)
  const [accessKeyId = '', secretAccessKey = '', ...token] = account.credential.split(':')
  const sessionToken = token.join(':')
  const signer = new SignatureV4({
    ...scope,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === '' ? {} : { sessionToken }) },
    sha256: Sha256,
  })
  const request = await signer.sign({
    ...{ method, protocol, hostname, path: pathname, query: Object.fromEntries(searchParams) },
    headers: { ...headers, host },
    // It is read later.
    ...(body === undefined ? {} : { body: body instanceof Pieces ? body.copied() : body }),
  })
  const { host: _, ...rest } = request.headers
  return rest
}
