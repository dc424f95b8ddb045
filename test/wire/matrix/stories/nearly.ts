// Stories of servers and models that say things nearly right. Where bytes pass they stay as they came, so that each client has
// a row of its own without the vendors of its wire.

import { CHAT_WIRES } from '../../../../src/ir/wire.ts'
import type { Answer, Ask, Story } from '../story.ts'
import { says, user, weather } from './parts.ts'

const TOLD: { name: string; ask: Ask; answer: Answer }[] = [
  {
    name: 'a call under a near name',
    ask: { turns: [user('The weather in Paris?')], tools: [weather] },
    answer: {
      pieces: [{ call: 'call_near', name: 'get_weather', heard: 'functions.get_weather', input: '{"place":"Paris"}' }],
      finish: 'calls',
      usage: { input: 30, output: 12 },
    },
  },
  {
    name: 'a text that its server calls complete at the cap',
    ask: { turns: [user('Go on.')], maxOutput: 40 },
    answer: says('And so they went on and', { finish: 'length', lies: true, usage: { input: 9, output: 40 } }),
  },
]

export const NEARLY: Story[] = TOLD.flatMap(({ name, ...rest }) =>
  CHAT_WIRES.map((client) => ({
    group: 'Nearly right',
    name: `${name}, for ${client}`,
    ...rest,
    clients: [client],
    vendors: CHAT_WIRES.filter((vendor) => vendor !== client),
  })),
)
