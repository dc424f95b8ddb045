// Refusals in words that those of an account share with those of a request: a limit may be one of money, of a time, or of what
// may be asked for, and a word about a policy may be a member's name.

import type { JsonObject } from '../../src/ir/json.ts'
import type { Due, Row, Way } from './refusal-words.ts'
import type { Asked } from './refusal-words-asked.ts'

const CHAT = 'chat-completions'
const M2C: Way = [CHAT, 'messages']
const R2C: Way = [CHAT, 'responses']

const openai = (message: string, code: string | null = null, param: string | null = null): JsonObject => ({
  error: { message, type: 'invalid_request_error', param, code },
})
const anthropic = (message: string, type = 'invalid_request_error'): JsonObject => ({
  type: 'error',
  error: { type, message },
})
const coded = (code: string, message: string): JsonObject => ({ error: { code, message } })
const minimax = (message: string): JsonObject => ({
  ...{ type: 'error', request_id: '06' },
  error: { type: 'bad_request_error', message, http_code: '400' },
})

const BLIND = 'says Could not process image: This model takes none'

/** What is sent decides whether a limit is one of the request. */
const LIMITED: Row[] = (
  [
    ['picture', 'usage limits: max 100 images', 'says Max is 100'],
    ['picture', 'Your request exceeds the usage limits: at most 100 images may be sent.', 'says Max is 100'],
    ['picture', 'Invalid image. Send up to 16 images in PNG or JPEG.', 'says Could not process image: The image data'],
    ['picture', 'free tier: text only', BLIND],
    ['tools', 'Tools are not available: the free tier allows text only.', 'told tools'],
    ['tools', 'This organization is restricted to requests without tools.', 'told tools'],
    ['picture', 'Images need a paid subscription.', BLIND],
    ['tools', 'Tools are not available on your plan; upgrade to continue using them.', 'told tools'],
    ['plain', 'File storage limit reached: not enough quota', 'refused for good'],
    ['schema', "schema property 'balance' is required", 'refused for good'],
    ['temperature', 'The requested model does not support temperature.', 'without temperature'],
    ['temperature', 'The free tier only supports temperature 1.', 'without temperature'],
    ['cap', 'Your account is restricted to 16384 max_tokens.', 'told max_tokens'],
    ['plain', 'This account is restricted.', 'no money'],
    ['plain', 'You have used up the free tier.', 'no money'],
    ['tools', 'Your usage limit is exceeded.', 'no money'],
  ] as const
).map(([asked, words, due]: readonly [Asked, string, Due]) => ['a seller', M2C, asked, 400, openai(words), due])

const ACCOUNTS: Row[] = [
  ['a relay', M2C, 'plain', 429, openai('Insufficient balance.Please recharge.'), 'no money'],
  ['a relay', M2C, 'plain', 429, openai('Error 1113.Balance insufficient'), 'no money'],
  ['Anthropic', 'messages', 'plain', 400, anthropic("You're out of extra usage. Add more and keep going."), 'no money'],
  [
    ...(['Anthropic', 'messages', 'plain', 400] as const),
    anthropic('Third-party apps now draw from your extra usage, not your plan limits. Add more and keep going.'),
    'no money',
  ],
  [
    ...(['Z.ai', M2C, 'plain', 429] as const),
    coded('1309', 'Your Coding Plan package has expired. You can resume using it after renewing your subscription.'),
    'no money',
  ],
  [
    ...(['Z.ai', M2C, 'plain', 429] as const),
    coded('1308', 'Usage limit reached for 5 hour. Your limit will reset at 2027-01-12 20:42:22'),
    'busy 5',
  ],
  [
    ...(['MiniMax', ['messages', CHAT], 'plain', 429] as const),
    anthropic('usage limit exceeded, 5-hour usage limit reached for Token Plan Starter (2056)', 'rate_limit_error'),
    'busy 5',
  ],
  [
    ...(['Gemini', M2C, 'plain', 403] as const),
    [{ error: { code: 403, message: 'This API method requires billing to be enabled.', status: 'PERMISSION_DENIED' } }],
    'no money',
  ],
  [
    ...(['Ollama', M2C, 'plain', 403] as const),
    openai('this model requires a subscription, upgrade for access: https://ollama.example/upgrade'),
    'no money',
  ],
  [
    ...(['Ark', M2C, 'plain', 404] as const),
    coded('ModelNotOpen', 'Your account 21 has not activated the model m. Please activate the model service.'),
    'unknown model',
  ],
  [
    ...(['Codex', 'responses', 'plain', 429] as const),
    { error: { type: 'usage_limit_reached', message: 'The usage limit has been reached', resets_in_seconds: 1234 } },
    'busy 1234',
  ],
  ['a relay', M2C, 'plain', 429, { error: { message: 'Too many requests', retry_after: 17 } }, 'busy 17'],
  [
    ...(['OpenAI', M2C, 'plain', 429] as const),
    openai('Rate limit reached. Please add a payment method to your account to increase your rate limit.'),
    'busy 5',
  ],
  [
    ...(['a relay', M2C, 'plain', 429] as const),
    openai('You have exceeded the rate limit for your current plan. Upgrade to continue using higher limits.'),
    'busy 5',
  ],
  ['a relay', M2C, 'plain', 400, openai('MCP server x returned 402: insufficient credits'), 'refused for good'],
  ['a relay', M2C, 'plain', 400, openai('MCP server x: rate limit exceeded, retry later'), 'refused for good'],
  ['a relay', M2C, 'plain', 400, openai('Unsupported model: m-1'), 'unknown model'],
  ['a relay', M2C, 'plain', 404, openai('Cannot find model m-1'), 'unknown model'],
  ['a relay', M2C, 'plain', 404, openai('There is no model named m-1'), 'unknown model'],
  ['a relay', M2C, 'plain', 429, { error: { message: 'Too many requests', retryAfterMs: '2500' } }, 'busy 3'],
  ['a relay', M2C, 'plain', 429, { error: { message: 'Too many requests', retry_after: 1795900000 } }, 'busy 5'],
  [
    ...(['Codex', ['responses', 'messages'], 'plain', 400] as const),
    { detail: "The 'm' model is not supported when using Codex with a ChatGPT account." },
    'unknown model',
  ],
  ['Hunyuan', M2C, 'plain', 400, coded('FailedOperation.X', '账号已欠费，请充值后重试'), 'no money'],
  ['SAP AI Core', M2C, 'plain', 400, { error: { message: 'Prompt filtered due to safety violations.' } }, 'policy'],
  ['GitHub Models', M2C, 'plain', 404, coded('unavailable_model', 'Unavailable model: o1'), 'unknown model'],
  ['Cohere', M2C, 'plain', 404, { message: "model 'm' was removed on September 15, 2025." }, 'unknown model'],
  [
    ...(['DeepSeek', M2C, 'plain', 400] as const),
    openai('The supported API model names are a-pro or a-flash, but you passed vendorB-5.5.'),
    'unknown model',
  ],
  ['Cohere', CHAT, 'plain', 400, { message: "total tokens exceeds the model's maximum limit of 4096" }, 'too long'],
  ['Cloudflare', M2C, 'plain', 400, { message: 'AiError: Capacity temporarily exceeded, please try again.' }, 'busy 5'],
]

/** A word about a policy, or money, that is a member's name. */
const NAMES: Row[] = [
  openai('Failed to deserialize: unknown field `moderation`, validation failed'),
  openai('Unknown parameter guardrails: the request was rejected'),
  openai("moderation: Input should be 'auto' or 'low', validation failed", null, 'moderation'),
  openai('Input validation failed: prompt flagged field must be boolean'),
  openai('Moderation parameter rejected'),
  openai("The requested model does not support the 'seed' parameter."),
  openai('input.flagged: Extra inputs are not permitted'),
  openai("metadata.billing: must be a string, 'limit' exceeded"),
  openai('The attachment invoice.pdf is over the size of a page'),
].map((error) => ['a checker', M2C, 'plain', 400, error, 'refused for good'])

/** What is odd about a conversation is mended where a refusal names nothing, the conversation, or whose turn it is. */
const ODD: Row[] = [
  [
    ...(['Moonshot', CHAT, 'empty reply', 400] as const),
    openai("Invalid request: the message at position 1 with role 'assistant' must not be empty"),
    'answered',
  ],
  ['Moonshot', CHAT, 'empty reply', 400, openai('Invalid request: tokenization failed'), 'answered'],
  ['Z.ai', CHAT, 'empty reply', 400, coded('1213', 'The prompt parameter was not received normally.'), 'answered'],
  ['Z.ai', M2C, 'system within', 400, coded('1214', 'messages 参数非法。请检查文档。'), 'answered'],
  ['Z.ai', M2C, 'thinks', 400, coded('1210', 'Invalid API parameter, please check the documentation.'), 'answered'],
  ['MiniMax', M2C, 'system within', 400, minimax('invalid params, invalid chat setting (2013)'), 'answered'],
  [
    ...(['Qianfan', CHAT, 'twice', 400] as const),
    coded('invalid_messages', 'the role of message with even index in the messages must be assistant'),
    'answered',
  ],
  [
    ...(['Groq', M2C, 'picture', 400] as const),
    openai('Too many images provided. This model supports up to 5 images', null, 'messages'),
    'says Max is 5',
  ],
  [
    ...(['Anthropic', ['messages', CHAT], 'strict', 400] as const),
    anthropic('Too many strict tools (25). The maximum number of strict tools supported is 20.'),
    'without tools.function.strict',
  ],
  ['Anthropic', ['messages', CHAT], 'schema', 400, anthropic('Schema is too complex for compilation.'), 'answered'],
  ['MiniMax', R2C, 'tool of no arguments', 400, minimax('invalid params, function parameters is empty'), 'answered'],
]

export const SHARED: readonly Row[] = [...LIMITED, ...ACCOUNTS, ...NAMES, ...ODD]
