// What several stories are made of.

import type { Answer, Ask, Tool } from '../story.ts'

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
export const PDF = 'JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoKdHJhaWxlcjw8L1Jvb3QgMSAwIFI+PgolJUVPRg=='
export const PICTURE_URL = 'https://pictures.example/kite.png'

export const user = (text: string): Ask['turns'][number] => ({ role: 'user', parts: [{ text }] })
export const says = (text: string, more: Partial<Answer> = {}): Answer => ({
  pieces: [{ text }],
  finish: 'stop',
  usage: { input: 21, output: 9 },
  ...more,
})

export const weather: Tool = {
  name: 'get_weather',
  description: 'The weather of a place.',
  schema: {
    type: 'object',
    properties: { place: { type: 'string' } },
    required: ['place'],
    additionalProperties: false,
  },
}
export const clock: Tool = { name: 'now', description: 'The time.' }
