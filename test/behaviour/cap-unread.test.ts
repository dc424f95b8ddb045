// A server that does not know the output cap by its name: its answers' figures tell, and the requests after name it otherwise.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { json, type Scripted, sse, startScripted } from '../support/provider/scripted.ts'

const MODEL = 'vendorB-5.5'
const CAP = 20
const ASKED = {
  'chat-completions': { max_completion_tokens: CAP, messages: [{ role: 'user', content: 'Hi' }] },
  responses: { max_output_tokens: CAP, input: 'Hi' },
  messages: { max_tokens: CAP, messages: [{ role: 'user', content: 'Hi' }] },
}

let provider: Scripted
let gateway: TestGateway
let figures: JsonObject
let refusal: JsonObject | undefined

beforeAll(async () => {
  provider = await startScripted(({ text }) => {
    if (refusal !== undefined && JSON.parse(text).max_tokens !== undefined) return json({ error: refusal }, 400)
    const head = { id: 'c', created: 1, model: 'm', usage: { prompt_tokens: 3, ...figures } }
    const said = { role: 'assistant', content: 'One' }
    if (JSON.parse(text).stream !== true)
      return { steps: [JSON.stringify({ ...head, choices: [{ index: 0, message: said, finish_reason: 'stop' }] })] }
    const chunk = JSON.stringify({ ...head, choices: [{ index: 0, delta: said, finish_reason: 'stop' }] })
    return sse(`data: ${chunk}\n\ndata: [DONE]\n\n`)
  })
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'] }) })
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})

let authorization: string
beforeEach(async () => {
  refusal = undefined
  authorization = `Bearer ${(await gateway.issue()).secret}`
})

/** The cap's names and values in the requests that reach the server, of a key that it has not answered before. */
const sentTimes = async (times: number, client: keyof typeof ASKED, more: JsonObject = {}): Promise<JsonObject[]> => {
  const before = provider.requests.length
  for (let nth = 0; nth < times; nth++) {
    const answer = await gateway.post(PATHS[client], { model: MODEL, ...ASKED[client], ...more }, { authorization })
    await answer.text()
    expect(answer.status).toBe(200)
    await gateway.idle()
  }
  return provider.requests.slice(before).map(({ text }) => {
    const sent = JSON.parse(text)
    return Object.fromEntries(
      ['max_completion_tokens', 'max_tokens'].flatMap((name) => (sent[name] ? [[name, sent[name]]] : [])),
    )
  })
}

const sentTwice = (client: keyof typeof ASKED, more: JsonObject = {}) => sentTimes(2, client, more)

const NEWER = { max_completion_tokens: CAP }

test.each(CHAT_WIRES.flatMap((client) => [false, true].map((stream) => [client, stream] as const)))(
  'is sent it by its older name once it has written far more: for a client of %s, streaming %p',
  async (client, stream) => {
    figures = { completion_tokens: 2_048 }
    expect(await sentTwice(client, { stream })).toEqual([NEWER, { max_tokens: CAP }])
  },
)

test.each<[string, JsonObject, JsonObject]>([
  ['wrote as much', { completion_tokens: CAP }, {}],
  ['counts a little otherwise', { completion_tokens: CAP + 4 }, {}],
  ['counts thought beside it', { completion_tokens: 900, completion_tokens_details: { reasoning_tokens: 890 } }, {}],
  ['gave several answers', { completion_tokens: 90 }, { n: 5 }],
  ['told no figures', {}, {}],
])('is sent it by its own name where it %s', async (_, told, more) => {
  figures = told
  expect(await sentTwice('chat-completions', more)).toEqual([NEWER, NEWER])
})

const OLDER = { max_tokens: CAP }

test.each(
  CHAT_WIRES.flatMap((client) =>
    [
      { message: "Use 'max_completion_tokens' instead.", param: 'max_tokens', code: 'unsupported_parameter' },
      { message: 'Unrecognized request argument supplied: max_tokens' },
    ].map((told) => [client, told] as const),
  ),
)(
  'is sent it by its own name again, and from then on, where the older one is refused: of %s, %j',
  async (client, told) => {
    figures = { completion_tokens: 2_048 }
    refusal = { ...told, type: 'invalid_request_error' }
    expect(await sentTimes(4, client)).toEqual([NEWER, OLDER, NEWER, NEWER, NEWER])
  },
)
