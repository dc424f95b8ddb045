// The cases: what is asked of the gateway, what of the bare proxy beside it, and the bar the ratio is held against.

import type { ChatWire } from '../src/ir/wire.ts'
import { streamedText } from './frames.ts'
import type { Ask, Completeness } from './job.ts'
import type { Provider } from './processes.ts'
import { agentChat, agentConversation, smallQuestion, smallResponsesQuestion, withPictures } from './requests.ts'

/** An ask without the port, and the wire its answer comes in. */
export type Question = { wire: ChatWire; stream: boolean; body: string }

export const CASE_IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'] as const

/** `bar`: of the ratio to the bare proxy, where there is one to reach. */
export type Case = {
  id: (typeof CASE_IDS)[number]
  name: string
  connections: number
  bar?: number
  question: Question
}

export const MODEL_A = 'vendorA-sonnet-5'
export const MODEL_B = 'vendorB-5.5'
/** One that the configuration adds, as owners do: what is not said of it is as cautious as can be, text only included. */
export const MODEL_OWN = 'own-coder'
export const AGENT_BYTES = 300_000
/** Screenshots in a conversation, and how many base64 characters each has. */
const PICTURES = { count: 4, chars: 150_000 }

const PATHS = {
  'chat-completions': '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
} as const
const WITH_USAGE = { stream_options: { include_usage: true } }

const chat = (model: string, stream: boolean): Question => ({
  wire: 'chat-completions',
  stream,
  body: smallQuestion(model, stream, stream ? WITH_USAGE : {}),
})

export const streamQuestion = (wire: ChatWire, model: string): Question => {
  if (wire === 'chat-completions') return chat(model, true)
  if (wire === 'messages') return { wire, stream: true, body: smallQuestion(model, true) }
  return { wire, stream: true, body: smallResponsesQuestion(model) }
}

/** The agent's conversation of AGENT_BYTES. */
export const agentQuestion = (model: string, stream = false): Question => ({
  wire: 'messages',
  stream,
  body: agentConversation(model, AGENT_BYTES, { stream }),
})

/** The same as a client of the chat wire sends it. Nothing names the conversation but its opening. */
const agentChatQuestion = (model: string): Question => ({
  wire: 'chat-completions',
  stream: false,
  body: agentChat(model, AGENT_BYTES),
})

export const CASES: Case[] = [
  { id: 'a', name: 'small chat, whole answer', connections: 32, bar: 0.75, question: chat(MODEL_B, false) },
  { id: 'b', name: 'chat stream, 200 frames', connections: 16, bar: 0.85, question: chat(MODEL_B, true) },
  { id: 'c', name: '300 KB messages body', connections: 16, bar: 0.8, question: agentQuestion(MODEL_A) },
  { id: 'd', name: 'chat client, vendor_a stream', connections: 16, bar: 0.5, question: chat(MODEL_A, true) },
  {
    id: 'e',
    name: 'messages client, vendor_b stream',
    connections: 16,
    bar: 0.5,
    question: streamQuestion('messages', MODEL_B),
  },
  { id: 'f', name: '300 KB chat body', connections: 16, question: agentChatQuestion(MODEL_B) },
  { id: 'g', name: 'c for a model of one’s own', connections: 16, question: agentQuestion(MODEL_OWN) },
  {
    id: 'h',
    name: 'c with pictures, 900 KB',
    connections: 16,
    question: { wire: 'messages', stream: false, body: withPictures(agentQuestion(MODEL_A).body, PICTURES) },
  },
  { id: 'i', name: 'c translated', connections: 16, question: agentQuestion(MODEL_B) },
]

/** The question as one server is asked it. */
export const askOf = (question: Question, port: number, key: string): Ask => ({
  port,
  path: PATHS[question.wire],
  headers: {
    authorization: `Bearer ${key}`,
    ...(question.wire === 'messages' ? { 'vendorA-version': '2023-06-01' } : {}),
  },
  body: question.body,
})

type Delta = { type?: string; delta?: string | { text?: string }; choices?: { delta?: { content?: string } }[] }

const deltaText = (data: string): string => {
  if (data === '[DONE]') return ''
  const { type, delta, choices } = JSON.parse(data) as Delta
  if (type === 'response.output_text.delta' && typeof delta === 'string') return delta
  return choices?.[0]?.delta?.content ?? (typeof delta === 'object' ? (delta.text ?? '') : '')
}

const LAST_WORDS: Record<ChatWire, string> = {
  'chat-completions': '[DONE]',
  messages: '"message_stop"}',
  responses: '}',
}

/**
 * Asks once and reads the answer in full: the text must be the provider's, whatever wire it came through. Returns what
 * later answers are held against (a little less in bytes, since ids may differ in length) and the wire the provider
 * was asked in.
 */
export const probe = async (question: Question, ask: Ask, provider: Provider): Promise<[Completeness, ChatWire]> => {
  const answer = await fetch(`http://127.0.0.1:${ask.port}${ask.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ask.headers },
    body: ask.body,
  })
  const body = await answer.text()
  if (answer.status !== 200) throw new Error(`${ask.path} answered ${answer.status}: ${body.slice(0, 500)}`)
  const { path } = await provider.state()
  const wire = (Object.keys(PATHS) as ChatWire[]).find((name) => PATHS[name] === path)
  if (!wire) throw new Error(`the provider was asked ${path}`)
  const bytes = Math.floor(Buffer.byteLength(body) * 0.97)
  if (!question.stream) {
    if (!body.includes('Phnom Penh')) throw new Error(`${ask.path} answered another text: ${body.slice(0, 500)}`)
    return [{ tail: '}', bytes }, wire]
  }
  const text = [...body.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => deltaText(data)).join('')
  if (text !== streamedText(wire)) throw new Error(`${ask.path} streamed another text: ${JSON.stringify(text)}`)
  return [{ tail: LAST_WORDS[question.wire], bytes }, wire]
}
