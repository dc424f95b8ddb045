// Pictures for a model that takes text only: refused, as some servers leave them out without a word.

import type { Model } from '../../catalogue/model.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { placeOf } from '../../ir/place.ts'
import type { Turn } from '../../ir/request.ts'
import { type ChatWire, isChatWire, type Wire } from '../../ir/wire.ts'
import { CHAT_CODECS } from '../../wire/index.ts'
import type { ClientBody } from '../client-body.ts'

/** Throws `invalid_request` that names the first picture in a body of that wire, where the model cannot see it. */
export const requireSight = (wire: Wire, body: ClientBody, model: Model): void => {
  if (!isChatWire(wire) || model.inputModalities.includes('image') || !body.mayShow) return
  for (const turn of turnsOf(wire, body)) {
    for (const part of turn.parts) {
      const parts = part.type === 'tool-result' ? part.parts : [part]
      const image = parts.flatMap(shownIn).find((each) => each.type === 'image')
      if (image === undefined) continue
      const at = placeOf(image, placeOf(part, wire === 'responses' ? 'input' : 'messages'))
      const say = `The model ${model.id} takes text only. Leave the images out or use a model that sees.`
      throw invalidRequest(`${at}: ${say}`, at)
    }
  }
}

/** A part, and what a document holds in blocks. */
const shownIn = (part: Turn['parts'][number]): Turn['parts'][number][] =>
  part.type === 'document' && part.blocks !== undefined ? part.blocks : [part]

/** None of a body that cannot be read: where it is translated that refuses it, and elsewhere its bytes pass. */
const turnsOf = (wire: ChatWire, client: ClientBody): readonly Turn[] => {
  const codec = CHAT_CODECS[wire]
  const { body } = client.whole()
  try {
    // A request for a count has less than one for an answer.
    return codec.decodeRequest({ ...codec.counting?.toRequest(body, 1), ...body }).turns
  } catch (error) {
    if (error instanceof GatewayError || error instanceof RangeError) return []
    throw error
  }
}
