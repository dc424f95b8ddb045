// Long conversations of agents that switch models and back: whatever parts the client keeps, no vendor gets what it is known
// to refuse, and no text, call or result is lost.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../src/ir/json.ts'
import type { Quirks } from '../../src/ir/quirks.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { splice } from '../../src/lib/json-splice.ts'
import { CHAT_CODECS } from '../../src/wire/index.ts'
import { chatBreaches } from '../support/strict/chat-completions.ts'
import { messagesBreaches } from '../support/strict/messages.ts'
import { responsesBreaches } from '../support/strict/responses.ts'
import { list } from '../support/strict/table.ts'
import type { Answer, Piece } from './matrix/story.ts'
import { VENDORS } from './matrix/vendor/index.ts'

type Model = {
  wire: ChatWire
  quirks: Quirks
  /** The thinking setting of a client of its own wire. */
  thinking?: JsonObject
  breaches(body: JsonObject, isOwn: (thought: JsonObject) => boolean): string[]
}

const ADAPTIVE = { adaptive: true, budget: false, effort: true, midSystem: true }
const BUDGET = { adaptive: false, budget: true, effort: false, midSystem: false }
const EFFORTS = ['none', 'low', 'medium', 'high', 'xhigh']

const MODELS: Model[] = [
  {
    wire: 'messages',
    quirks: {},
    thinking: { thinking: { type: 'adaptive' } },
    breaches: (body, isOwn) => messagesBreaches(body, ADAPTIVE, isOwn),
  },
  {
    wire: 'messages',
    quirks: { noAdaptiveThinking: true, noMidSystem: true },
    thinking: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    breaches: (body, isOwn) => messagesBreaches(body, BUDGET, isOwn),
  },
  {
    wire: 'responses',
    quirks: {},
    thinking: { reasoning: { effort: 'high', summary: 'auto' } },
    breaches: (body, isOwn) => responsesBreaches(body, { reasons: true, efforts: EFFORTS }, isOwn),
  },
  {
    wire: 'responses',
    quirks: { noReasoning: true },
    breaches: (body, isOwn) => responsesBreaches(body, { reasons: false, efforts: [] }, isOwn),
  },
  {
    wire: 'chat-completions',
    quirks: { rejects: ['reasoning_content'] },
    breaches: (body) => chatBreaches(body),
  },
]

/** What happens next. */
const step = fc.record({
  model: fc.nat(MODELS.length - 1),
  stay: fc.boolean(),
  thinks: fc.boolean(),
  pieces: fc.array(fc.constantFrom('thought', 'text', 'call'), { minLength: 1, maxLength: 5 }),
  given: fc.constantFrom('text', 'nothing', 'JSON', 'failure'),
  /** In addition: a user message after results, a system message, or calls without results. */
  besides: fc.constantFrom('', '', '', 'words', 'system', 'abort'),
  /** What the client keeps of an answer. */
  keeps: fc.constantFrom('all', 'all', 'no thought'),
  space: fc.constantFrom('', ' ', '\n', ' ünïcödé 🙂'),
  temperature: fc.constantFrom(undefined, undefined, 0.3, 1),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const text = { type: 'string' }
const SCHEMAS: JsonObject[] = [
  { type: 'object', properties: { place: text, days: { type: 'array', items: text } }, required: ['place'] },
  { type: 'object', properties: { $top: text, 'filter[id]': text }, required: ['$top'] },
]
const toolsOf = (wire: ChatWire): JsonObject[] => {
  switch (wire) {
    case 'messages':
      return ['get_weather', `mcp__${'x'.repeat(110)}`].map((name) => ({ name, input_schema: { type: 'object' } }))
    case 'responses':
      return SCHEMAS.map((parameters, at) => ({ type: 'function', name: `tool_${at}`, parameters, strict: false }))
    case 'chat-completions':
      return SCHEMAS.map((parameters, at) => ({ type: 'function', function: { name: `tool_${at}`, parameters } }))
  }
}

/** A conversation as a client of the wire keeps it. */
class Talk {
  /** Messages or items. */
  turns: JsonObject[] = []
  readonly words: string[] = []
  open: string[] = []
  isLegal = true
  /** While calls are open, a client does not change the thinking settings. */
  thinks = false
  /** Whether an answer of the round of calls came without the thought that was asked for. */
  isThoughtless = false
  #count = 0

  constructor(readonly wire: ChatWire) {}

  word(): string {
    const word = `word-${this.#count++}-`
    this.words.push(word)
    return word
  }

  say(role: string, said: string): void {
    this.turns.push({ role, content: said })
  }

  /** Answers the open calls. */
  give(given: Step['given']): void {
    const results = this.open.map((id) => {
      const said = given === 'nothing' ? '' : given === 'JSON' ? `{"a":"${this.word()}"}` : this.word()
      if (this.wire === 'responses') return { type: 'function_call_output', call_id: id, output: said }
      if (this.wire === 'chat-completions') return { role: 'tool', tool_call_id: id, content: said }
      return { type: 'tool_result', tool_use_id: id, content: said, ...(given === 'failure' ? { is_error: true } : {}) }
    })
    this.turns.push(...(this.wire === 'messages' ? [{ role: 'user', content: results }] : results))
    this.open = []
  }

  request(model: string, settings: JsonObject): JsonObject {
    const cap = this.wire === 'messages' ? { max_tokens: 9_000 } : {}
    const turns = { [this.wire === 'responses' ? 'input' : 'messages']: this.turns }
    return { model, ...cap, ...turns, tools: toolsOf(this.wire), ...settings }
  }

  keep(answer: JsonObject, keeps: Step['keeps']): void {
    if (this.wire === 'messages') {
      const content = list(answer.content).filter(({ type }) => keeps === 'all' || !/thinking/.test(String(type)))
      this.open = content.flatMap(({ type, id }) => (type === 'tool_use' ? [String(id)] : []))
      if (content.length > 0) this.turns.push({ role: 'assistant', content })
    } else if (this.wire === 'responses') {
      const items = list(answer.output).filter(({ type }) => keeps === 'all' || type !== 'reasoning')
      this.open = items.flatMap(({ type, call_id: id }) => (type === 'function_call' ? [String(id)] : []))
      this.turns.push(...items)
    } else {
      const { content = null, tool_calls: calls, ...message } = Object(list(answer.choices)[0]?.message) as JsonObject
      this.open = list(calls).map(({ id }) => String(id))
      const { reasoning_content: told, reasoning_details: details } = message
      const thought = { reasoning_content: told, ...(keeps === 'all' ? { reasoning_details: details } : {}) }
      const made = list(calls).length === 0 ? { content: content ?? '' } : { content, tool_calls: list(calls) }
      this.turns.push({ role: 'assistant', ...made, ...(told === undefined ? {} : thought) })
    }
  }
}

/** The answer of a vendor's model, which calls tools by the names and arguments that it was sent. */
type Asked = { round: string; sent: JsonObject; thinks: boolean; talk: Talk }

const answerOf = ({ pieces }: Step, { round, sent, thinks, talk }: Asked): Answer => {
  const tools = list(sent.tools)
  const said = pieces.flatMap((piece, at): Piece[] => {
    if (piece === 'thought') return thinks ? [{ thought: `I think of ${round}.`, seal: `seal-${round}-${at}` }] : []
    if (piece === 'text') return [{ text: talk.word() }]
    const tool = tools[at % tools.length] ?? {}
    const { name, parameters, input_schema: schema } = { ...tool, ...(tool.function as JsonObject | undefined) }
    const [key = 'q'] = Object.keys(Object(Object(parameters ?? schema).properties))
    return [{ call: `call_${round}_${at}`, name: String(name), input: JSON.stringify({ [key]: talk.word() }) }]
  })
  // By budget, a model thinks first.
  const first: Piece[] = thinks ? [{ thought: `First ${round}.`, seal: `seal-${round}` }] : []
  // No answer ends with a thought.
  const last = said.at(-1)
  if (last === undefined || 'thought' in last) said.push({ text: talk.word() })
  const calls = said.some((piece) => 'call' in piece)
  return { pieces: [...first, ...said], finish: calls ? 'calls' : 'stop', usage: { input: 1, output: 1 } }
}

const asked = ({ wire, thinks }: Talk, { temperature }: Step, model: Model): JsonObject => {
  const sampling = temperature === undefined ? {} : { temperature }
  if (!thinks) return wire === model.wire && wire === 'messages' ? {} : sampling
  if (wire === model.wire) return model.thinking ?? {}
  if (wire === 'chat-completions') return { reasoning_effort: 'high', ...sampling }
  if (wire === 'responses') return { reasoning: { effort: 'high' }, ...sampling }
  return { thinking: { type: 'enabled', budget_tokens: 2_000 }, output_config: { effort: 'high' } }
}

const run = (wire: ChatWire, steps: readonly Step[]): void => {
  const talk = new Talk(wire)
  const seals = new Map<unknown, string>()
  let model: Model | undefined
  steps.forEach((next, at) => {
    const stays = next.stay && model !== undefined
    model = stays ? model : MODELS[next.model]
    if (model === undefined) return
    if (talk.open.length > 0 && next.besides !== 'abort') talk.give(next.given)
    else {
      talk.isLegal &&= talk.open.length === 0
      talk.open = []
      talk.thinks = next.thinks
      talk.isThoughtless = false
      talk.say('user', `${talk.word()}${next.space}`)
    }
    if (next.besides === 'words') talk.say('user', talk.word())
    const isOwn = model.wire === wire
    // Clients of the messages wire know which models accept it.
    if (next.besides === 'system' && (wire !== 'messages' || model.quirks.noMidSystem !== true))
      talk.say('system', talk.word())
    talk.isLegal &&= !(
      wire === 'messages' &&
      model.quirks.noMidSystem &&
      talk.turns.some(({ role }) => role === 'system')
    )
    const body = talk.request('m', asked(talk, next, model))
    const from = CHAT_CODECS[wire]
    const to = CHAT_CODECS[model.wire]
    const target = { model: 'up', maxOutput: 64_000, quirks: model.quirks }
    const encoded = isOwn ? undefined : to.encodeRequest(from.decodeRequest(body), target)
    const edits = isOwn ? to.passEdits(body, { ...target, outputCap: undefined }) : []
    const sent: JsonObject = JSON.parse(encoded ? JSON.stringify(encoded.body) : splice(JSON.stringify(body), edits))
    const isSealed = ({ signature, data, encrypted_content: sealed, thinking, summary }: JsonObject): boolean => {
      const told =
        thinking ??
        list(summary)
          .map((part) => part.text)
          .join('')
      return seals.get(signature ?? data ?? sealed) === told
    }
    // Faults on the client's own wire pass, and are the vendor's to report.
    const lacksThought = talk.isThoughtless && model.quirks.noAdaptiveThinking === true
    const hasThoughts = talk.turns.some(({ type }) => type === 'reasoning') && model.quirks.noReasoning === true
    if (!isOwn || (talk.isLegal && !lacksThought && !hasThoughts)) expect(model.breaches(sent, isSealed)).toEqual([])
    const text = JSON.stringify(sent)
    expect(talk.words.filter((word) => !text.includes(word))).toEqual([])
    const reasons = model.wire !== 'chat-completions' && model.quirks.noReasoning !== true
    const thinks = reasons && /"(thinking":\{"type":"(enabled|adaptive)|effort":"high)"/.test(text)
    const answer = answerOf(next, { round: `${at}`, sent, thinks, talk })
    talk.isThoughtless ||= !thinks || next.keeps !== 'all'
    for (const piece of answer.pieces) if ('thought' in piece) seals.set(piece.seal, piece.thought)
    const told: JsonObject = JSON.parse(VENDORS[model.wire].json(answer).replaceAll('Vendor', `V${at}x`))
    const ask = { model: 'm', body, inputEstimate: 1, now: 1_790_000_000 }
    talk.keep(encoded ? from.encodeResponse(to.decodeResponse(told, encoded.undo), ask) : told, next.keeps)
  })
}

test.each(CHAT_WIRES)('a client of %s', (wire) => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 9 }), (steps) => run(wire, steps)),
    { numRuns: 250 },
  )
})
