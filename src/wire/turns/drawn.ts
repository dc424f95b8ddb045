// Pictures that a model has drawn within an answer. Aggregators of the chat-completions wire give them beside the text
// (`images`) or among the content, vendor_b as items of a tool of its own; the messages wire has no word for them.

import type { ChatEvent } from '../../ir/event.ts'
import { asList, asObject, filledText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, OpaquePart } from '../../ir/part.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { digest } from '../../lib/digest.ts'
import { seenOf } from '../../lib/json-mark.ts'
import { parseDataUrl } from './data-url.ts'

const TYPES = new Set<Json | undefined>(['image_url', 'image', 'output_image'])
const CALL = 'image_generation_call'

/** Whether a part of a message's content is a picture. */
export const isPicture = (part: Json): boolean => isObject(part) && TYPES.has(part.type)

/** The pictures in a list of any of the forms that servers write, each as a part; what holds none is left out. */
export const picturesIn = (list: Json | undefined): OpaquePart[] =>
  asList(list).flatMap((one) => {
    const url = addressIn(asObject(one))
    return url === undefined ? [] : [drawn(url)]
  })

const addressIn = ({ image_url: image, url, b64_json: data }: JsonObject): string | undefined => {
  const address = filledText(image) ?? filledText(asObject(image).url) ?? filledText(url)
  if (address !== undefined) return address
  const text = filledText(data)
  return text && `data:image/png;base64,${text}`
}

const drawn = (url: string): OpaquePart => ({
  type: 'opaque',
  origin: 'chat-completions',
  value: { type: 'image_url', image_url: { url } },
})

/** The address of a picture that an answer's part is; undefined for any other part. */
const pictureOf = ({ origin, value }: OpaquePart): string | undefined => {
  if (origin === 'chat-completions' && value.type === 'image_url') return addressIn(value)
  if (origin !== 'responses' || value.type !== CALL) return undefined
  const format = filledText(value.output_format) ?? 'png'
  const data = filledText(value.result)
  return data && `data:image/${format};base64,${data}`
}

/** The part as clients of the wire are shown it: a picture in the wire's own form, where it has one, else in words. */
export const shownOn = (wire: ChatWire, part: AssistantPart): AssistantPart => {
  if (part.type !== 'opaque' || part.origin === wire) return part
  const url = pictureOf(part)
  if (url === undefined) return part
  if (wire === 'chat-completions') return drawn(url)
  const inline = url.startsWith('data:') ? parseDataUrl(url, 'image/png') : undefined
  if (wire === 'messages' || inline === undefined) return { type: 'text', text: inWords(url, inline) }
  const { mediaType, data } = inline
  // By its end a picture is known from another of the same beginning.
  const id = `ig_${digest(`${data.length} ${data.slice(-200)}`)}`
  const output_format = mediaType.replace(/^image\//, '')
  const value = { type: CALL, id, status: 'completed', output_format, result: data }
  return { type: 'opaque', origin: 'responses', value }
}

/** Its bytes in a text would come back with every turn, and cost what no picture does. */
const inWords = (url: string, inline: ReturnType<typeof parseDataUrl>): string => {
  if (inline === undefined) return `![image](${url})`
  const { seen, hidden } = seenOf(inline.data) ?? { seen: inline.data, hidden: 0 }
  const kilobytes = Math.max(1, Math.round(((seen.length + hidden) * 3) / 4 / 1024))
  return `[A picture was drawn (${inline.mediaType}, ${kilobytes} KB), which answers on this endpoint cannot hold: ask on another one for it.]`
}

/** The same of a stream's events. */
export const eventsOn =
  (wire: ChatWire) =>
  (events: ChatEvent[]): ChatEvent[] =>
    events.some(({ type }) => type === 'opaque') ? events.flatMap((event) => eventOn(wire, event)) : events

const eventOn = (wire: ChatWire, event: ChatEvent): ChatEvent[] => {
  if (event.type !== 'opaque') return [event]
  const { part } = event
  const shown = shownOn(wire, event.value)
  if (shown.type === 'opaque') return [{ ...event, value: shown }]
  if (shown.type !== 'text') return [event]
  return [
    { type: 'text-start', part },
    { type: 'text-delta', part, text: shown.text },
    { type: 'text-end', part },
  ]
}
