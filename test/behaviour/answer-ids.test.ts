// Answers that come from another wire have ids of their own: some servers give all of theirs one id, or none, and agents take
// two answers of one id for pieces of one.

import { beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { PATHS } from '../support/paths.ts'
import { sse } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { type Bench, startBench } from '../wire/matrix/bench.ts'
import { CLIENTS } from '../wire/matrix/client/index.ts'
import { user } from '../wire/matrix/stories/parts.ts'
import type { Answer } from '../wire/matrix/story.ts'
import { VENDORS } from '../wire/matrix/vendor/index.ts'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
stopAfterAll(() => [bench])

const hello: Answer = { pieces: [{ text: 'Hello.' }], finish: 'stop', usage: { input: 3, output: 2 } }

/** Of servers whose ids say nothing: the one that each of their answers has. */
const IDS = ['chatcmpl-local', '']

const crossings = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.filter((vendor) => vendor !== client).map((vendor): [ChatWire, ChatWire] => [client, vendor]),
)

describe.each(crossings)('a client of %s at a server of %s', (client, vendor) => {
  const rows = IDS.flatMap((id) => [false, true].map((stream): [string, boolean] => [id, stream]))
  test.each(rows)('whose answers all have the id %j, streaming %p', async (id, stream) => {
    const pen = VENDORS[vendor]
    const written = stream ? pen.stream(hello) : pen.json(hello)
    const own = /"id":\s*"((?:chatcmpl|resp|msg)[^"]*)"/.exec(written)?.[1] ?? ''
    const answer = written.replaceAll(`"${own}"`, JSON.stringify(id))
    const ids = new Set<unknown>()
    for (const _ of [1, 2, 3]) {
      bench.play(vendor, stream ? sse(answer) : { steps: [answer] })
      const body = CLIENTS[client].request({ turns: [user('Hi')] }, bench.model(vendor), stream)
      const reply = await bench.gateway.post(PATHS[client], body)
      const read: JsonObject = await CLIENTS[client].gather(await reply.text(), stream)
      ids.add(read.id)
    }
    expect(ids.size).toBe(3)
  })
})
