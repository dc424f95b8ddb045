// Refusals of a tool for its type, in the words of several servers: agents send more types than most of them know.

import { asText } from '../ir/json.ts'
import type { ErrorObject } from './error-object.ts'

/** Whether a tool of the request is refused for its type. Some servers answer with 500 where they cannot read one. */
export const refusesToolType = ({ status, message, members: { param } }: ErrorObject): boolean =>
  STATUSES.has(status) && (PATH.test(asText(param)) || PATH.test(message) || WORDS.test(message))

const STATUSES = new Set([400, 422, 500])

/** The member's path, in any notation. */
const PATH = /\btools\W{1,4}\d{1,4}\W{1,4}type\b/

const WORDS =
  /^Invalid value: '(?:custom|namespace|tool_search)'|'type' of tool must be 'function'|[Uu]nsupported tool type|tool type \S{1,40} (?:is )?not supported|\btools\b[^:\n]{0,20}: (?:unknown variant|missing field `function`)/
