// Stories of plain speech: what is said, how it ends, what it costs.

import type { Story } from '../story.ts'
import { PDF, PICTURE_URL, PIXEL, says, user } from './parts.ts'

const SYSTEM = { role: 'system' as const, parts: [{ text: 'Be brief.' }] }

export const SPEAKING: Story[] = [
  { group: 'Speech', name: 'text', ask: { turns: [user('Say hello.')] }, answer: says('Hello, you. 👋🏽 Grüß dich!') },
  {
    group: 'Speech',
    name: 'several turns, with instructions',
    ask: {
      turns: [SYSTEM, user('One?'), { role: 'assistant', parts: [{ text: 'Un.' }] }, user('Two?')],
      user: 'u-1',
    },
    answer: says('Deux.'),
  },
  {
    group: 'Speech',
    name: 'instructions in the middle',
    ask: {
      turns: [
        SYSTEM,
        user('One?'),
        { role: 'system', parts: [{ text: 'Now in French.' }] },
        { role: 'assistant', parts: [{ text: 'Un.' }] },
        user('Two?'),
      ],
    },
    answer: says('Deux.'),
  },
  {
    group: 'Speech',
    name: 'several messages of one side in a row',
    ask: { turns: [user('One'), user('and two?')] },
    answer: says('Three.'),
  },
  {
    group: 'Speech',
    name: 'text in several parts',
    ask: { turns: [user('Go on.')] },
    answer: says('', { pieces: [{ text: 'First, ' }, { text: 'then the rest.' }] }),
    differs: {
      vendors: ['chat-completions'],
      why: 'the wire has one text',
    },
  },
  {
    group: 'Speech',
    name: 'an empty answer',
    ask: { turns: [user('Say nothing.')] },
    answer: { pieces: [], finish: 'stop', usage: { input: 7, output: 0 } },
    lax: ['messages'],
  },
  {
    group: 'Speech',
    name: 'citations',
    ask: { turns: [user('Where is that written?')] },
    answer: says('', { pieces: [{ text: 'It is written there.', cites: ['https://pages.example/a'] }] }),
  },
  {
    group: 'Speech',
    name: 'refusal',
    ask: { turns: [user('Do harm.')] },
    answer: { pieces: [{ refusal: 'I will not do that.' }], finish: 'refusal', usage: { input: 8, output: 6 } },
    differs: { vendors: ['messages'], why: 'the wire marks a refusal by its stop reason; its words are text' },
  },
  {
    group: 'Speech',
    name: 'content filtered',
    ask: { turns: [user('Do harm.')] },
    answer: { pieces: [{ text: 'So you' }], finish: 'filter', usage: { input: 8, output: 3 } },
    differs: { vendors: ['messages'], why: 'the wire has one word for a filter and for a refusal' },
  },
  {
    group: 'Speech',
    name: 'stop sequence',
    ask: { turns: [user('Count.')], stop: ['END'] },
    answer: says('One, two', { finish: { stopSequence: 'END' } }),
    clients: ['chat-completions', 'messages'],
    vendors: ['chat-completions', 'messages'],
    differs: { vendors: ['chat-completions'], why: 'the wire does not say which sequence stopped the model' },
  },
  {
    group: 'Speech',
    name: 'stop sequence asked of a wire without them',
    ask: { turns: [user('Count.')], stop: ['END'] },
    answer: says('One, two END three'),
    clients: ['chat-completions', 'messages'],
    vendors: ['responses'],
    differs: { vendors: ['responses'], why: 'the wire has no stop sequences: the gateway ends the answer there' },
  },
  {
    group: 'Speech',
    name: 'output cap hit',
    ask: { turns: [user('A long tale.')], maxOutput: 16 },
    answer: says('Once upon a', { finish: 'length', usage: { input: 9, output: 16 } }),
  },
  {
    group: 'Figures',
    name: 'cached prompt, read and written',
    ask: {
      turns: [
        { role: 'system', parts: [{ text: 'A long handbook.', cached: true }] },
        { role: 'user', parts: [{ text: 'Go.', cached: true }] },
      ],
    },
    answer: says('Gone.', { usage: { input: 5, cacheRead: 1000, cacheWrite: 200, output: 4 } }),
    dropped: {
      'messages → chat-completions': ['system.0.cache_control', 'messages.0.content.0.cache_control'],
      'messages → responses': ['system.0.cache_control', 'messages.0.content.0.cache_control'],
    },
    because: 'vendor_b caches by itself; most of its models refuse markers',
  },
  {
    group: 'Figures',
    name: 'figures at the very end',
    ask: { turns: [user('Hello?')] },
    answer: says('Yes.', { late: true, usage: { input: 1200, cacheRead: 300, output: 2 } }),
  },
  {
    group: 'Reading',
    name: 'picture by URL',
    ask: { turns: [{ role: 'user', parts: [{ text: 'What is it?' }, { imageUrl: PICTURE_URL }] }] },
    answer: says('A kite.'),
  },
  {
    group: 'Reading',
    name: 'picture as base64',
    ask: { turns: [{ role: 'user', parts: [{ image: PIXEL }, { text: 'What is it?' }] }] },
    answer: says('A dot.'),
  },
  {
    group: 'Reading',
    name: 'PDF',
    ask: { turns: [{ role: 'user', parts: [{ pdf: PDF, name: 'one.pdf' }, { text: 'Sum it up.' }] }] },
    answer: says('It is empty.'),
  },
  {
    group: 'Reading',
    name: 'text document',
    ask: { turns: [{ role: 'user', parts: [{ file: 'Käse & Brot', name: 'list.txt' }, { text: 'Sum it up.' }] }] },
    answer: says('Food.'),
  },
]
