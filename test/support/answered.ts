// An official SDK whose every request is answered with a text that is there already.

import OpenAI from 'openai'

export const openaiAnswered = (text: string, type = 'text/event-stream'): OpenAI =>
  new OpenAI({
    apiKey: 'k',
    baseURL: 'http://127.0.0.1:9/v1',
    maxRetries: 0,
    fetch: async () => new Response(text, { headers: { 'content-type': type } }),
  })
