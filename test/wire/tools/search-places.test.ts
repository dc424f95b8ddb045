// Where the links of a searched answer stand, whatever its texts hold and however its stream is cut: at the words that the
// vendor's own citation is of.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { asObject, asObjects, asText, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import { translateStream } from '../../../src/relay/translate.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { framesOf } from '../../support/frames.ts'
import { GATHER } from '../answers/gather.ts'
import { number } from '../answers/told.ts'
import { askFor } from '../answers/vendors.ts'
import { streamFaults } from '../matrix/rules.ts'

const WORDS = [
  'So: ',
  'at 🌙 nine',
  ' see [x](https://x.test/a_(b))',
  '.',
  '👩🏽‍🚀 ok',
  'ünï "q"\\',
  '```\n[1]: y\n```',
  '𝒜\n',
]
const URLS = ['https://a.test/1', 'https://b.test/?q=ü&x=1', 'https://a.test/1#top']

/** What a vendor says in order: searches with what they found (or an error), and texts with the pages that they cite. */
type Said = { found: string[] | 'max_uses_exceeded' | 'too_many_requests' } | { text: string; cites: string[] }
const urls = fc.subarray(URLS)
const said: fc.Arbitrary<Said[]> = fc
  .array(
    fc.oneof(
      fc.record({ found: fc.oneof(urls, fc.constantFrom('max_uses_exceeded' as const, 'too_many_requests' as const)) }),
      fc.record({ text: fc.constantFrom(...WORDS), cites: urls }),
    ),
    { minLength: 1, maxLength: 7 },
  )
  .filter((all) => all.some((one) => 'text' in one))

/** A text in pieces of whole characters. */
const inPieces = (text: string, size: number): string[] => {
  const letters = [...text]
  return Array.from({ length: Math.ceil(letters.length / size) }, (_, at) =>
    letters.slice(at * size, (at + 1) * size).join(''),
  )
}

/** `early`: citations come before the words. */
type Form = { size: number; early: boolean }
const form: fc.Arbitrary<Form> = fc.record({ size: fc.integer({ min: 1, max: 5 }), early: fc.boolean() })

const messagesRows = (all: Said[], { size, early }: Form): JsonObject[] => {
  const blocks = all.flatMap((one, at): [JsonObject, JsonObject[]][] => {
    if ('found' in one) {
      const error = { type: 'web_search_tool_result_error', error_code: one.found }
      const pages = Array.isArray(one.found)
        ? one.found.map((url) => ({
            type: 'web_search_result',
            url,
            title: 'T',
            encrypted_content: 'e',
            page_age: null,
          }))
        : error
      const id = `srvtoolu_${at}`
      return [
        [
          { type: 'server_tool_use', id, name: 'web_search', input: {} },
          inPieces('{"query":"🌊"}', size).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        ],
        [{ type: 'web_search_tool_result', tool_use_id: id, content: pages }, []],
      ]
    }
    const words = inPieces(one.text, size).map((text) => ({ type: 'text_delta', text }))
    const cites = one.cites.map((url) => ({
      type: 'citations_delta',
      citation: { type: 'web_search_result_location', url, title: 'T', cited_text: 'c', encrypted_index: 'i' },
    }))
    return [[{ type: 'text', text: '' }, early ? [...cites, ...words] : [...words, ...cites]]]
  })
  return [
    { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 1 } } },
    ...blocks.flatMap(([content_block, deltas], index) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ]
}

/** Of vendor_b: each cited page is a link at the end of its text, and the citation is of that link. */
const linked = ({ text, cites }: { text: string; cites: string[] }) => {
  let all = text
  const annotations = cites.map((url) => {
    const link = ` ([T](${url}))`
    const start_index = all.length + 1
    all += link
    return { type: 'url_citation', url, title: 'T', start_index, end_index: all.length }
  })
  return { text: all, annotations }
}

const responsesRows = (all: Said[], { size, early }: Form): JsonObject[] => {
  const output: JsonObject[] = []
  const rows = all.flatMap((one, output_index): JsonObject[] => {
    const added = (item: JsonObject) => ({ type: 'response.output_item.added', output_index, item })
    const done = (item: JsonObject) => {
      output.push(item)
      return { type: 'response.output_item.done', output_index, item }
    }
    if ('found' in one) {
      const isFound = Array.isArray(one.found)
      const sources = Array.isArray(one.found) ? { sources: asUrls(one.found) } : {}
      const call = {
        type: 'web_search_call',
        id: `ws_${output_index}`,
        action: { type: 'search', query: '🌊', ...sources },
      }
      return [added({ ...call, status: 'in_progress' }), done({ ...call, status: isFound ? 'completed' : 'failed' })]
    }
    const { text, annotations } = linked(one)
    const id = `msg_${output_index}`
    const place = { item_id: id, output_index, content_index: 0 }
    const part = (words: string, marks: JsonObject[]) => ({ type: 'output_text', text: words, annotations: marks })
    const message = { type: 'message', id, role: 'assistant', status: 'completed' }
    const marks = annotations.map((annotation, annotation_index) => ({
      ...{ type: 'response.output_text.annotation.added', ...place, annotation_index, annotation },
    }))
    return [
      added({ ...message, content: [] }),
      { type: 'response.content_part.added', ...place, part: part('', []) },
      ...inPieces(text, size).map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
      ...(early ? marks : []),
      { type: 'response.output_text.done', ...place, text },
      { type: 'response.content_part.done', ...place, part: part(text, annotations) },
      done({ ...message, content: [part(text, annotations)] }),
    ]
  })
  const response = { id: 'resp_1', object: 'response', status: 'completed', output }
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...rows,
    { type: 'response.completed', response: { ...response, usage: { input_tokens: 1, output_tokens: 3 } } },
  ]
}
const asUrls = (found: string[]): JsonObject[] => found.map((url) => ({ type: 'url', url }))

/** What a client has of the stream at its end. */
const read = (client: ChatWire, vendor: ChatWire, rows: JsonObject[]): JsonObject => {
  const tap = translateStream({
    ...{ client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor] },
    ...{ ask: askFor(client, true), undo: {} },
  })
  const bytes = rows.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join('')
  const text = framesOf(bytes)
    .map((frame) => tap.see(frame))
    .join('')
  expect([tap.state, streamFaults(client, text)]).toEqual(['done', []])
  return GATHER[client](framesOf(text))
}

/** The words that each link is of, by a client's own places. */
const marked = (text: string, annotations: JsonObject[]): string[][] =>
  annotations.map((one) => {
    const { url, start_index: start, end_index: end } = { ...one, ...asObject(one.url_citation) }
    return [asText(url), text.slice(number(start), number(end))]
  })
const markedInChat = (answer: JsonObject): string[][] => {
  const message = asObject(asObjects(answer.choices)[0]?.message)
  return marked(asText(message.content), asObjects(message.annotations))
}
const partsIn = (answer: JsonObject): JsonObject[] =>
  asObjects(answer.output).flatMap(({ content }) => asObjects(content))

const texts = (all: Said[]) => all.flatMap((one) => ('text' in one ? [one] : []))

test('vendor_a’s links stand at the text that cites', () =>
  fc.assert(
    fc.property(said, form, (all, how) => {
      const rows = messagesRows(all, how)
      const due = texts(all).flatMap(({ text, cites }) => cites.map((url) => [url, text]))
      expect(markedInChat(read('chat-completions', 'messages', rows))).toEqual(due)
      const parts = partsIn(read('responses', 'messages', rows))
      expect(parts.flatMap(({ text, annotations }) => marked(asText(text), asObjects(annotations)))).toEqual(due)
      expect(parts.map(({ text }) => text).join('')).toBe(
        texts(all)
          .map(({ text }) => text)
          .join(''),
      )
    }),
  ))

test('vendor_b’s links stand at their own words, and with the text of a client that has no places', () =>
  fc.assert(
    fc.property(said, form, (all, how) => {
      const rows = responsesRows(all, how)
      const due = texts(all).flatMap(({ cites }) => cites.map((url) => [url, `([T](${url}))`]))
      expect(markedInChat(read('chat-completions', 'responses', rows))).toEqual(due)
      const blocks = asObjects(read('messages', 'responses', rows).content)
      const cited = blocks.flatMap(({ citations }) => asObjects(citations).map(({ url }) => url))
      expect(cited).toEqual(due.map(([url]) => url ?? ''))
      expect(blocks.map(({ text }) => asText(text)).join('')).toBe(
        texts(all)
          .map((one) => linked(one).text)
          .join(''),
      )
    }),
  ))

test('a link whose own event is lost is told with its text’s end', () =>
  fc.assert(
    fc.property(said, fc.integer({ min: 1, max: 5 }), fc.nat(), (all, size, nth) => {
      const rows = responsesRows(all, { size, early: true })
      const events = rows.flatMap(({ type }, at) => (type === 'response.output_text.annotation.added' ? [at] : []))
      const lost = events[nth % Math.max(1, events.length)] ?? -1
      const kept = rows.filter((_, at) => at !== lost)
      const due = markedInChat(read('chat-completions', 'responses', rows)).sort()
      expect(markedInChat(read('chat-completions', 'responses', kept)).sort()).toEqual(due)
    }),
  ))

test('every search is shown once, with what it found or that it failed', () =>
  fc.assert(
    fc.property(said, form, (all, how) => {
      const searches = all.flatMap((one) => ('found' in one ? [one.found] : []))
      const items = asObjects(read('responses', 'messages', messagesRows(all, how)).output)
      const calls = items.filter(({ type }) => type === 'web_search_call')
      expect(calls.map(({ status, action }) => [status, asObject(action).sources])).toEqual(
        searches.map((found) => (Array.isArray(found) ? ['completed', asUrls(found)] : ['failed', undefined])),
      )
      const blocks = asObjects(read('messages', 'responses', responsesRows(all, how)).content)
      const results = blocks.filter(({ type }) => type === 'web_search_tool_result')
      expect(results.map(({ content }) => asObjects(content).map(({ url }) => url))).toEqual(
        searches.map((found) => (Array.isArray(found) ? found : [])),
      )
      expect(blocks.filter(({ type }) => type === 'server_tool_use')).toHaveLength(searches.length)
    }),
  ))
