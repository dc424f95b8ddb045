// Some servers send the object that their engine has for the end of an answer, or on the responses wire another wire's word for
// why it is cut: to a client of their own wire it goes as that wire's word.

import { beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
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

type Row = [wire: 'messages' | 'chat-completions', end: JsonObject, word: string]
const rows: Row[] = [
  ['messages', { type: 'end_turn' }, 'end_turn'],
  ['messages', { type: 'max_tokens', length: 5 }, 'max_tokens'],
  ['chat-completions', { type: 'stop', matched: 7 }, 'stop'],
  ['chat-completions', { type: 'length', length: 5 }, 'length'],
]

describe.each(rows)('on %s %j', (wire, end, word) => {
  test.each([false, true])('streaming %p', async (stream) => {
    const pen = VENDORS[wire]
    const written = (stream ? pen.stream(hello) : pen.json(hello)).replace(
      /"(stop_reason|finish_reason)":\s*"\w+"/,
      (_, name) => `"${name}":${JSON.stringify(end)}`,
    )
    expect(written).toContain(JSON.stringify(end))
    bench.play(wire, stream ? sse(written) : { steps: [written] })
    const request = CLIENTS[wire].request({ turns: [user('Hi')] }, bench.model(wire), stream)
    const reply = await bench.gateway.post(PATHS[wire], request)
    const text = await reply.text()
    expect([reply.status, text.includes('"error"'), text.includes(JSON.stringify(end))]).toEqual([200, false, false])
    expect(text).toMatch(new RegExp(`"(?:stop|finish)_reason":\\s*"${word}"`))
  })
})

const cut: Answer = { ...hello, finish: 'length' }
const REASONS: [reason: string, word: string, finish: string][] = [
  ['max_output_tokens', 'max_output_tokens', 'length'],
  ['length', 'max_output_tokens', 'length'],
  ['max_tokens', 'max_output_tokens', 'length'],
  ['content_filter', 'content_filter', 'content_filter'],
  ['SAFETY', 'content_filter', 'content_filter'],
  ['steps_used_up', 'steps_used_up', 'length'],
]

describe.each(REASONS)('on responses incomplete for %s', (reason, word, finish) => {
  test.each([false, true])('streaming %p', async (stream) => {
    const pen = VENDORS.responses
    const written = (stream ? pen.stream(cut) : pen.json(cut)).replaceAll('"max_output_tokens"}', `"${reason}"}`)
    expect(written).toContain(`"${reason}"`)
    bench.play('responses', stream ? sse(written) : { steps: [written] })
    const told = async (client: 'responses' | 'chat-completions'): Promise<string> => {
      const request = CLIENTS[client].request({ turns: [user('Hi')] }, bench.model('responses'), stream)
      return (await bench.gateway.post(PATHS[client], request)).text()
    }
    const own = await told('responses')
    expect(own).toMatch(new RegExp(`"incomplete_details":\\s*\\{"reason":\\s*"${word}"`))
    if (stream) expect(own).toContain('event: response.incomplete')
    expect(await told('chat-completions')).toMatch(new RegExp(`"finish_reason":\\s*"${finish}"`))
  })
})
