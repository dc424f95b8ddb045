// Recorded answers of both vendors' web searches, as clients of the other wires read them, against a golden file: calls, pages,
// and the words that each link stands on. Written by `UPDATE_GOLDEN=1 bun test test/wire/tools`; review it before committing.

import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { asObject, asObjects, asText, type Json, type JsonObject, parseObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import type { Ask } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { hasCorpus, type Recording, recordings } from '../../support/corpus.ts'
import { framesOf } from '../../support/frames.ts'
import { GATHER } from '../answers/gather.ts'

const FILE = new URL('search-recordings.golden.json', import.meta.url)
const golden: { [crossing: string]: Json } = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {}
const updating = process.env.UPDATE_GOLDEN === '1'

const SEARCHES = /"type": ?"web_search_call"|"name": ?"web_search"|"url_citation"/
const found = CHAT_WIRES.flatMap((vendor) =>
  (hasCorpus ? recordings(vendor) : [])
    .filter(({ status, response }) => status === 200 && SEARCHES.test(response))
    .flatMap((recording) =>
      CHAT_WIRES.filter((client) => client !== vendor).map((client): [string, ChatWire, ChatWire, Recording] => [
        `${recording.name} → ${client}`,
        vendor,
        client,
        recording,
      ]),
    ),
)

const ask = (stream: boolean): Ask => ({ model: 'm', body: { stream }, inputEstimate: 1, now: 1 })

const read = (vendor: ChatWire, client: ChatWire, { response: text }: Recording): JsonObject => {
  const whole = parseObject(text)
  if (whole !== undefined)
    return translateResponse(whole, {
      client: CHAT_CODECS[client],
      provider: CHAT_CODECS[vendor],
      ask: ask(false),
      undo: {},
    })
  const tap = translateStream({ client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor], ask: ask(true), undo: {} })
  // Its numbers keep their digits.
  return JSON.parse(JSON.stringify(GATHER[client](framesOf(framesOf(text).map(tap.see).join('')))))
}

const hostOf = (url: Json | undefined): string => (URL.canParse(asText(url)) ? new URL(asText(url)).host : '')
/** The first and the last word under a link. */
const under = (text: string): string => text.split(/\s+/).filter(Boolean).slice(0, 3).join(' ').slice(0, 40)

/** What the client reads of the search, in short: no whole text of a recording. */
const view = (client: ChatWire, answer: JsonObject): Json[] => {
  const links = (text: Json | undefined, annotations: Json | undefined): Json[] =>
    asObjects(annotations).map((one) => {
      const { url, start_index: start, end_index: end } = { ...one, ...asObject(one.url_citation) }
      return { link: hostOf(url), under: under(asText(text).slice(Number(start), Number(end))) }
    })
  if (client === 'chat-completions') {
    const message = asObject(asObjects(answer.choices)[0]?.message)
    return links(message.content, message.annotations)
  }
  if (client === 'messages')
    return asObjects(answer.content).flatMap((block): Json[] => {
      if (block.type === 'server_tool_use') return [{ search: asText(asObject(block.input).query).slice(0, 60) }]
      if (block.type === 'web_search_tool_result')
        return [{ pages: asObjects(block.content).map(({ url }) => hostOf(url)) }]
      return asObjects(block.citations).map(({ url }) => ({ link: hostOf(url), under: under(asText(block.text)) }))
    })
  return asObjects(answer.output).flatMap((item): Json[] => {
    if (item.type === 'web_search_call') {
      const action = asObject(item.action)
      return [
        { search: asText(action.query).slice(0, 60), pages: asObjects(action.sources).map(({ url }) => hostOf(url)) },
      ]
    }
    return asObjects(item.content).flatMap((part) => links(part.text, part.annotations))
  })
}

describe.skipIf(!hasCorpus)('a recorded search', () => {
  test.each(found)('%s', (title, vendor, client, recording) => {
    const seen = view(client, read(vendor, client, recording))
    if (updating) golden[title] = seen
    expect(seen).toEqual(golden[title] as Json[])
  })

  test('of each vendor is there, and the file has no other', () => {
    expect(Object.keys(golden).sort()).toEqual(found.map(([title]) => title).sort())
    expect(found.length).toBeGreaterThan(8)
    if (updating) writeFileSync(FILE, `${JSON.stringify(golden, null, 2)}\n`)
  })
})
