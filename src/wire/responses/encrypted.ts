// What a client's agents tell each other. Codex marks the arguments that hold it as encrypted, and vendor_b encrypts what
// its models write there. No other model's are, and a client that is not told so takes them for encrypted all the same.

import { asObject, isObject, type Json, type JsonObject, parseObject } from '../../ir/json.ts'

/** Whether a function has an argument that its own provider would encrypt. */
export const hasEncrypted = ({ parameters }: JsonObject): boolean =>
  Object.values(asObject(asObject(parameters).properties)).some(isEncrypted)

const isEncrypted = (schema: Json | undefined): boolean => asObject(schema).encrypted === true

/** The mark of a call none of whose arguments is encrypted. */
export const plainMark = (input: string): JsonObject =>
  Object.values(parseObject(input) ?? {}).some(isSealed) ? {} : { encrypted_function_args: [] }

const isSealed = (value: Json | undefined): boolean => typeof value === 'string' && ENCRYPTED.test(value)

/** The text of a part that is marked as encrypted and is not; undefined for one that its provider alone can read. */
export const plainText = (part: Json): string | undefined => {
  if (!isObject(part) || part.type !== 'encrypted_content') return undefined
  const { encrypted_content: content } = part
  return typeof content === 'string' && !isSealed(content) ? content : undefined
}

/** One word of base64, longer than what anyone would tell an agent in one word. */
const ENCRYPTED = /^[\w+/-]{64,}={0,2}$/
