// Stories of thought, and of answers in a form.

import type { Story } from '../story.ts'
import { says, user, weather } from './parts.ts'

const THOUGHT = { thought: 'Paris is a city. Let me see.' }
const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}
const PERSON = '{"name":"Dara","age":31}'

export const THINKING: Story[] = [
  {
    group: 'Thought',
    name: 'thought, then text',
    ask: { turns: [user('Think.')], effort: 'high', maxOutput: 8_000 },
    answer: says('', {
      pieces: [THOUGHT, { text: 'Done.' }],
      usage: { input: 12, output: 40, reasoning: 32 },
    }),
    dropped: { 'responses → chat-completions': ['reasoning.summary'] },
    because: 'the chat-completions wire cannot ask for a summary; what the vendor shows of its thought is passed on',
  },
  {
    group: 'Thought',
    name: 'call after thought',
    ask: { turns: [user('Weather in Paris?')], tools: [weather], effort: 'high', maxOutput: 8_000 },
    answer: {
      pieces: [THOUGHT, { call: 'call_1', name: 'get_weather', input: '{"place":"Paris"}' }],
      finish: 'calls',
      usage: { input: 50, output: 40, reasoning: 20 },
    },
    dropped: { 'responses → chat-completions': ['reasoning.summary'] },
    because: 'the chat-completions wire cannot ask for a summary; what the vendor shows of its thought is passed on',
  },
  {
    group: 'Thought',
    name: 'thought withheld by its vendor',
    ask: { turns: [user('Think.')], effort: 'high', maxOutput: 8_000 },
    answer: says('', {
      pieces: [{ thought: '', seal: 'c2VjcmV0' }, { text: 'Done.' }],
      usage: { input: 12, output: 40, reasoning: 32 },
    }),
    vendors: ['responses', 'messages'],
  },
  {
    group: 'Thought',
    name: 'effort asked of a model that does not think',
    ask: { turns: [user('Think.')], effort: 'high', maxOutput: 8_000 },
    answer: says('Done.'),
    variant: 'no-thought',
    dropped: {
      'chat-completions → responses': ['reasoning_effort'],
      'chat-completions → messages': ['reasoning_effort'],
      'responses → chat-completions': ['reasoning'],
      'responses → messages': ['reasoning'],
      'messages → chat-completions': ['thinking'],
      'messages → responses': ['thinking'],
    },
    because: 'the model is configured as one that does not think',
  },
  {
    group: 'Form',
    name: 'answer in a schema',
    ask: { turns: [user('A person.')], schema: SCHEMA },
    answer: says(PERSON),
  },
  {
    group: 'Form',
    name: 'answer in a schema, by a forced tool',
    ask: { turns: [user('A person.')], schema: SCHEMA },
    answer: says(PERSON),
    variant: 'no-forms',
  },
  {
    group: 'Form',
    name: 'sampling',
    ask: { turns: [user('Hello')], temperature: 0.5 },
    answer: says('Hello.'),
  },
  {
    group: 'Refused',
    name: 'several answers at once',
    ask: { turns: [user('Hello')], extra: { 'chat-completions': { n: 3 } } },
    answer: says('Hello.'),
    clients: ['chat-completions'],
    vendors: ['responses', 'messages'],
    refused: { 'chat-completions → responses': 'n', 'chat-completions → messages': 'n' },
  },
  {
    group: 'Refused',
    name: 'log probabilities',
    ask: { turns: [user('Hello')], extra: { 'chat-completions': { logprobs: true, top_logprobs: 2 } } },
    answer: says('Hello.'),
    clients: ['chat-completions'],
    vendors: ['messages'],
    refused: { 'chat-completions → messages': 'logprobs' },
  },
  {
    group: 'Refused',
    name: 'conversation kept at the provider',
    ask: {
      turns: [user('Hello')],
      extra: {
        responses: { previous_response_id: 'resp_1' },
        messages: { thread: { type: 'create' } },
      },
    },
    answer: says('Hello.'),
    clients: ['responses', 'messages'],
    vendors: ['chat-completions', 'responses', 'messages'],
    refused: {
      'responses → chat-completions': 'previous_response_id',
      'responses → messages': 'previous_response_id',
      'messages → chat-completions': 'thread',
      'messages → responses': 'thread',
    },
  },
  {
    group: 'Refused',
    name: 'tool that only its vendor runs',
    ask: {
      turns: [user('Search.')],
      extra: {
        responses: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
        messages: { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
      },
    },
    answer: says('Hello.'),
    clients: ['responses', 'messages'],
    refused: {
      'responses → chat-completions': 'tools.0',
      'responses → messages': 'tools.0',
      'messages → chat-completions': 'tools.0',
      'messages → responses': 'tools.0',
    },
  },
]
