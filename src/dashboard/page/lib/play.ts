// One request of the playground: its body on any wire, its answer read by the wire's own decoder, every frame kept.

import type { ChatEvent, FinishReason } from '../../../ir/event.ts'
import type { Usage } from '../../../ir/usage.ts'
import { type Frame, FrameReader } from '../../../lib/sse.ts'
import { decodeEvents as chatEvents } from '../../../wire/chat-completions/decode-events.ts'
import { decodeEvents as messagesEvents } from '../../../wire/messages/decode-events.ts'
import { decodeEvents as responsesEvents } from '../../../wire/responses/decode-events.ts'
import { ApiError, bearer, errorOf, send } from './api.ts'

export const PLAY_WIRES = [
  ['chat-completions', 'Chat completions', '/v1/chat/completions'],
  ['responses', 'Responses', '/v1/responses'],
  ['messages', 'Messages', '/v1/messages'],
  ['images', 'Images', '/v1/images/generations'],
] as const
export type PlayWire = (typeof PLAY_WIRES)[number][0]

/** What was said before: the user's words or what a tool gave, and the model's answer. */
export type Turn = { text: string; image?: string | undefined; answer: string; calls: readonly Call[] }

/** How much a model is to think; empty: as it does unasked. */
export const EFFORTS = ['', 'low', 'medium', 'high'] as const
export type Effort = (typeof EFFORTS)[number]

export type Prompt = {
  wire: PlayWire
  model: string
  system: string
  /** Where the last turn ended in calls, what the tool gave. */
  text: string
  /** A data URL of an image to show the model. */
  image?: string | undefined
  /** Offer the model a tool, to see how it calls one. */
  tool: boolean
  size: string
  maxTokens: number
  /** Undefined: the model's own. */
  temperature: number | undefined
  effort: Effort
  turns: readonly Turn[]
}

const TOOL = {
  name: 'get_weather',
  description: 'The weather in a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
}

/** One thing said, in the order it is sent. */
type Said =
  | { by: 'user'; text: string; image?: string | undefined }
  | { by: 'model'; text: string; calls: readonly Call[] }
  | { by: 'tool'; text: string; calls: readonly Call[] }

const saidIn = ({ turns, text, image }: Prompt): Said[] => {
  const said: Said[] = []
  for (const turn of [...turns, { text, image, answer: undefined, calls: [] }]) {
    const before = said.at(-1)
    if (before?.by === 'model' && before.calls.length > 0)
      said.push({ by: 'tool', text: turn.text, calls: before.calls })
    else said.push({ by: 'user', text: turn.text, image: turn.image })
    if (turn.answer !== undefined) said.push({ by: 'model', text: turn.answer, calls: turn.calls })
  }
  return said
}

/** The request as it goes out. */
export const bodyOf = (prompt: Prompt): object => {
  const { wire, model, text, size, tool, system, maxTokens, temperature, effort } = prompt
  const said = saidIn(prompt)
  const more = { stream: true, ...(temperature === undefined ? {} : { temperature }) }
  switch (wire) {
    case 'chat-completions':
      return {
        model,
        messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...said.flatMap(chatMessages)],
        max_completion_tokens: maxTokens,
        ...more,
        stream_options: { include_usage: true },
        ...(effort === '' ? {} : { reasoning_effort: effort }),
        ...(tool ? { tools: [chatTool] } : {}),
      }
    case 'responses':
      return {
        model,
        ...(system === '' ? {} : { instructions: system }),
        input: said.flatMap(responsesItems),
        max_output_tokens: maxTokens,
        ...more,
        ...(effort === '' ? {} : { reasoning: { effort, summary: 'auto' } }),
        ...(tool
          ? { tools: [{ type: 'function', name: TOOL.name, description: TOOL.description, parameters: TOOL.schema }] }
          : {}),
      }
    case 'messages':
      return {
        model,
        max_tokens: maxTokens,
        ...(system === '' ? {} : { system }),
        messages: said.map(message),
        ...more,
        ...(effort === '' ? {} : { thinking: { type: 'adaptive' }, output_config: { effort } }),
        ...(tool ? { tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.schema }] } : {}),
      }
    case 'images':
      return { model, prompt: text, size }
  }
}

const chatTool = {
  type: 'function',
  function: { name: TOOL.name, description: TOOL.description, parameters: TOOL.schema },
}

const chatMessages = (said: Said): object[] => {
  if (said.by === 'tool') return said.calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: said.text }))
  if (said.by === 'model') {
    const calls = said.calls.map(({ id, name, input }) => ({
      ...{ id, type: 'function', function: { name, arguments: input } },
    }))
    return [{ role: 'assistant', content: said.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }]
  }
  const { text, image } = said
  const content = image
    ? [
        { type: 'text', text },
        { type: 'image_url', image_url: { url: image } },
      ]
    : text
  return [{ role: 'user', content }]
}

const responsesItems = (said: Said): object[] => {
  if (said.by === 'tool')
    return said.calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: said.text }))
  if (said.by === 'model') {
    const calls = said.calls.map(({ id, name, input }) => ({
      ...{ type: 'function_call', call_id: id, name, arguments: input },
    }))
    return [...(said.text === '' ? [] : [{ role: 'assistant', content: said.text }]), ...calls]
  }
  const { text, image } = said
  const content = image
    ? [
        { type: 'input_text', text },
        { type: 'input_image', image_url: image, detail: 'auto' },
      ]
    : text
  return [{ role: 'user', content }]
}

const message = (said: Said): object => {
  if (said.by === 'tool')
    return {
      role: 'user',
      content: said.calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: said.text })),
    }
  if (said.by === 'model') {
    const calls = said.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: objectIn(input) }))
    return {
      role: 'assistant',
      content: [...(said.text === '' ? [] : [{ type: 'text', text: said.text }]), ...calls],
    }
  }
  const { text, image } = said
  const [, mediaType = '', data = ''] = /^data:([^;]+);base64,(.*)$/s.exec(image ?? '') ?? []
  const content = image
    ? [
        { type: 'image', source: { type: 'base64', media_type: mediaType, data } },
        { type: 'text', text },
      ]
    : text
  return { role: 'user', content }
}

const objectIn = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}

export type Call = { part: number; id: string; name: string; input: string }

/** What has come so far. Times in milliseconds since the request went out. */
export type Play = {
  state: 'running' | 'done' | 'failed' | 'stopped'
  status?: number
  requestId?: string
  text: string
  reasoning: string
  calls: Call[]
  images: string[]
  usage?: Usage
  /** Why the model stopped. */
  finish?: FinishReason
  error?: string
  frames: { at: number; frame: Frame }[]
  /** An answer that was no stream. */
  body?: string
  firstMs?: number
  totalMs?: number
}

const DECODERS = { 'chat-completions': chatEvents, responses: responsesEvents, messages: messagesEvents }
/** More frames than this are not kept: a tab is no archive. */
const MOST_FRAMES = 5_000

/** Sends the request and tells what has come, again and again until it is over. Never throws. */
export const play = async (
  prompt: Prompt,
  keyOf: () => Promise<string>,
  signal: AbortSignal,
  show: (play: Play) => void,
): Promise<void> => {
  const started = performance.now()
  const now = (): number => Math.round(performance.now() - started)
  let so: Play = { state: 'running', text: '', reasoning: '', calls: [], images: [], frames: [] }
  const put = (change: Partial<Play>): void => {
    so = { ...so, ...change }
    show(so)
  }
  put({})
  try {
    const path = PLAY_WIRES.find(([wire]) => wire === prompt.wire)?.[2] ?? ''
    const answer = await send(path, {
      method: 'POST',
      headers: { ...bearer(await keyOf()), 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(prompt)),
      signal,
    })
    const id = answer.headers.get('x-request-id')
    put({ status: answer.status, ...(id === null ? {} : { requestId: id }) })
    if (!answer.ok) {
      const copy = await answer.clone().text()
      put({ state: 'failed', error: (await errorOf(answer)).message, body: copy, totalMs: now() })
      return
    }
    if (prompt.wire === 'images') {
      const body = (await answer.json()) as { data?: { b64_json?: string; url?: string }[] }
      const images = (body.data ?? []).flatMap(({ b64_json }) =>
        b64_json ? [`data:image/png;base64,${b64_json}`] : [],
      )
      put({ state: 'done', images, body: JSON.stringify(body, shorten, 2), totalMs: now() })
      return
    }
    await readStream(answer, { decoder: DECODERS[prompt.wire](), now, so: () => so, put })
    if (so.state === 'running') put({ state: 'done' })
    put({ totalMs: now() })
  } catch (error) {
    const why = error instanceof ApiError ? error.message : 'The connection broke before the end. Try again.'
    put({ ...(signal.aborted ? { state: 'stopped' } : { state: 'failed', error: why }), totalMs: now() })
  }
}

const shorten = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > 400 ? `${value.slice(0, 60)}… (${value.length} characters)` : value

type Playing = {
  decoder: { push(frame: Frame): ChatEvent[]; end(): ChatEvent[] }
  now(): number
  so(): Play
  put(change: Partial<Play>): void
}

const readStream = async (answer: Response, { decoder, now, so, put }: Playing): Promise<void> => {
  const reader = new FrameReader()
  const take = (frames: Frame[], last: boolean): void => {
    if (frames.length === 0 && !last) return
    const kept = [...so().frames, ...frames.map((frame) => ({ at: now(), frame }))].slice(0, MOST_FRAMES)
    put({ frames: kept, ...(so().firstMs === undefined ? { firstMs: now() } : {}) })
    const events = [...frames.flatMap((frame) => decoder.push(frame)), ...(last ? decoder.end() : [])]
    put(events.reduce(applied, so()))
  }
  const chunks = answer.body?.getReader()
  for (let next = await chunks?.read(); next && !next.done; next = await chunks?.read())
    take(reader.push(next.value), false)
  take(reader.end(), true)
}

const applied = (play: Play, event: ChatEvent): Play => {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
      return { ...play, text: play.text + event.text }
    case 'reasoning-delta':
      return { ...play, reasoning: play.reasoning + event.text }
    case 'tool-start':
      return { ...play, calls: [...play.calls, { part: event.part, id: event.id, name: event.name, input: '' }] }
    case 'tool-delta':
      return {
        ...play,
        calls: play.calls.map((call) =>
          call.part === event.part ? { ...call, input: call.input + event.text } : call,
        ),
      }
    case 'usage':
      return { ...play, usage: { ...play.usage, ...event.usage } }
    case 'finish':
      return { ...play, usage: { ...play.usage, ...event.usage }, finish: event.reason, state: 'done' }
    case 'error':
      return { ...play, state: 'failed', error: event.error.message }
    default:
      return play
  }
}
