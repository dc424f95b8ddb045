// Requests signed for Amazon, held against the algorithm as it is written down.

import { afterAll, describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, problemLine } from '../../../src/config.ts'
import { fromConfig } from '../../../src/gateway.ts'
import { awsScope } from '../../../src/provider/aws-scope.ts'
import { startGateway } from '../../support/gateway.ts'

const root = mkdtempSync(join(tmpdir(), 'sluice-signing-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const load = (yaml: string, env: Record<string, string>) => {
  writeFileSync(join(root, 'sluice.yaml'), yaml)
  return loadConfig({ env, cwd: root })
}

const AWS = {
  ...{ AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SESSION_TOKEN: 'a:session' },
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const YAML = 'providers: { bedrock: { preset: bedrock, auth: aws-sigv4 } }'

const sha = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** What the service makes of a request by itself: the signature that it should have. */
const expected = (url: URL, headers: Record<string, string>, body: string): string => {
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), ?SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? []
  const canonical = [
    'POST',
    url.pathname,
    '',
    ...names.split(';').map((name) => `${name}:${name === 'host' ? url.host : headers[name]}`),
    '',
    names,
    sha(body),
  ].join('\n')
  const at = headers['x-amz-date'] ?? ''
  const key = scope
    .split('/')
    .reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${AWS.AWS_SECRET_ACCESS_KEY}`)
  return createHmac('sha256', key)
    .update(['AWS4-HMAC-SHA256', at, scope, sha(canonical)].join('\n'))
    .digest('hex')
}

test('a request is signed for the service and region of its host, over its body; the secret is not sent', async () => {
  const loaded = load(YAML, AWS)
  if (!loaded.ok) throw new Error(loaded.problems.map(problemLine).join('\n'))
  const gateway = await startGateway({})
  const sent: { url: URL; headers: Record<string, string>; body: string }[] = []
  Object.assign(gateway.server.gateway, fromConfig(loaded.config))
  gateway.server.gateway.fetch = Object.assign(
    async (url: string | URL | Request, init?: RequestInit) => {
      sent.push({
        url: new URL(`${url}`),
        headers: Object.fromEntries(new Headers(init?.headers)),
        body: `${init?.body}`,
      })
      return Response.json({ message: 'no' }, { status: 418 })
    },
    { preconnect: () => undefined },
  )
  const messages = [{ role: 'user', content: 'Sāla — សួស្តី' }]
  await gateway.post('/v1/chat/completions', { model: 'claude-opus-4-8', messages })
  await gateway.stop()
  const [first] = sent
  if (first === undefined) throw new Error('nothing was sent')
  const { url, headers, body } = first
  expect(url.href).toBe('https://bedrock-mantle.eu-west-1.api.aws/anthropic/v1/messages')
  expect(headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock-mantle\/aws4_request, SignedHeaders=[\w;-]*host[\w;-]*, Signature=[0-9a-f]{64}$/,
  )
  expect(headers.authorization).toEndWith(expected(url, headers, body))
  expect(headers['x-amz-security-token']).toBe('a:session')
  expect(headers['anthropic-version']).toBe('2023-06-01')
  expect(JSON.parse(body).model).toBe('anthropic.claude-opus-4-8')
  expect(JSON.stringify(sent)).not.toContain(AWS.AWS_SECRET_ACCESS_KEY)
})

test.each([
  ['bedrock-mantle.eu-west-1.api.aws', { service: 'bedrock-mantle', region: 'eu-west-1' }],
  ['bedrock-runtime.us-gov-west-1.amazonaws.com', { service: 'bedrock', region: 'us-gov-west-1' }],
  ['vpce-1.example', undefined],
  ['eu-west-1.api.aws', undefined],
])('the host %s is of %j', (host, scope) => {
  expect(awsScope(host)).toEqual(scope)
})

describe('a configuration that cannot sign', () => {
  test.each([
    [
      'providers: { bedrock: { preset: bedrock, auth: aws-sigv4, accounts: [{ name: m, base_url: "https://x.test", credential: env:K }] } }',
      'providers.bedrock.auth: found aws-sigv4 beside the host x.test of account m',
    ],
    [
      'providers: { bedrock: { preset: bedrock, auth: aws-sigv4, accounts: [{ name: m, credential: env:ONE }] } }',
      'found a credential of account m that signs nothing, allowed: ACCESS_KEY_ID:SECRET_ACCESS_KEY',
    ],
  ])('%s', (yaml, message) => {
    const loaded = load(yaml, { ...AWS, K: 'id:secret', ONE: 'only-one' })
    expect(loaded.ok ? [] : loaded.problems.map(problemLine)).toEqual([expect.stringContaining(message)])
  })

  test('says which variables it lacks', () => {
    const loaded = load(YAML, { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'x' })
    expect(loaded.ok && loaded.config.warnings).toContain(
      'providers.bedrock has no account: set AWS_SECRET_ACCESS_KEY, or list one',
    )
  })
})
