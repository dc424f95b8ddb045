// A refusal that tells a client's tool, or a member of its schema, by a name that is also a word for money is about the tool:
// the account goes on.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

let provider: Scripted
let gateway: TestGateway
let words = ''
beforeAll(async () => {
  provider = await startScripted(() => json({ error: { message: words, type: 'invalid_request_error' } }, 400))
  gateway = await startGateway({
    config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'] }),
  })
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})

const NAMES = ['balance', 'payments', 'get-balance', 'budget', 'credit']

const codeOf = async (name: string, message: string): Promise<string | null> => {
  words = message
  const member = { type: 'object', properties: { [`${name}-of`]: { type: 'string' } } }
  const tools = [{ type: 'function', function: { name, parameters: member } }]
  const messages = [{ role: 'user', content: 'x' }]
  const reply = await gateway.post('/v1/chat/completions', { model: 'vendorB-5.5', messages, tools })
  await reply.text()
  return reply.headers.get('x-gateway-error-code')
}

test.each(
  NAMES.flatMap((name): [string, string][] => [
    [name, `Invalid schema for function '${name}': it must have type 'object', and is over the limit.`],
    [name, `Invalid tool ${name} is required to have parameters, exceeded`],
    [name, `tools.0: \`${name}\` exceeds the limit of 64 characters`],
    [name, `${name}-of: invalid, a string is required over here`],
    [name, `parameters.properties.${name}-of is invalid: the limit of its length was reached`],
  ]),
)('%s: %s', async (name, message) => {
  expect(await codeOf(name, message)).not.toBe('service_unavailable')
})

test.each(['Insufficient balance: top up.', 'The balance of this account is used up.', 'No credit: it is required.'])(
  'with a tool of that name an account out of money is still known: %s',
  async (message) => {
    for (const name of NAMES) expect(await codeOf(name, message)).toBe('service_unavailable')
  },
)
