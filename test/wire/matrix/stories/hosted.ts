// Stories of what runs at the vendor: its web search, and the pictures that it draws.

import type { Ask, Story } from '../story.ts'
import { PIXEL, user, weather } from './parts.ts'

const PAGE = 'https://example.com/rain'
const RESPONSES: Ask['extra'] = { responses: { tools: [{ type: 'web_search' }] } }
const MESSAGES: Ask['extra'] = { messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] } }
const searches: Ask = {
  turns: [user('Will it rain?')],
  extra: { 'chat-completions': { web_search_options: {} }, ...RESPONSES, ...MESSAGES },
}
const usage = { input: 60, output: 14 }

export const HOSTED: Story[] = [
  {
    group: 'At the vendor',
    name: 'web search, with its pages',
    ask: searches,
    answer: {
      pieces: [
        { search: 'rain tomorrow', found: [PAGE] },
        { text: 'It will rain.', cites: [PAGE] },
      ],
      finish: 'stop',
      usage,
    },
    vendors: ['responses', 'messages'],
    differs: {
      vendors: ['messages'],
      why: 'what its search found is sealed: clients of the responses wire hold it as an item of its own',
    },
  },
  {
    group: 'At the vendor',
    name: 'web search asked of a model that always searches',
    ask: searches,
    answer: { pieces: [{ text: 'It will rain.', cites: [PAGE] }], finish: 'stop', usage },
    vendors: ['chat-completions'],
    refused: { 'responses → chat-completions': 'tools.0', 'messages → chat-completions': 'tools.0' },
  },
  {
    group: 'At the vendor',
    name: 'web search beside tools, of a vendor that has none',
    ask: {
      turns: [user('Will it rain?')],
      tools: [weather],
      extra: {
        responses: {
          tools: [
            { type: 'function', name: weather.name, parameters: weather.schema ?? {}, strict: false },
            { type: 'web_search' },
          ],
        },
        messages: {
          tools: [
            { name: weather.name, input_schema: weather.schema ?? {} },
            { type: 'web_search_20250305', name: 'web_search' },
          ],
        },
      },
    },
    answer: { pieces: [{ text: 'It will rain.' }], finish: 'stop', usage },
    clients: ['responses', 'messages'],
    vendors: ['chat-completions'],
    dropped: { 'responses → chat-completions': ['tools.1'], 'messages → chat-completions': ['tools.1'] },
    because: 'the chat-completions wire has no search that a model may choose to make',
  },
  {
    group: 'At the vendor',
    name: 'picture in an answer',
    ask: { turns: [user('Draw the rain.')] },
    answer: { pieces: [{ text: 'Here it is.' }, { drawn: PIXEL }], finish: 'stop', usage },
    vendors: ['chat-completions', 'responses'],
  },
]
