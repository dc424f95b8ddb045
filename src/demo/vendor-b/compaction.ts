// vendor_b's compacted conversations: one sealed item that holds what only the vendor can read, asked for by a trigger at the
// end of the input or at an endpoint of its own.

import { asList, asObject, asText, type JsonObject } from '../../ir/json.ts'
import { randomId } from '../id.ts'
import { createSeal } from '../seal.ts'
import { invalid } from './error.ts'
import { inputItems } from './responses-request.ts'

const encryption = createSeal('vendor_b compaction', 'gAAAAAC')

export const isTriggered = (items: readonly JsonObject[]): boolean => items.at(-1)?.type === 'compaction_trigger'

/** The items without the trigger. */
export const untriggered = (items: readonly JsonObject[]): JsonObject[] =>
  items.filter(({ type }) => type !== 'compaction_trigger')

const compaction = (output: JsonObject[]): JsonObject => {
  const texts = output.flatMap(({ content }) => asList(content).map((part) => asText(asObject(part).text)))
  return { id: randomId('cmp_0', 49), type: 'compaction', encrypted_content: encryption.close(texts.join('\n'), '') }
}

/** A response with its output compacted. */
export const compacted = (response: JsonObject): JsonObject => ({
  ...response,
  output: [compaction(asList(response.output).map(asObject))],
})

export const composeCompaction = (asked: JsonObject, response: JsonObject): JsonObject => ({
  id: randomId('resp_0', 49),
  object: 'response.compaction',
  created_at: response.created_at ?? 0,
  output: [
    ...inputItems(asked.input)
      .filter(({ type, role }) => type === 'message' && role === 'user')
      .map((message) => ({ id: randomId('msg_0', 49), status: 'completed', ...message })),
    ...asList(compacted(response).output),
  ],
  usage: response.usage ?? null,
})

/** What the model reads of such an item. Throws `VendorError` for one of another maker. */
export const readCompaction = (item: JsonObject): JsonObject => {
  const summary = encryption.open(asText(item.encrypted_content), '')
  if (summary === undefined)
    throw invalid(
      `The encrypted content for item ${asText(item.id)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      null,
      'invalid_encrypted_content',
    )
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text: summary }] }
}
