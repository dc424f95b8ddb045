// Of what a provider's answer says nothing vanishes on the way to a client of another wire, whole or as a stream, but what no
// translated request asks for and what the client's wire has no place for.

import { describe, expect, test } from 'bun:test'
import { asList, type Json, type JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { hasCorpus, schema } from '../../support/corpus.ts'
import { blank, type Mark, marked, vanished } from '../../support/marks.ts'
import { schemaWalk } from '../../support/schema-walk.ts'
import { diceOf } from '../matrix/untidy/dice.ts'
import { askFor, VENDORS } from './vendors.ts'

/** The member that holds what an answer says, and the type of the answer. */
const SAID: Record<ChatWire, [string, string]> = {
  'chat-completions': ['choices', 'OpenAIChatCompletion.current'],
  responses: ['output', 'OpenAIResponse.current'],
  messages: ['content', 'AnthropicMessage.current'],
}

/** What only one wire has, or nobody reads. */
const NO_PLACE: Record<ChatWire, [RegExp, string][]> = {
  'chat-completions': [
    [/\.logprobs\.refusal\./, 'figures of a refusal'],
    [/\.audio\./, 'sound: a request for it is refused'],
  ],
  responses: [
    [/\.(id|caller_id|created_by)$/, 'ids, but those of calls'],
    [
      /^output\.\*\((?!message|function_call\)|custom_tool_call\)|reasoning)/,
      'tools that run there; of a search and a picture: told elsewhere',
    ],
    [/\((file_citation|container_file_citation|file_path)\)/, 'links to files that are kept there'],
    [/\(reasoning\)\.encrypted_content/, 'a seal, which goes as a tag'],
    [/\.namespace$/, 'a namespace that no other wire has sent'],
  ],
  messages: [
    [/\.(signature|data)$/, 'a seal, which goes as a tag'],
    [/^content\.\*\((?!text\)|tool_use|thinking)/, 'tools that run there; of a search: told elsewhere'],
    [/\((char|page|content_block)_location\)/, 'links to documents by their numbers'],
    [/\((web_)?search_result_location\)\.(cited_text|encrypted_index|title|source)$/, 'beside its address'],
    [/\.caller\(|\.toolset_name$/, 'how a call was made'],
  ],
}
/** Log probabilities, for which a client of the messages wire cannot ask. */
const FIGURES = /\.logprobs\./

const crossings = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.filter((vendor) => vendor !== client).map((vendor) => [client, vendor] as const),
)
const plain = diceOf([])

/** What a client does not get of a whole answer, and of its stream. */
const lostBy = (client: ChatWire, vendor: ChatWire, body: JsonObject, marks: Mark[]): [string[], string[]] => {
  const crossing = { client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor], undo: {} }
  const whole = translateResponse(structuredClone(body), { ...crossing, ask: askFor(client, false) })
  const tap = translateStream({ ...crossing, ask: askFor(client, true) })
  const stream = VENDORS[vendor].frames(body, plain).map((frame) => tap.see(frame))
  return [JSON.stringify(whole), stream.join('')].map((text) => vanished(marks, text, []).map(({ kind }) => kind)) as [
    string[],
    string[],
  ]
}

describe.skipIf(!hasCorpus).each(crossings)('a client of %s and an answer of %s', (client, vendor) => {
  test('of all that the published types have nothing vanishes, and a stream tells what the whole tells', () => {
    const [member, name] = SAID[vendor]
    const walk = schemaWalk(schema(name), blank)
    const lost = new Set<string>()
    let seen = 0
    for (const value of walk.variants(walk.members().get(member), member, 9)) {
      if (asList(value as Json).length === 0) continue
      const { value: body, marks } = marked({ ...VENDORS[vendor].answer(plain), [member]: value })
      if (marks.length === 0) continue
      const [whole, stream] = lostBy(client, vendor, body, marks)
      expect([value, stream]).toEqual([value, whole])
      seen += marks.length
      for (const kind of whole)
        if (!NO_PLACE[vendor].some(([one]) => one.test(kind)) && !(client === 'messages' && FIGURES.test(kind)))
          lost.add(kind)
    }
    expect([...lost]).toEqual([])
    expect(seen).toBeGreaterThan(50)
  }, 120_000)
})
