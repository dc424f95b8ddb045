// Refusals that name what they are about by another of its names, by its type, from within a list, or in place of a path, and
// words that are of a form, and not of an account or a model.

import type { JsonObject } from '../../src/ir/json.ts'
import type { Row, Way } from './refusal-words.ts'

const CHAT = 'chat-completions'
const MODEL = 'vendorB-5.5'
const M2C: Way = [CHAT, 'messages']
const R2C: Way = [CHAT, 'responses']
const C2M: Way = ['messages', CHAT]

const BLIND = 'says Could not process image: This model takes none'
const bare = (message: string): JsonObject => ({ message })
const param = (param: JsonObject[] | string): JsonObject => ({ error: { message: 'Wrong.', param } })

/** As another wire calls it, in which a relay asks the server behind it. */
const OTHERWISE: Row[] = [
  ['a relay', M2C, 'thinks', 400, bare("'thinking' is no parameter that we know"), 'without thinking'],
  ['a relay', R2C, 'thinks', 422, bare('unknown key "thinking"'), 'without reasoning'],
  ['a relay', CHAT, 'thinks', 400, bare("'thinking' is no parameter that we know"), 'told reasoning_effort'],
  ['a relay', C2M, 'thinks', 400, bare('extra field `reasoning_effort`'), 'without reasoning_effort'],
  ['a relay', C2M, 'stop', 400, bare("Unexpected key 'stop'."), 'answered'],
  [
    'a checker',
    C2M,
    'one call',
    400,
    bare('#/tool_choice: there may be no [disable_parallel_tool_use] in it'),
    'without parallel_tool_calls',
  ],
  ['a parser', 'messages', 'adaptive', 400, bare('thinking type must be `enabled` or `disabled`'), 'answered'],
]

/** By its type, or what else the request is known to hold. */
const TYPES: Row[] = [
  ...(['responses', 'messages'] as const).flatMap((wire): Row[] => [
    [
      'a reader',
      wire,
      'thought kept',
      400,
      bare(`No items of type '${wire === 'messages' ? 'redacted_thinking' : 'reasoning'}' can be read.`),
      'answered',
    ],
  ]),
  [
    'a template',
    CHAT,
    'thought kept',
    500,
    bare('The message has both thinking and content, which cannot be.'),
    'answered',
  ],
  ['a parser', CHAT, 'picture', 422, bare('messages[0] is no variant of the union Content'), BLIND],
]

const PLACES: Row[] = [
  [
    'a checker',
    CHAT,
    'tool of no arguments',
    400,
    { error: JSON.stringify([{ path: [0, 'function', 'parameters', 'type'], message: 'No object.' }]) },
    'answered',
  ],
  ['a checker', CHAT, 'picture', 400, param([{ path: ['messages', 0, 'content', 1], message: 'Wrong.' }]), BLIND],
  ['a checker', CHAT, 'picture', 400, param('a part whose `text` is missing'), BLIND],
  ['a checker', M2C, 'calls alone', 400, param('a message whose `text` is not present'), 'answered'],
  ['a checker', CHAT, 'thoughtless', 400, param('reasoning_content was not sent with the call'), 'answered'],
  [
    'a checker',
    CHAT,
    'texts in a list',
    400,
    bare("The content is wrong. Expected one of: ['str'], found list."),
    'answered',
  ],
]

/** The roles are words of every language. */
const ORDER: Row[] = [
  ...['messages 에서 user 와 assistant 는 번갈아 나와야 합니다', 'user と assistant は交互にしてください'].flatMap(
    (words): Row[] => [
      ['a template', CHAT, 'twice', 400, bare(words), 'answered'],
      ['a template', M2C, 'twice', 400, bare(words), 'answered'],
    ],
  ),
  ['a template', M2C, 'system within', 400, bare('system 不能放在 user 之后'), 'answered'],
  ['a template', CHAT, 'two systems', 400, bare('The chat is wrong.'), 'answered'],
]

const STREAMS: Row[] = [
  [
    'an engine',
    CHAT,
    'tools in a stream',
    400,
    bare('Calls in a stream are to be had only with the newer engine.'),
    'answered',
  ],
  ['an engine', M2C, 'streams', 501, bare('Streaming has not yet been implemented here.'), 'answered'],
  ['an engine', CHAT, 'whole', 400, bare('Put "stream": true into the body.'), 'answered'],
]

const SETTINGS: Row[] = ['The parameter is wrong.', 'A parameter specified here is not right.'].flatMap(
  (words): Row[] => [
    ['a form', CHAT, 'temperature', 400, bare(words), 'told temperature'],
    ['a form', M2C, 'temperature', 400, bare(words), 'without temperature'],
  ],
)

const KINDS: Row[] = [
  ['a form', CHAT, 'plain', 400, bare('The billing tag is missing'), 'refused for good'],
  ['a form', 'messages', 'plain', 400, bare('model: this is required'), 'refused for good'],
  [
    'a cloud',
    CHAT,
    'plain',
    400,
    bare('This subscription has been suspended: what it asks for violates our content policy.'),
    'no money',
  ],
  [
    'a cloud',
    'responses',
    'plain',
    400,
    bare('Your resource is blocked, as its requests violate the usage policy.'),
    'refused access',
  ],
  ['a relay', CHAT, 'plain', 422, bare(`${MODEL}: pricing is missing`), 'unknown model'],
  ['a relay', CHAT, 'plain', 400, bare(`There is no price for ${MODEL}.`), 'unknown model'],
  ['a cloud', CHAT, 'plain', 404, bare('The endpoint does not exist: see the name of its model.'), 'unknown model'],
  ['a server', CHAT, 'plain', 404, bare('The endpoint does not exist.'), 'refused access'],
  ['a relay', CHAT, 'plain', 403, bare('额度扣除失败'), 'no money'],
  ['an engine', CHAT, 'plain', 400, bare('The context is too large'), 'too long'],
  ['an engine', CHAT, 'plain', 400, bare('out of room in the context'), 'too long'],
]

export const NAMED: readonly Row[] = [...OTHERWISE, ...TYPES, ...PLACES, ...ORDER, ...STREAMS, ...SETTINGS, ...KINDS]
