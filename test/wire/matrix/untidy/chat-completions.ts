// A sloppy server of the chat-completions wire: its events are valid, their order and completeness are not.

import type { JsonObject } from '../../../../src/ir/json.ts'
import type { Answer, Piece } from '../story.ts'
import type { Dice } from './dice.ts'

type Call = Extract<Piece, { call: string }>
const NULLS = { content: null, refusal: null, tool_calls: null, function_call: null, reasoning_content: null }
const FINISH = { stop: 'stop', calls: 'tool_calls', length: 'length', refusal: 'stop', filter: 'content_filter' }

export const frames = (answer: Answer, dice: Dice): { data: string }[] => {
  const out: { data: string }[] = []
  const id = dice.one('chatcmpl-1', 'x', '0193-ü')
  const push = (choices: JsonObject[], more: JsonObject = {}): void => {
    const head = { id, object: 'chat.completion.chunk', created: 1, model: 'up' }
    out.push({ data: JSON.stringify({ ...(dice.odd() ? { id } : head), choices, ...more, x_unknown: { a: [1] } }) })
  }
  const { input, cacheRead = 0, cacheWrite = 0, output, reasoning = 0 } = answer.usage
  const usage = {
    prompt_tokens: input + cacheRead + cacheWrite,
    completion_tokens: output,
    total_tokens: input + cacheRead + cacheWrite + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite, audio_tokens: null },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
  const early = dice.odd()
  const delta = (members: JsonObject, more: JsonObject = {}): void => {
    if (dice.odd()) push([], dice.one<JsonObject>({}, { usage: null }, { moderation: {} }))
    if (dice.odd()) push([{ index: 0, delta: dice.one<JsonObject>({}, NULLS, { content: '' }), finish_reason: null }])
    const full = dice.odd() ? { ...NULLS, ...members } : members
    const running =
      early && more.finish_reason === undefined
        ? { usage: { ...usage, completion_tokens: 1, total_tokens: usage.prompt_tokens + 1 } }
        : {}
    const choice = { index: 0, delta: full, logprobs: null, finish_reason: dice.one(null, ''), ...more }
    push([choice, ...(dice.odd() ? [{ index: 1, delta: { content: 'other' }, finish_reason: null }] : [])], running)
  }

  if (dice.odd())
    out.push({ data: JSON.stringify({ id: '', model: '', created: 0, choices: [], prompt_filter_results: [] }) })
  if (!dice.odd()) delta({ role: 'assistant', content: dice.one('', null) })
  const calls: Call[] = []
  for (const piece of answer.pieces) {
    if ('call' in piece) calls.push(piece)
    else if ('thought' in piece) for (const text of dice.cut(piece.thought)) delta(thinking(text, dice))
    else if ('refusal' in piece) for (const refusal of dice.cut(piece.refusal)) delta({ refusal, content: null })
    else if ('text' in piece)
      for (const content of dice.cut(piece.text))
        delta({ content: dice.one<string | JsonObject[]>(content, [{ type: 'text', text: content }]) })
  }

  const indexed = !dice.odd()
  const gap = dice.one(0, 1, 5)
  const again = dice.one<(id: string) => JsonObject>(
    () => ({}),
    () => ({ id: '', type: null }),
    (id) => ({ id }),
  )
  const entries = calls.map(({ call, name, input: text }, at) => {
    const index = indexed ? { index: at === 0 ? 0 : at + gap } : {}
    const [first = '', ...rest] = dice.odd() ? [text] : ['', ...dice.cut(text)]
    return [
      {
        ...index,
        id: call,
        type: 'function',
        function: { name, arguments: dice.odd() && first === '' ? null : first },
      },
      ...rest.map((more) => ({
        ...index,
        ...again(call),
        function: { ...dice.one<JsonObject>({}, { name: '' }, { name: null }), arguments: more },
      })),
    ]
  })
  // Without an index only order tells the calls apart: one after the other, or each list with a piece of every call.
  const list = dice.merge(entries, indexed && dice.odd())
  const together = dice.odd()
  const beside = !indexed && !together && dice.odd()
  const last: JsonObject = together && list.length > 0 ? { tool_calls: list } : {}
  const rows = Math.max(0, ...entries.map((entry) => entry.length))
  if (beside)
    for (let row = 0; row < rows; row++)
      delta({ tool_calls: entries.map((entry) => entry[row] ?? { function: { arguments: '' } }) })
  else if (!together) for (const entry of list) delta({ tool_calls: [entry] })

  const finish = typeof answer.finish === 'string' ? FINISH[answer.finish] : 'stop'
  const reason = finish === 'tool_calls' ? dice.one('tool_calls', 'stop', 'function_call') : finish
  const figures = dice.one('after', 'beside', 'within', 'twice')
  delta(last, { finish_reason: reason, ...(figures === 'within' ? { usage } : {}) })
  if (figures === 'beside') push([], { usage })
  else if (figures === 'twice') push([{ index: 0, delta: {}, finish_reason: null }], { usage })
  if (figures === 'after' || figures === 'twice') push([], { usage })
  out.push({ data: '[DONE]' })
  return out
}

const thinking = (text: string, dice: Dice): JsonObject =>
  dice.one<JsonObject>(
    { reasoning_content: text },
    { reasoning: text },
    { reasoning: text, reasoning_content: text },
    { reasoning: text, reasoning_details: [{ type: 'reasoning.text', text }] },
    { reasoning: text, reasoning_details: [{ type: 'reasoning.summary', summary: text, signature: 's' }] },
    { content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] },
  )
