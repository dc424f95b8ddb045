// Refusals that say little: names of the server's own, a member's holder, a role, what is missing, what has to be paid, or nothing.

import type { JsonObject } from '../../src/ir/json.ts'
import type { Row, Way } from './refusal-words.ts'

const CHAT = 'chat-completions'
const M2C: Way = [CHAT, 'messages']
const C2R: Way = ['responses', CHAT]
const R2C: Way = [CHAT, 'responses']

const openai = (message: string, code: string | null = null): JsonObject => ({
  error: { message, type: 'invalid_request_error', param: null, code },
})
const BLIND = 'says Could not process image: This model takes none'
const bare = (message: string): JsonObject => ({ message })

/** Both ways of a server of the chat-completions wire. */
const both = (server: string, ...rest: [Row[2], number, Row[4]]): Row[] => [
  [server, CHAT, ...rest, 'answered'],
  [server, R2C, ...rest, 'answered'],
]

const MISSING: Row[] = [
  ...[
    'the property "parameters" is required of a "function" in "tools"',
    'params are wrong: the parameters of a function are empty',
    'tools[0].function: `parameters` is missing at column 77',
    'Each tool needs its parameters.',
  ].flatMap((words) => [
    ...both('a checker', 'tool of no arguments', 400, bare(words)),
    ...both('a parser', 'tool of no arguments', 422, openai(words)),
  ]),
  ...[
    'Every message needs at least one content element.',
    '* contents[1].parts: parts must not be empty.',
    'A message of the assistant has either content or tool_calls, but not none; this one is empty.',
  ].map((words): Row => ['a reader', CHAT, 'empty reply', 400, bare(words), 'answered']),
  ...['the function arguments of a call are no json string', '"function.arguments" have to be in JSON format.'].flatMap(
    (words) => both('a template', 'cut call', 400, bare(words)),
  ),
]

/** Of the effort that was asked for, and of none. */
const THOUGHTS: Row[] = [
  ...[
    'the model at hand has no parameter `enable_thinking`, it is not supported',
    'thinking_budget has to be a positive integer',
    'thinking.budget_tokens: at least 1024',
    'reasoning.max_tokens out of bounds',
  ].flatMap((words): Row[] => [
    ['a mapper', M2C, 'thinks', 400, bare(words), 'answered'],
    ['a mapper', R2C, 'thinks', 400, bare(words), 'answered'],
    ['a mapper', CHAT, 'thinks', 400, bare(words), 'told reasoning_effort'],
  ]),
  [
    'a mapper',
    R2C,
    'unthinking',
    400,
    openai('Budget 0 is invalid. This model works only in thinking mode.'),
    'answered',
  ],
]

const ROLES: Row[] = [
  ...['unknown role "tool"', "messages with role 'tool' are not known here"].map(
    (words): Row => ['a plain server', CHAT, 'history', 400, bare(words), 'told messages'],
  ),
  [
    'a plain server',
    CHAT,
    'begun',
    400,
    bare('No `assistant` role may be in the final position when `tools` are used.'),
    'told messages',
  ],
  ['a plain server', CHAT, 'no user', 400, openai('The messages parameter is illegal.', '1214'), 'told messages'],
  ['a plain server', CHAT, 'no user', 400, bare('The input is missing a user message.'), 'told messages'],
  ['a template', CHAT, 'no user', 500, bare("raise_exception('No user query found.')"), 'told messages'],
  ['a plain server', CHAT, 'developer', 400, openai('Incorrect role information', '1214'), 'answered'],
  [
    'a plain server',
    CHAT,
    'call without result',
    400,
    bare('Expected toolResult blocks at messages.2.content for these ids: call_a'),
    'told messages',
  ],
  [
    'a plain server',
    'responses',
    'result without call',
    400,
    openai('No tool call found for tool output with call_id call_a.'),
    'told input',
  ],
]

/** Of the cap by its name in words, of a picture by how it is written, and of a prompt by a template's word. */
const BY_WORDS: Row[] = [
  [
    'a cloud',
    ['messages', CHAT],
    'cap',
    400,
    bare('The maximum tokens you requested exceeds the model limit of 16384.'),
    'answered',
  ],
  ['a cloud', CHAT, 'picture', 400, bare('Only base64, http or https URLs are supported.'), 'says Could not process'],
  ['a cloud', CHAT, 'picture', 400, bare('Failed to download multimodal content'), 'says Unable to download'],
  ['a runner', CHAT, 'plain', 400, { error: 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)' }, 'too long'],
  [
    'a pool',
    CHAT,
    'plain',
    429,
    { error: { code: 'model_cooldown', message: 'Cooling.', reset_seconds: 77 } },
    'busy 77',
  ],
]

const CHOICES: Row[] = [
  [
    'a relay',
    M2C,
    'tools',
    400,
    openai('X: {"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"x"}}'),
    'refused access',
  ],
  [
    'a harmony server',
    C2R,
    'forced',
    501,
    openai("Only 'auto' or 'none' tool_choice is supported in response API"),
    'without tool_choice',
  ],
  [
    'a harmony server',
    'responses',
    'forced',
    400,
    openai("Only 'auto' tool_choice is supported in response API"),
    'told tool_choice',
  ],
]

/** Of a list, and of a time: what is counted stands beside its figure. */
const COUNTED: Row[] = [
  [
    'a counter',
    CHAT,
    'history',
    400,
    bare('120 messages are more than the 100 messages of a conversation'),
    'told messages',
  ],
  ['a counter', M2C, 'history', 422, bare('the limit of 100 messages is exceeded by 20'), 'told messages'],
  ['a counter', M2C, 'tools', 400, bare('Too many tools: there are 200 tools, the maximum is 128 tools'), 'told tools'],
  ['a counter', CHAT, 'plain', 400, bare('The daily limit is exceeded: 1000000 of 1000000 tokens are used'), 'busy 5'],
  ['a counter', M2C, 'plain', 403, bare('You exceeded the quota of tokens per hour.'), 'busy 5'],
  ['a finder', CHAT, 'history', 400, bare('The model id has the wrong format.'), 'refused for good'],
]

/** Where a text is wanted there is a list, of texts or for a picture. */
const LISTS: Row[] = [
  ...["No 'content' of this type: expected one of ['str'], got list.", 'messages: the content should be `str`'].flatMap(
    (words): Row[] => [
      ['a joiner', CHAT, 'texts in a list', 400, bare(words), 'answered'],
      ['a joiner', 'messages', 'texts in a list', 400, bare(words), 'told messages'],
      ['a joiner', CHAT, 'picture', 400, bare(words), 'says Could not process image'],
      ['a joiner', M2C, 'picture', 422, bare(words), 'says Could not process image'],
    ],
  ),
  [
    'a lister',
    'responses',
    'picture',
    400,
    {
      error: {
        message: "Invalid value: 'input_image'. Supported values are: 'input_text' and 'refusal'.",
        type: 'invalid_request_error',
        param: 'input[0].content[1].type',
        code: 'invalid_value',
      },
    },
    'says Could not process image',
  ],
]

/** Where nothing is named, the conversation is put more plainly. */
const NOTHING: Row[] = [
  ['a terse server', CHAT, 'system within', 400, openai('wrong chat (2013)'), 'answered'],
  ['a terse server', R2C, 'calls alone', 400, { code: 20015, message: 'Field needed', data: null }, 'answered'],
]

const OWED: Row[] = [
  ...[
    'The free allocation of the day is spent, please upgrade the plan to continue usage.',
    'The inference limit is reached and the service stands still. To continue using this model, visit the console to adjust it.',
    'A valid credit card on file is required.',
    'This workspace has no payment method: add one.',
  ].flatMap((words): Row[] => [
    ['a seller', CHAT, 'plain', 403, bare(words), 'no money'],
    ['a seller', M2C, 'plain', 429, openai(words), 'no money'],
  ]),
  ['a seller', CHAT, 'plain', 429, bare('Too fast: wait 20 seconds to continue using this, or upgrade.'), 'busy 20'],
  // Of what is had again, of an account, and of what was asked for.
  [
    'a seller',
    'messages',
    'plain',
    403,
    bare("You've reached your weekly (7-day) usage limit. To continue now, purchase extra usage or upgrade your plan."),
    'busy 5',
  ],
  ['a seller', CHAT, 'plain', 400, { code: 'billing', message: '计费账户已被冻结', ref: 4 }, 'no money'],
  ['a seller', CHAT, 'picture', 400, bare('The free tier does not include images.'), BLIND],
  ['a seller', M2C, 'tools', 403, bare('No tools without an active subscription.'), 'told tools'],
  ['a keeper', 'messages', 'plain', 400, bare('You invoked an unsupported model.'), 'unknown model'],
  ['a keeper', 'messages', 'plain', 404, bare('Access denied. This model is marked as legacy.'), 'unknown model'],
  ['a keeper', CHAT, 'plain', 404, openai('This model is had for money alone.'), 'unknown model'],
  ['a keeper', CHAT, 'tools', 404, openai('This model calls no tools.'), 'told tools'],
  ['a keeper', CHAT, 'plain', 400, openai('No models loaded.'), 'unknown model'],
  [
    'a keeper',
    CHAT,
    'plain',
    400,
    openai('Access to models of this maker is not allowed for this account.'),
    'unknown model',
  ],
  ['a teller', CHAT, 'plain', 200, { status: '449', msg: 'The current rate limit is exceeded', body: null }, 'busy 5'],
]

export const PLAIN: readonly Row[] = [
  ...MISSING,
  ...THOUGHTS,
  ...ROLES,
  ...BY_WORDS,
  ...CHOICES,
  ...COUNTED,
  ...LISTS,
  ...NOTHING,
  ...OWED,
]
