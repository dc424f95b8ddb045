// What a demo model says: a pure function of the prompt. It echoes, calls tools, quotes their results, follows schemas.

import type { Json } from '../ir/json.ts'
import { numberOf, readDirectives, withoutDirectives } from './directive.ts'
import type { CacheFigures } from './prefixes.ts'
import { type Answer, type Call, countTokens, type Media, type Prompt, type Tool, words } from './prompt.ts'
import { synthesize } from './synthesize.ts'

const REFUSAL = "I'm very sorry, but I can't assist with that request."
const LONG_WORDS = 'the quick brown fox jumps over the lazy dog and then it takes a well deserved nap'.split(' ')

/** `preface`: whether the vendor's models say something before they call a tool. */
export const answer = (prompt: Prompt, cache: CacheFigures, preface: boolean): Answer => {
  const directives = readDirectives(prompt.said)
  const directive = (name: string) => directives.find((one) => one.name === name)
  const refusal = directive('refusal') === undefined ? undefined : REFUSAL
  const long = directive('long')
  const calls = refusal === undefined ? choose(prompt) : []
  const full: Draft = {
    ...(prompt.reasoning ? { reasoning: reason(prompt, calls) } : {}),
    text: refusal !== undefined ? '' : long ? filler(numberOf(long, 100)) : speak(prompt, calls, preface),
    ...(refusal === undefined ? {} : { refusal }),
    calls,
    stop: refusal !== undefined ? 'refusal' : calls.length > 0 ? 'tool-calls' : 'end',
  }
  const draft = withinBudget(atStopSequence(full, prompt.stop), prompt.maxTokens ?? Number.POSITIVE_INFINITY)
  const reasoning = countTokens(draft.reasoning ?? '')
  const spent =
    reasoning + countTokens(draft.text) + countTokens(draft.refusal ?? '') + sum(draft.calls.map(callTokens))
  const figures = { ...cache, output: Math.max(1, spent), reasoning }
  const [input, output] = (directive('usage')?.argument ?? '').split(',').map(Number)
  if (input !== undefined && output !== undefined) {
    return { ...draft, figures: { ...figures, input, output, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 } }
  }
  return { ...draft, figures }
}

type Draft = Omit<Answer, 'figures'>

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0)
const callTokens = (call: Call): number => countTokens(`${call.tool.name} ${call.input}`)
const filler = (count: number): string =>
  Array.from({ length: count }, (_, at) => LONG_WORDS[at % LONG_WORDS.length]).join(' ')

const atStopSequence = (draft: Draft, stop: string[]): Draft => {
  const found = stop
    .map((sequence) => ({ sequence, at: sequence === '' ? -1 : draft.text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at)[0]
  if (found === undefined) return draft
  const { calls: _, ...rest } = draft
  return {
    ...rest,
    text: draft.text.slice(0, found.at),
    calls: [],
    stop: 'stop-sequence',
    stopSequence: found.sequence,
  }
}

// A call that does not fit is left out whole: half its arguments would be no JSON.
const withinBudget = (draft: Draft, budget: number): Draft => {
  let left = budget
  const cut = (text: string): string => {
    const kept = words(text).slice(0, Math.max(0, left)).join('')
    left -= countTokens(text)
    return kept
  }
  const reasoning = draft.reasoning === undefined ? undefined : cut(draft.reasoning)
  const text = cut(draft.text)
  const refusal = draft.refusal === undefined ? undefined : cut(draft.refusal)
  const calls = draft.calls.filter((call) => {
    left -= callTokens(call)
    return left >= 0
  })
  if (left >= 0) return draft
  const { stopSequence: _, ...rest } = draft
  return {
    ...rest,
    ...(reasoning === undefined ? {} : { reasoning }),
    text,
    ...(refusal === undefined ? {} : { refusal }),
    calls,
    stop: 'max-tokens',
  }
}

const speak = (prompt: Prompt, calls: Call[], preface: boolean): string => {
  if (calls.length > 0) return preface && prompt.choice === 'auto' ? 'Let me look that up for you.' : ''
  if (prompt.schema !== undefined) return JSON.stringify(structured(prompt))
  const said = withoutDirectives(prompt.said)
  const lines = [
    ...prompt.results.map((result) => `The tool answered: ${excerpt(result, 400)}`),
    ...prompt.media.map((media) => `I can see ${describe(media)}.`),
  ]
  if (prompt.results.length > 0) return lines.join('\n')
  const echo = said === '' ? 'You said nothing.' : `You said: “${excerpt(said, 400)}”`
  return ['Hello 👋 from a demo model.', ...lines, echo].join(' ')
}

const reason = (prompt: Prompt, calls: Call[]): string =>
  `The user says “${excerpt(withoutDirectives(prompt.said), 120)}”. ${
    calls.length > 0
      ? `I should call ${calls.map((call) => call.tool.name).join(' and ')}.`
      : 'I should answer directly.'
  }`

const structured = (prompt: Prompt): Json => {
  const schema = prompt.schema ?? {}
  const said = withoutDirectives(prompt.said)
  return Object.keys(schema).length === 0 ? { answer: excerpt(said, 200) } : synthesize(schema, said)
}

const describe = (media: Media): string =>
  media.url === undefined ? `${media.mediaType} of ${media.bytes ?? 0} bytes` : `${media.mediaType} at ${media.url}`

const excerpt = (text: string, length: number): string => {
  const points = Array.from(text.trim())
  return points.length > length ? `${points.slice(0, length).join('')}…` : points.join('')
}

/** The tools to call now: those named, or the first one where a call is demanded. */
const choose = (prompt: Prompt): Call[] => {
  const { tools, choice, said } = prompt
  if (choice === 'none' || tools.length === 0) return []
  const named = tools.filter((tool) => mentions(said, tool.name))
  if (typeof choice === 'object') return callsOf(prompt, tools.filter((tool) => tool.name === choice.name).slice(0, 1))
  if (choice === 'required') return callsOf(prompt, named.length > 0 ? named : tools.slice(0, 1))
  if (prompt.results.length > 0) return []
  const asked = /\b(use|call|using) (a|the|your|some) tools?\b|\bparallel\b/i.test(said)
  return callsOf(prompt, named.length > 0 ? named : asked ? tools.slice(0, /\bparallel\b/i.test(said) ? 2 : 1) : [])
}

const callsOf = (prompt: Prompt, tools: Tool[]): Call[] => {
  const [first] = tools
  const twice = first !== undefined && tools.length === 1 && /\bparallel\b/i.test(prompt.said)
  const wanted = prompt.parallel ? (twice ? [first, first] : tools) : tools.slice(0, 1)
  const said = withoutDirectives(prompt.said)
  return wanted.map((tool, at) => ({
    tool,
    input: tool.custom ? excerpt(said, 200) : JSON.stringify(toObject(synthesize(tool.schema, said, twice ? at : 0))),
  }))
}

const toObject = (value: Json): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

/** By its name, as written or as words, or by a telling word of it: `get_weather` by "weather". */
const mentions = (said: string, name: string): boolean => {
  const text = said.toLowerCase()
  const parts = name
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  if (text.includes(name.toLowerCase()) && name.length >= 4) return true
  if (parts.length > 1 && text.includes(parts.join(' '))) return true
  return parts.length > 1 && parts.some((part) => part.length >= 6 && new RegExp(`\\b${part}`).test(text))
}
