// A stand-in for Google's token service, and credentials that lead to it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const GOOGLE_TOKEN = 'ya29.stand-in'

export type Google = { asked: number; stop(): Promise<void> }

/** For as long as it runs, the environment names its credentials. */
export const startGoogle = (): Google => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-google-'))
  const before = process.env.GOOGLE_APPLICATION_CREDENTIALS
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => {
      google.asked += 1
      const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token'
      return Response.json({ access_token: GOOGLE_TOKEN, issued_token_type, token_type: 'Bearer', expires_in: 3600 })
    },
  })
  const google: Google = {
    asked: 0,
    stop: async () => {
      if (before === undefined) delete process.env.GOOGLE_APPLICATION_CREDENTIALS
      else process.env.GOOGLE_APPLICATION_CREDENTIALS = before
      await server.stop(true)
      rmSync(folder, { recursive: true, force: true })
    },
  }
  const [subject, credentials] = [join(folder, 'subject'), join(folder, 'credentials.json')]
  writeFileSync(subject, 'a-subject-token')
  writeFileSync(
    credentials,
    JSON.stringify({
      ...{ type: 'external_account', audience: '//iam.googleapis.com/x', credential_source: { file: subject } },
      ...{ subject_token_type: 'urn:ietf:params:oauth:token-type:jwt', token_url: `http://127.0.0.1:${server.port}/t` },
    }),
  )
  process.env.GOOGLE_APPLICATION_CREDENTIALS = credentials
  return google
}
