// What a server is asked through the gateway on each client wire, and what is right. The answers are those of the tiny
// model (model.py), which says the same each time.

import { deepEquals } from 'bun'
import { drawPng } from '../../src/demo/png.ts'
import { ask, type ClientWire, count, type Heard, type Question, refusalOf, type Server } from './ask.ts'

/** A word where it is right, what was seen where it is not. */
export type Seen = { right: boolean; word: string }
export type Cell = { name: string; of: string; try(wire: ClientWire, server: Server): Promise<Seen> }

const STOPPED = 'The sky is blue and'
const SAID = 'The sky is blue and grass grows green below it!'

const right = (word = 'yes'): Seen => ({ right: true, word })
const wrong = (word: string): Seen => ({ right: false, word })

const shown = (heard: Heard): string =>
  [
    `"${heard.text.slice(0, 60)}"`,
    ...(heard.thought === '' ? [] : ['a thought']),
    ...heard.calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`),
    `ends as ${heard.end}`,
    `${heard.output} tokens`,
  ].join(', ')

const same = (heard: Heard, wanted: Partial<Heard>): Seen =>
  Object.entries(wanted).every(([name, value]) => deepEquals(heard[name as keyof Heard], value)) && heard.output > 0
    ? right()
    : wrong(shown(heard))

const TOOL: Question['tool'] = {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const SCHEMA = {
  type: 'object',
  properties: { town: { type: 'string' }, count: { type: 'integer' } },
  required: ['town', 'count'],
  additionalProperties: false,
}
const PICTURE = Buffer.from(drawPng(16, 16, 'tiny')).toString('base64')
const WEATHER = 'What is the weather in Paris?'

const toolRound =
  (stream: boolean): Cell['try'] =>
  async (wire, server) => {
    const asked: Question = { said: WEATHER, stream, ...(TOOL === undefined ? {} : { tool: TOOL }) }
    const first = await ask(wire, server, asked)
    const [call] = first.calls
    if (first.calls.length !== 1 || call?.name !== 'get_weather') return wrong(shown(first))
    if (!deepEquals(call.input, { city: 'Paris' }) || first.end !== 'calls') return wrong(shown(first))
    const second = await ask(wire, server, { ...asked, result: { call, text: 'sunny' } })
    return same({ ...second, text: second.text.trim() }, { text: 'It will be sunny there~', end: 'end', calls: [] })
  }

/** Servers take the space off the front, or leave it. */
const cutAt20 = (heard: Heard): Seen =>
  same({ ...heard, text: heard.text.trim() }, { text: 'la '.repeat(20).trim(), end: 'cap', output: 20 })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const CELLS: readonly Cell[] = [
  {
    name: 'text',
    of: 'a plain answer, how it ended and its figures',
    try: async (wire, server) => same(await ask(wire, server, { said: 'Hello' }), { text: SAID, end: 'end' }),
  },
  {
    name: 'stream',
    of: 'the same in pieces',
    try: async (wire, server) => {
      const heard = await ask(wire, server, { said: 'Hello', stream: true })
      return heard.pieces > 1 ? same(heard, { text: SAID, end: 'end' }) : wrong(`${heard.pieces} pieces`)
    },
  },
  {
    name: 'thought',
    of: 'a thought before the answer, streamed',
    try: async (wire, server) => {
      const heard = await ask(wire, server, { said: 'Please think', stream: true })
      if (!heard.text.trim().endsWith(SAID) || heard.end !== 'end') return wrong(shown(heard))
      if (heard.thought.includes('Let me think')) return right()
      return right(heard.text.includes('Let me think') ? 'as text' : 'left out')
    },
  },
  { name: 'tools', of: 'a call and its result', try: toolRound(false) },
  { name: 'tools, streamed', of: 'the same in streams', try: toolRound(true) },
  {
    name: 'typed',
    of: 'an answer by a JSON schema',
    try: async (wire, server) => {
      const heard = await ask(wire, server, { said: 'Answer in JSON', schema: SCHEMA })
      const value = parsed(heard.text)
      const fits =
        typeof value === 'object' &&
        value !== null &&
        'town' in value &&
        'count' in value &&
        Number.isInteger(value.count)
      return fits && heard.end === 'end' ? right() : wrong(shown(heard))
    },
  },
  {
    name: 'picture',
    of: 'a picture to a model without eyes',
    try: async (wire, server) => {
      try {
        const heard = await ask(wire, server, { said: 'What is this?', picture: PICTURE })
        return heard.text.trim() === SAID ? right('left out') : wrong(shown(heard))
      } catch (thrown) {
        const told = refusalOf(thrown)
        if (told === undefined) throw thrown
        return told.status === 400 && told.text.includes('Could not process image')
          ? right('told')
          : wrong(`${told.status} ${told.text}`)
      }
    },
  },
  {
    name: 'too long',
    of: 'a prompt that is longer than the context',
    try: async (wire, server) => {
      try {
        await ask(wire, server, { said: 'long '.repeat(2_000) })
        return right('answered')
      } catch (thrown) {
        const told = refusalOf(thrown)
        if (told === undefined) throw thrown
        if (told.status !== 400 || told.code !== 'context_length_exceeded') return wrong(`${told.status} ${told.text}`)
        return right(/\d{4,}/.test(told.text) ? 'told' : 'told without figures')
      }
    },
  },
  {
    name: 'count',
    of: 'the tokens of a prompt',
    try: async (wire, server) => {
      const tokens = await count(wire, server, 'Hello')
      return tokens === undefined ? right('') : tokens > 0 ? right() : wrong(`${tokens}`)
    },
  },
  {
    name: 'cap',
    of: 'an answer cut at 20 tokens',
    try: async (wire, server) => cutAt20(await ask(wire, server, { said: 'Go on forever', cap: 20 })),
  },
  {
    name: 'cap, streamed',
    of: 'the same in a stream',
    try: async (wire, server) => cutAt20(await ask(wire, server, { said: 'Go on forever', cap: 20, stream: true })),
  },
  {
    name: 'stop',
    of: 'an answer ended by a word, in a stream',
    try: async (wire, server) => {
      // This wire has no such member.
      if (wire === 'responses') return right('')
      const heard = await ask(wire, server, { said: 'Hello', stop: ' grass', stream: true })
      // No answer of the chat-completions wire says which word ended it.
      const seen = same(heard, { text: STOPPED })
      return seen.right && heard.end !== 'stop' ? { ...seen, word: `ends as ${heard.end}` } : seen
    },
  },
]
