// What is said in an exchange of a key that has it exported, read in the IR's words whatever the wires: the request as it was asked,
// and the answer as its provider gave it, as far as it came. Nothing that goes wrong here is anyone else's trouble.

import { unfold } from '../ir/fold.ts'
import { asObjects, asText, isObject, type Json, type JsonObject, parseObject } from '../ir/json.ts'
import { isChatWire } from '../ir/wire.ts'
import { bytesOfBase64 } from '../lib/base64.ts'
import type { Frame } from '../lib/sse.ts'
import { pieceOf } from '../wire/audio/tap.ts'
import type { ChatCodec, EventDecoder, PassCodec, Tap, Undo } from '../wire/codec.ts'
import type { FormFile } from '../wire/form.ts'
import { chatCodec } from '../wire/index.ts'
import { parseDataUrl, sniffMediaType } from '../wire/turns/data-url.ts'
import type { Exchange } from './exchange.ts'
import type { Relay } from './services.ts'
import type { Source } from './source.ts'
import type { Modality, Said, Told } from './trace.ts'

/** In turns, as it takes all of the body. */
export const hearAsked = async (relay: Relay, exchange: Exchange, said: Said): Promise<void> => {
  const { body } = exchange
  try {
    await relay.turns(body.size, () => {
      const whole = body.whole().body
      const { codec, bodyWire } = exchange
      if (isChatWire(codec.wire)) hearRequest(said, chatCodec(codec.operation ?? bodyWire), whole)
      else said.askedFor(askedIn(codec, whole))
    })
  } catch {
    // Its client is told what is wrong with it.
  }
}

/** Members that hold instructions apart from the conversation. */
const APART = { 'chat-completions': undefined, responses: 'instructions', messages: 'system' } as const

const hearRequest = (said: Said, codec: ChatCodec, body: JsonObject): void => {
  const apart = APART[codec.wire]
  const { turns } = codec.decodeRequest(body)
  const isApart = apart !== undefined && Boolean(body[apart]) && turns[0]?.role === 'system'
  said.asked(turns, isApart ? 1 : 0)
}

/** What is asked of the wires that only pass stands in few members. */
const ASKED = ['instructions', 'prompt', 'input', 'image', 'image[]', 'mask', 'file'] as const

const askedIn = ({ wire }: PassCodec, body: JsonObject): Told[] =>
  ASKED.flatMap((name) => toldOf(body[name], wire === 'audio' ? 'audio' : 'image'))

const toldOf = (value: Json | undefined, modality: Modality): Told[] => {
  if (typeof value === 'string') return value === '' ? [] : [textOrPicture(value)]
  // A text may be given as its tokens.
  if (Array.isArray(value) && value.every((each) => typeof each === 'number'))
    return value.length === 0 ? [] : [{ type: 'value', kind: 'tokens', value: { count: value.length } }]
  if (Array.isArray(value)) return value.flatMap((each) => toldOf(each, modality))
  if (!isObject(value)) return []
  if (isFile(value)) {
    const mediaType = sniffMediaType(Buffer.from(value.opening, 'latin1').toString('base64'))
    return [{ type: 'file', modality, mediaType, bytes: value.bytes }]
  }
  const url = isObject(value.image_url) ? value.image_url.url : value.image_url
  return [value.text, url].flatMap((each) => toldOf(each, modality))
}

const isFile = (value: object): value is FormFile => 'bytes' in value && 'opening' in value

const textOrPicture = (text: string): Told => {
  const inline = text.startsWith('data:') ? parseDataUrl(text, 'application/octet-stream') : undefined
  return inline === undefined ? { type: 'text', text } : { type: 'image', source: { kind: 'base64', ...inline } }
}

/** `undo`: see `Plan`. */
type Answering = { codec: PassCodec; undo: Undo | undefined }

/** A whole answer. */
export const hearWhole = (said: Said, body: JsonObject, { codec, undo }: Answering): void => {
  said.begin()
  try {
    if (isChatWire(codec.wire)) hearAnswers(said, chatCodec(codec.operation ?? codec.wire), body, undo)
    else said.made(madeIn(codec, body))
  } catch {
    // One that failed, or is none: as it is.
    said.made([
      { type: 'value', kind: 'answer', value: body.choices ?? body.output ?? body.content ?? body.error ?? null },
    ])
  }
}

const hearAnswers = (said: Said, codec: ChatCodec, body: JsonObject, undo: Undo | undefined): void => {
  // Some servers write an answer as several choices of one index.
  const answers = Map.groupBy(asObjects(body.choices), ({ index }) => index)
  const bodies = answers.size < 2 ? [body] : [...answers.values()].map((choices) => ({ ...body, choices }))
  for (const [answer, one] of bodies.entries()) said.heard(answer, unfold(codec.decodeResponse(one, undo)))
}

const madeIn = ({ wire }: PassCodec, body: JsonObject): Told[] => {
  if (wire === 'audio') return [{ type: 'text', text: asText(body.text) }]
  if (wire === 'images') return asObjects(body.data).flatMap((image) => pictureIn(image, body))
  if (wire === 'embeddings')
    return [{ type: 'value', kind: 'embeddings', value: { count: asObjects(body.data).length } }]
  return [{ type: 'value', kind: wire, value: body.results ?? null }]
}

const pictureIn = (image: JsonObject, { output_format: format }: JsonObject): Told[] => {
  const data = asText(image.b64_json)
  const url = asText(image.url)
  const mediaType = sniffMediaType(data) ?? `image/${asText(format) || 'png'}`
  return [
    ...(asText(image.revised_prompt) === '' ? [] : [{ type: 'text' as const, text: asText(image.revised_prompt) }]),
    ...(data === '' ? [] : [{ type: 'image' as const, source: { kind: 'base64' as const, mediaType, data } }]),
    ...(url === '' ? [] : [{ type: 'image' as const, source: { kind: 'url' as const, url } }]),
  ]
}

/** The tap of a stream, which tells from now on what passes. `several`: whether more than one answer was asked for. */
export const heardBy = (said: Said, tap: Tap, answering: Answering, several: boolean): Tap => {
  said.begin()
  const { codec, undo } = answering
  const listener = isChatWire(codec.wire)
    ? listenerOf(said, chatCodec(codec.operation ?? codec.wire), undo, several)
    : ofPieces(said, codec)
  let deaf = false
  const unlessDeaf = (listen: () => void): void => {
    if (deaf) return
    try {
      listen()
    } catch {
      deaf = true
    }
  }
  const { see, end } = tap
  return Object.assign(tap, {
    see: (frame: Frame): string => {
      unlessDeaf(() => listener.frame(frame))
      return see(frame)
    },
    end: (): string => {
      unlessDeaf(() => listener.end())
      return end?.() ?? ''
    },
  })
}

type Listener = { frame(frame: Frame): void; end(): void }

const listenerOf = (said: Said, codec: ChatCodec, undo: Undo | undefined, several: boolean): Listener => {
  const decoders = new Map<number, EventDecoder>([[0, codec.decodeEvents(undo)]])
  const decoderOf = (answer: number): EventDecoder => {
    const known = decoders.get(answer) ?? codec.decodeEvents(undo)
    decoders.set(answer, known)
    return known
  }
  return {
    frame: (frame) => {
      const parts = several ? ofAnswers(frame) : undefined
      if (parts !== undefined) for (const [answer, one] of parts) said.heard(answer, decoderOf(answer).push(one))
      else for (const [answer, decoder] of decoders) said.heard(answer, decoder.push(frame))
    },
    end: () => {
      for (const [answer, decoder] of decoders) said.heard(answer, decoder.end())
    },
  }
}

/** A frame as one for each answer that it tells of; undefined where it is of all of them. */
const ofAnswers = (frame: Frame): [number, Frame][] | undefined => {
  const chunk = parseObject(frame.data)
  const choices = asObjects(chunk?.choices)
  if (choices.length === 0) return undefined
  return [...Map.groupBy(choices, ({ index }) => (typeof index === 'number' ? index : 0))].map(([answer, own]) => [
    answer,
    { ...frame, data: JSON.stringify({ ...chunk, choices: own }) },
  ])
}

/** Of wires that only pass: pieces of text and of sound, and whole pictures. */
const ofPieces = (said: Said, { wire }: PassCodec): Listener => ({
  end: () => undefined,
  frame: ({ event, data }) => {
    const body = parseObject(data)
    if (body === undefined) return
    const type = asText(body.type) || (event ?? '')
    if (wire === 'images' && type.endsWith('.completed')) said.made(pictureIn(body, body))
    else if (type.startsWith('speech.audio'))
      said.came('audio', undefined, bytesOfBase64(asText(body.audio ?? body.delta)))
    else if (wire === 'audio') said.heard(0, [{ type: 'text-delta', part: 0, text: pieceOf(body) }])
  },
})

/** The source of what is no text. */
export const bytesHeard = (said: Said, source: Source, mediaType: string | undefined): Source => {
  said.begin()
  return {
    ...source,
    read: async () => {
      const piece = await source.read()
      if (typeof piece === 'object') said.came('audio', mediaType, piece.byteLength)
      return piece
    },
  }
}
