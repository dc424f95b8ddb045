// What vendor_b keeps of stored responses: chains by `previous_response_id`, items by reference, reasoning it can check.

import { asList, asObject, asText, type JsonObject } from '../../ir/json.ts'
import { createRecent } from '../../lib/recent.ts'
import { readCompaction } from './compaction.ts'
import { invalid } from './error.ts'
import { thoughtId } from './responses.ts'
import { inputItems } from './responses-request.ts'

type ResponsesMemory = {
  /** The whole input of a request: what came before it, references resolved, reasoning verified. Throws `VendorError`. */
  resolve(body: JsonObject): JsonObject[]
  /** Keeps an answered request unless it said `store: false`. */
  keep(body: JsonObject, items: JsonObject[], response: JsonObject): void
}

export const createResponsesMemory = (): ResponsesMemory => {
  const chains = createRecent<string, JsonObject[]>(200)
  const items = createRecent<string, JsonObject>(2_000)

  const resolveItem = (item: JsonObject): JsonObject => {
    const id = asText(item.id)
    if (item.type === 'item_reference') {
      const found = items.get(id)
      if (found === undefined) throw invalid(`Item with id '${id}' not found.`, 'input', null, 404)
      return found
    }
    if (item.type === 'compaction') return readCompaction(item)
    if (item.type !== 'reasoning') return item
    const sealed = item.encrypted_content
    if (typeof sealed !== 'string') {
      if (items.get(id) !== undefined) return item
      const advice = 'Items are not persisted when `store` is set to false.'
      throw invalid(`Item with id '${id}' not found. ${advice}`, 'input', null, 404)
    }
    const own = thoughtId(sealed)
    // Agents that have nothing kept send a thought without its id.
    if (own === undefined || (id !== '' && id !== own)) {
      throw invalid(
        `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
        null,
        'invalid_encrypted_content',
      )
    }
    return item
  }

  return {
    resolve: (body) => {
      const previous = body.previous_response_id
      const before = typeof previous === 'string' ? chains.get(previous) : []
      if (before === undefined) {
        throw invalid(
          `Previous response with id '${asText(previous)}' not found.`,
          'previous_response_id',
          'previous_response_not_found',
        )
      }
      return [...before, ...inputItems(body.input).map(resolveItem)]
    },
    keep: (body, asked, response) => {
      if (body.store === false) return
      const output = asList(response.output).map(asObject)
      for (const item of output) items.set(asText(item.id), item)
      chains.set(asText(response.id), [...asked, ...output])
    },
  }
}
