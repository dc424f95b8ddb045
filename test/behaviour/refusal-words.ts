// How servers and relays refuse, in their own words as people have met them, and what a client is to get of each. A row is
// held by what was sent: the server refuses for as long as the request carries what its words are about.

import type { JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import type { Asked } from './refusal-words-asked.ts'

/** The server's wire, and the client's where that is another. */
export type Way = ChatWire | readonly [server: ChatWire, client: ChatWire]

/**
 * `answered`: in another form. `without X`: answered, and X is listed as left out. `told X`: 400 `invalid_request` with that
 * param, or one within it. `says X`: 400 `invalid_request` in those words. `busy N`: to come back in so many seconds.
 * `refused for good`: not to be asked again, and no account is at fault.
 */
export type Due =
  | 'answered'
  | `without ${string}`
  | `told ${string}`
  | `says ${string}`
  | 'no money'
  | 'unknown model'
  | 'policy'
  | 'too long'
  | 'refused access'
  | 'refused for good'
  | `busy ${number}`

export type Row = readonly [
  server: string,
  way: Way,
  asked: Asked,
  status: number,
  error: JsonObject | string | readonly JsonObject[],
  due: Due,
]

const CHAT = 'chat-completions'
const M2C: Way = [CHAT, 'messages']
const R2C: Way = [CHAT, 'responses']
const C2M: Way = ['messages', CHAT]
const C2R: Way = ['responses', CHAT]
const M2R: Way = ['responses', 'messages']

const BLIND = 'says Could not process image: This model takes none'

/** The envelopes of servers. */
const openai = (message: string, code: string | null = null, param: string | null = null): JsonObject => ({
  error: { message, type: 'invalid_request_error', param, code },
})
const ollama = (message: string): JsonObject => ({ error: { message, type: 'api_error', param: null, code: null } })
const anthropic = (message: string, type = 'invalid_request_error'): JsonObject => ({
  type: 'error',
  error: { type, message },
})
const llama = (message: string, code = 500, type = 'server_error'): JsonObject => ({ error: { code, message, type } })
const vllm = (message: string, code = 400): JsonObject => ({
  error: { message, type: code === 404 ? 'NotFoundError' : 'BadRequestError', param: null, code },
})
const oldVllm = (message: string): JsonObject => ({
  ...{ object: 'error', message, type: 'BadRequestError', param: null, code: 400 },
})
const fields = (field: string, description: string): JsonObject => ({
  error: {
    ...{ code: 400, message: 'Request contains an invalid argument.', status: 'INVALID_ARGUMENT' },
    details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field, description }] }],
  },
})
const router = (message: string, code: number, raw?: string): JsonObject => ({
  error: { message, code, ...(raw === undefined ? {} : { metadata: { raw, provider_name: 'Acme' } }) },
})
const gemini = (message: string, code = 400, status = 'INVALID_ARGUMENT'): JsonObject[] => [
  { error: { code, message, status } },
]
const mistral = (message: string, type = 'invalid_request_error', code: string | null = null): JsonObject => ({
  ...{ object: 'error', message, type, param: null, code },
})
const xai = (error: string, code = 'Client specified an invalid argument'): JsonObject => ({ code, error })
const litellm = (message: string, code = '400', type: string | null = null): JsonObject => ({
  error: { message, type, param: null, code },
})
const bedrock = (message: string): JsonObject => ({ message })
const fault = (msg: string, ...loc: (string | number)[]): JsonObject => ({
  object: 'error',
  message: { detail: [{ type: 'extra_forbidden', loc: ['body', ...loc], msg, input: 1 }] },
  type: 'invalid_request_error',
})
const dashscope = (message: string, code = 'invalid_parameter_error'): JsonObject => ({
  error: { code, param: null, message: `<400> InternalError.Algo.${message}`, type: code },
})
const cloud = (code: number, message: string): JsonObject => ({ code, message, data: null })

const ROUTING =
  'To learn more about provider routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection'
const DROP =
  'To drop these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`\n. \n If you want to use these params dynamically send allowed_openai_params=[] in your request.'
const AZURE_POLICY =
  "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. To learn more about our content filtering policies please read our documentation: https://go.microsoft.com/fwlink/?linkid=2198766"

const TOOLS: Row[] = [
  ['Ollama', M2C, 'tools', 400, ollama('models.example/library/gemma3:12b does not support tools'), 'told tools'],
  ['Ollama', CHAT, 'tools', 400, ollama('stablelm2:latest does not support tools'), 'told tools'],
  ['Ollama', R2C, 'tools', 400, ollama('hf.co/acme/qwen-coder:latest does not support tools'), 'told tools'],
  ['Ollama', M2C, 'tools', 400, { error: 'models.example/library/x:0.8b does not support tools' }, 'told tools'],
  ['Ollama', 'messages', 'tools', 400, anthropic('models.example/x:135m does not support tools'), 'told tools'],
  ['Ollama', 'responses', 'tools', 400, openai('smollm2:135m does not support tools'), 'told tools'],
  ['llama.cpp', M2C, 'tools', 500, llama('tools param requires --jinja flag'), 'told tools'],
  ['llama.cpp', CHAT, 'tools', 500, llama('Unsupported param: tools'), 'told tools'],
  ['llama.cpp', M2C, 'forced', 500, llama('tool_choice param requires --jinja flag'), 'without tool_choice'],
  ['OpenRouter', CHAT, 'tools', 404, router(`No endpoints found that support tool use. ${ROUTING}`, 404), 'told tools'],
  [
    ...(['OpenRouter', M2C, 'tools', 404] as const),
    router(`No endpoints found that support tool use. Try disabling "look". ${ROUTING}`, 404),
    'told tools',
  ],
  [
    ...(['OpenRouter', M2C, 'forced', 404] as const),
    router(`No endpoints found that support the provided 'tool_choice' value. ${ROUTING}`, 404),
    'without tool_choice',
  ],
  [
    ...(['OpenRouter', CHAT, 'forced', 404] as const),
    router(`No endpoints found that support the provided 'tool_choice' value. ${ROUTING}`, 404),
    'told tool_choice',
  ],
  [
    ...(['vLLM', M2C, 'tools', 400] as const),
    vllm('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    'told tools',
  ],
  [
    ...(['vLLM', CHAT, 'tools left open', 400] as const),
    oldVllm('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    'told tool_choice',
  ],
  [
    ...(['vLLM', M2C, 'forced', 400] as const),
    vllm('`tool_choice` must either be a named tool, "auto", or "none".'),
    'without tool_choice',
  ],
  ['Groq', M2C, 'tools', 400, openai('`tool calling` is not supported with this model'), 'told tools'],
  ['Groq', CHAT, 'tools', 400, openai('`tools` is not supported with this model'), 'told tools'],
  ['Gemini', M2C, 'tools', 400, gemini('Function calling is not enabled for models/gemma-3-27b-it'), 'told tools'],
  ['DeepSeek', M2C, 'tools', 400, openai('deepseek-reasoner does not support Function Calling'), 'told tools'],
  ['Mistral', R2C, 'tools', 400, mistral('Function calling is not enabled for this model'), 'told tools'],
  ['Bedrock', CHAT, 'tools', 400, bedrock("This model doesn't support tool use."), 'told tools'],
  [
    'Bedrock',
    'messages',
    'tools',
    400,
    bedrock("This model doesn't support tool use in streaming mode."),
    'told tools',
  ],
  [
    ...(['OpenAI', M2C, 'tools', 400] as const),
    openai("Unsupported parameter: 'tools' is not supported with this model.", 'unsupported_parameter', 'tools'),
    'told tools',
  ],
  [
    ...(['NVIDIA NIM', M2C, 'tools', 400] as const),
    { error: 'Tool use has not been enabled, because it is unsupported by acme/llama-70b-instruct.' },
    'told tools',
  ],
  ['SiliconFlow', M2C, 'tools', 400, cloud(20037, 'Function call is not supported for this model.'), 'told tools'],
  [
    ...(['LiteLLM', M2C, 'tools', 400] as const),
    litellm(`litellm.UnsupportedParamsError: ollama does not support parameters: ['tools'], for model=m. ${DROP}`),
    'told tools',
  ],
  [
    ...(['LM Studio', M2C, 'named', 400] as const),
    { error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" },
    'without tool_choice',
  ],
  [
    'DeepSeek',
    M2C,
    'forced',
    400,
    openai('deepseek-reasoner does not support this tool_choice'),
    'without tool_choice',
  ],
  [
    ...(['Bedrock', CHAT, 'calls without tools', 400] as const),
    bedrock('The toolConfig field must be defined when using toolUse and toolResult content blocks.'),
    'told messages',
  ],
  [
    ...(['LiteLLM', 'messages', 'calls without tools', 400] as const),
    litellm(
      "litellm.UnsupportedParamsError: Bedrock doesn't support tool calling without `tools=` param specified. Pass `tools=` param OR set `litellm.modify_params = True`",
    ),
    'told messages',
  ],
]

const THINKING: Row[] = [
  ['Ollama', M2C, 'thinks', 400, openai('"llama3.1:8b" does not support thinking'), 'without thinking'],
  ['Ollama', R2C, 'thinks', 400, openai('models.example/library/t:7b does not support thinking'), 'without reasoning'],
  ['Ollama', CHAT, 'thinks', 400, openai('"qwen3-coder:30b" does not support thinking'), 'told reasoning_effort'],
  ['Ollama', 'messages', 'thinks', 400, anthropic('"gemma3:4b" does not support thinking'), 'without thinking'],
  ['Ollama', M2R, 'thinks', 400, openai('"gemma3:4b" does not support thinking'), 'without thinking'],
  ['Ollama', M2C, 'thinks', 400, openai('think value "high" is not supported for this model'), 'without thinking'],
  ['Groq', M2C, 'thinks', 400, openai('`reasoning_effort` is not supported with this model'), 'without thinking'],
  ['Groq', CHAT, 'thinks', 400, openai('`reasoning_effort` is not supported with this model'), 'told reasoning_effort'],
  [
    ...(['Vertex', M2C, 'thinks', 400] as const),
    gemini(
      'Unable to submit request because thinking is not supported by this model. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini',
    ),
    'without thinking',
  ],
  ['Gemini', R2C, 'thinks', 400, gemini('Thinking level is not supported for this model.'), 'without reasoning'],
  ['Gemini', M2C, 'thinks', 400, gemini('Thinking budget is not supported for this model.'), 'without thinking'],
  ['xAI', M2C, 'thinks', 400, xai('Argument not supported on this model: reasoningEffort'), 'without thinking'],
  ['xAI', 'responses', 'thinks', 400, xai('Argument not supported on this model: reasoning.effort'), 'told reasoning'],
  ['xAI', R2C, 'thinks', 400, xai('Model grok-4 does not support parameter reasoningEffort.'), 'without reasoning'],
  ['Anthropic', 'messages', 'thinks', 400, anthropic("'m-3-5-sonnet' does not support thinking."), 'without thinking'],
  ...(['messages', C2M] as const).map(
    (way): Row => [
      ...(['OGX', way, 'thinks', 400] as const),
      anthropic(
        "Failed to process thinking request: extended thinking requires a native Anthropic-compatible provider or a reasoning-capable model, and model 'tiny' is not known to support reasoning",
      ),
      way === 'messages' ? 'without thinking' : 'without reasoning_effort',
    ],
  ),
  [
    ...(['Cerebras', M2C, 'thinks', 400] as const),
    { message: "property 'reasoning_effort' is unsupported", type: 'invalid_request_error', code: 'wrong_api_format' },
    'without thinking',
  ],
  ['Mistral', M2C, 'thinks', 422, fault('Extra inputs are not permitted', 'reasoning_effort'), 'without thinking'],
  [
    ...(['Fireworks', M2C, 'thinks', 400] as const),
    openai("Extra inputs are not permitted, field: 'reasoning_effort', value: 'high'"),
    'without thinking',
  ],
  [
    ...(['LiteLLM', M2R, 'thinks', 400] as const),
    litellm(
      "litellm.UnsupportedParamsError: m doesn't support `reasoning.effort` (its model cost map entry lacks `supports_reasoning`).",
    ),
    'without thinking',
  ],
]

const LOGPROBS: Row[] = [
  ['Groq', CHAT, 'logprobs', 400, openai('`logprobs` is not supported with this model'), 'told logprobs'],
  ['Gemini', CHAT, 'logprobs', 400, gemini('Logprobs is not enabled for models/gemini-2.5-pro'), 'told logprobs'],
  ['Gemini', R2C, 'logprobs', 400, gemini('Logprobs is not enabled for models/gemini-2.5-flash-lite'), 'told include'],
  ['Vertex', CHAT, 'logprobs', 400, gemini('Logprobs is not supported for the current model.'), 'told logprobs'],
  [
    ...(['Vertex', CHAT, 'logprobs', 400] as const),
    gemini('Unable to submit request because Logprobs is not supported for this model.'),
    'told logprobs',
  ],
  ['OpenAI', CHAT, 'logprobs', 403, openai('You are not allowed to request logprobs from this model'), 'told logprobs'],
  [
    ...(['OpenAI', 'responses', 'logprobs', 400] as const),
    openai('logprobs are not supported with reasoning models.', null, 'include'),
    'told include',
  ],
  [
    ...(['OpenAI', CHAT, 'logprobs', 400] as const),
    openai("Unsupported parameter: 'logprobs' is not supported with this model.", 'unsupported_parameter', 'logprobs'),
    'told logprobs',
  ],
  [
    ...(['Azure', CHAT, 'logprobs', 400] as const),
    openai(
      'logprobs, best_of and echo parameters are not available on gpt-35-turbo model. Please remove the parameter and try again.',
    ),
    'told logprobs',
  ],
  [
    ...(['vLLM', CHAT, 'logprobs', 400] as const),
    vllm(
      "Gaudi doesn't support logprobs. Please remove 'logprobs'/'top_logprobs' from your request to receive a response.",
    ),
    'told logprobs',
  ],
  ['Mistral', CHAT, 'logprobs', 422, fault('Extra inputs are not permitted', 'logprobs'), 'told logprobs'],
  [
    ...(['LiteLLM', CHAT, 'logprobs', 400] as const),
    litellm(
      `litellm.UnsupportedParamsError: anthropic does not support parameters: ['logprobs', 'top_logprobs'], for model=m. ${DROP}`,
    ),
    'told logprobs',
  ],
  ['Gemini', CHAT, 'several', 400, gemini('Multiple candidates is not enabled for this model'), 'told n'],
  ['DeepSeek', CHAT, 'several', 400, openai('Invalid n value (currently only n = 1 is supported)'), 'told n'],
]

const FORMS: Row[] = [
  [
    ...(['vLLM', M2C, 'limits', 400] as const),
    vllm('The provided JSON schema contains features not supported by xgrammar.'),
    'answered',
  ],
  ['vLLM', M2C, 'limits', 400, vllm('Grammar error: Unknown format: uri'), 'answered'],
  ['vLLM', R2C, 'limits', 400, vllm('Grammar error: Unimplemented keys: ["uniqueItems"]'), 'answered'],
  ['vLLM', R2C, 'limits of the answer', 400, vllm('Grammar error: Unimplemented keys: ["pattern"]'), 'answered'],
  [
    'vLLM',
    R2C,
    'schema',
    400,
    vllm('The provided JSON schema contains features not supported by xgrammar.'),
    'answered',
  ],
  ['vLLM', CHAT, 'schema', 400, vllm('Grammar error: Unknown format: uri'), 'told response_format'],
  [
    ...(['llama.cpp', M2C, 'limits', 400] as const),
    llama('Failed to initialize samplers: failed to parse grammar', 400, 'invalid_request_error'),
    'answered',
  ],
  ['llama.cpp', R2C, 'limits', 400, llama('failed to parse grammar', 400, 'invalid_request_error'), 'answered'],
  [
    ...(['llama.cpp', M2C, 'limits', 400] as const),
    llama('JSON schema conversion failed:\nUnrecognized schema: {"not":{}}', 400, 'invalid_request_error'),
    'answered',
  ],
  [
    ...(['llama.cpp', M2C, 'schema and tools', 400] as const),
    llama('Cannot use custom grammar constraints with tools.', 400, 'invalid_request_error'),
    'answered',
  ],
  [
    ...(['Gemini', M2C, 'limits', 400] as const),
    gemini(
      '* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty for OBJECT type\n',
    ),
    'answered',
  ],
  ['Gemini', M2C, 'schema', 400, gemini('JSON mode is not enabled for models/gemma-3-27b-it'), 'answered'],
  [
    ...(['Gemini', M2C, 'schema and tools', 400] as const),
    gemini("Function calling with a response mime type: 'application/json' is unsupported"),
    'answered',
  ],
  [
    ...(['Groq', M2C, 'schema', 400] as const),
    openai(
      'This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models',
    ),
    'answered',
  ],
  ['Groq', M2C, 'schema and tools', 400, openai('json mode cannot be combined with tool/function calling'), 'answered'],
  ['DeepSeek', R2C, 'schema', 400, openai('This response_format type is unavailable now'), 'answered'],
  ['Anthropic', C2M, 'schema', 400, anthropic("'m-opus-4' does not support output format."), 'answered'],
  [
    ...(['OpenAI', CHAT, 'json', 400] as const),
    openai(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      null,
      'messages',
    ),
    'told response_format',
  ],
  [
    ...(['OpenAI', R2C, 'json', 400] as const),
    openai(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      null,
      'messages',
    ),
    'answered',
  ],
  [
    ...(['OpenAI', C2R, 'json', 400] as const),
    openai(
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
      null,
      'input',
    ),
    'answered',
  ],
  [
    ...(['OpenAI', 'responses', 'json', 400] as const),
    openai(
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
      null,
      'input',
    ),
    'told text.format',
  ],
  [
    ...(['DeepSeek', R2C, 'json', 400] as const),
    openai("Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."),
    'answered',
  ],
  [
    ...(['DashScope', R2C, 'json', 400] as const),
    dashscope(
      "InvalidParameter: 'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    ),
    'answered',
  ],
]

const ROLES: Row[] = [
  ['vLLM', M2C, 'system', 400, vllm('System role not supported'), 'answered'],
  ['vLLM', CHAT, 'system', 400, oldVllm('System role not supported System role not supported'), 'answered'],
  ['Gemini', R2C, 'system', 400, gemini('Developer instruction is not enabled for models/gemma-3-12b-it'), 'answered'],
  ['Gemini', CHAT, 'system', 400, gemini('Developer instruction is not enabled for this model'), 'answered'],
  [
    ...(['llama.cpp', M2C, 'system', 500] as const),
    llama(
      "\n------------\nWhile executing CallExpression at line 1, column 67 in source:\n...raise_exception('System role not supported') }}\n\nError: Jinja Exception: System role not supported",
    ),
    'answered',
  ],
  [
    ...(['OpenAI', M2C, 'system', 400] as const),
    openai(
      "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
      'unsupported_value',
      'messages[0].role',
    ),
    'answered',
  ],
  [
    ...(['Bedrock', M2C, 'system', 400] as const),
    bedrock(
      "This model doesn't support system messages. Try again without a system message or use a model that supports system messages.",
    ),
    'answered',
  ],
  ['mlx-lm', M2C, 'system', 404, { error: 'System role not supported' }, 'answered'],
  [
    ...(['vLLM', M2C, 'system', 400] as const),
    vllm('Conversation roles must alternate user/assistant/user/assistant/...'),
    'answered',
  ],
  ['vLLM', M2C, 'system within', 400, vllm('System message must be at the beginning.'), 'answered'],
  ['Mistral', M2C, 'system within', 400, mistral("Unexpected role 'system' after role 'assistant'"), 'answered'],
  [
    ...(['vLLM', CHAT, 'twice', 400] as const),
    vllm('After the optional system message, conversation roles must alternate user/assistant/user/assistant/...'),
    'answered',
  ],
  [
    ...(['vLLM', CHAT, 'twice', 400] as const),
    vllm(
      'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
    ),
    'answered',
  ],
  [
    ...(['Perplexity', CHAT, 'twice', 400] as const),
    {
      error: {
        message:
          'After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).',
        ...{ type: 'invalid_message', code: 400 },
      },
    },
    'answered',
  ],
  [
    ...(['DeepSeek', CHAT, 'twice', 400] as const),
    openai(
      'deepseek-reasoner does not support successive user or assistant messages (messages[0] and messages[1] in your input). You should interleave the user/assistant messages in the message sequence.',
    ),
    'answered',
  ],
  [
    ...(['Gemini', CHAT, 'twice', 400] as const),
    gemini('Please ensure that multiturn requests alternate between user and model.'),
    'answered',
  ],
  [
    ...(['Bedrock', 'messages', 'twice', 400] as const),
    anthropic(
      'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
    ),
    'told messages',
  ],
  [
    ...(['Mistral', M2C, 'history', 400] as const),
    mistral("Unexpected role 'user' after role 'tool'", 'invalid_request_message_order', '3230'),
    'answered',
  ],
  [
    ...(['Mistral', CHAT, 'history', 400] as const),
    mistral("Unexpected role 'user' after role 'tool'", 'invalid_request_message_order', '3230'),
    'told messages',
  ],
  [
    ...(['Mistral', CHAT, 'result without call', 400] as const),
    mistral("Unexpected role 'tool' after role 'user'", 'invalid_request_message_order', '3230'),
    'told messages',
  ],
  [
    ...(['Mistral', CHAT, 'call without result', 400] as const),
    mistral('Not the same number of function calls and responses', 'invalid_request_message_order', '3230'),
    'told messages',
  ],
  [
    ...(['OpenAI', CHAT, 'result without call', 400] as const),
    openai(
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      null,
      'messages.[1].role',
    ),
    'told messages',
  ],
  [
    ...(['OpenAI', CHAT, 'call without result', 400] as const),
    openai(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_a",
      null,
      'messages',
    ),
    'told messages',
  ],
  [
    ...(['DeepSeek', CHAT, 'result without call', 400] as const),
    openai("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
    'told messages',
  ],
  [
    ...(['Moonshot', CHAT, 'result without call', 400] as const),
    openai('Invalid request: tool_call_id  is not found'),
    'told messages',
  ],
  [
    ...(['Gemini', CHAT, 'call first', 400] as const),
    gemini(
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    ),
    'told messages',
  ],
  [
    ...(['Gemini', CHAT, 'call without result', 400] as const),
    gemini(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    ),
    'told messages',
  ],
  [
    ...(['Mistral', CHAT, 'begun', 400] as const),
    mistral('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'),
    'says The conversation must end with a user message.',
  ],
  [
    ...(['Mistral', R2C, 'begun', 400] as const),
    mistral('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'),
    'says The conversation must end with a user message.',
  ],
  [
    ...(['Perplexity', CHAT, 'begun', 400] as const),
    { error: { message: 'Last message must have role `user` or `tool`.', type: 'invalid_message', code: 400 } },
    'says The conversation must end with a user message.',
  ],
  [
    ...(['DeepSeek', CHAT, 'begun', 400] as const),
    openai(
      'The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode turned on',
    ),
    'says The conversation must end with a user message.',
  ],
  [
    ...(['llama.cpp', CHAT, 'begun', 400] as const),
    llama('Assistant response prefill is incompatible with enable_thinking.', 400, 'invalid_request_error'),
    'says The conversation must end with a user message.',
  ],
  [
    ...(['Anthropic', 'messages', 'begun', 400] as const),
    anthropic('This model does not support assistant message prefill. The conversation must end with a user message.'),
    'says The conversation must end with a user message.',
  ],
  [
    ...(['Bedrock', 'messages', 'model first', 400] as const),
    bedrock(
      'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
    ),
    'told messages',
  ],
  [
    ...(['Anthropic', 'messages', 'model first', 400] as const),
    anthropic('messages: first message must use the "user" role'),
    'told messages',
  ],
  ['vLLM', CHAT, 'model first', 400, vllm('No user query found in messages.'), 'told messages'],
]

const IDS: Row[] = [
  [
    ...(['Mistral', M2C, 'history', 400] as const),
    mistral(
      'Tool call id was toolu_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9.',
      'invalid_function_call',
      '3280',
    ),
    'answered',
  ],
  [
    ...(['Mistral', CHAT, 'history', 400] as const),
    mistral('Tool call id was call_a but must be a-z, A-Z, 0-9, with a length of 9.', 'invalid_request_error'),
    'answered',
  ],
  [
    'oMLX',
    CHAT,
    'history',
    500,
    openai('Tool call id was call_a but must be a-z, A-Z, 0-9, with a length of 9'),
    'answered',
  ],
  ['vLLM', M2C, 'history', 400, vllm('Tool call IDs should be alphanumeric strings with length 9!'), 'answered'],
  ['mlx-lm', R2C, 'history', 404, { error: 'Tool call IDs should be alphanumeric strings with length 9!' }, 'answered'],
  [
    ...(['OpenAI', CHAT, 'long ids', 400] as const),
    openai(
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 70 instead.",
      'string_above_max_length',
      'messages[1].tool_calls[0].id',
    ),
    'answered',
  ],
  [
    ...(['Anthropic', 'messages', 'long ids', 400] as const),
    anthropic("messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    "says String should match pattern '^[a-zA-Z0-9_-]+$'",
  ],
  [
    ...(['Anthropic', 'messages', 'history', 400] as const),
    anthropic('messages.1.content.0: `tool_use` ids must be unique'),
    'told messages.1.content.0',
  ],
]

const CONTENTS: Row[] = [
  [
    'Anthropic',
    'messages',
    'blank',
    400,
    anthropic('messages: text content blocks must be non-empty'),
    'told messages',
  ],
  [
    ...(['Anthropic', 'messages', 'blank', 400] as const),
    anthropic('messages: text content blocks must contain non-whitespace text'),
    'told messages',
  ],
  [
    ...(['Anthropic', 'messages', 'blank', 400] as const),
    anthropic('messages.0: all messages must have non-empty content except for the optional final assistant message'),
    'told messages.0',
  ],
  [
    'Anthropic',
    'messages',
    'blank system',
    400,
    anthropic('system: text content blocks must be non-empty'),
    'told system',
  ],
  [
    ...(['Bedrock', 'messages', 'blank', 400] as const),
    bedrock(
      'The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.',
    ),
    'told messages.0',
  ],
  [
    ...(['Vertex', CHAT, 'blank', 400] as const),
    gemini('Unable to submit request because it must have a text parameter. Add a text parameter and try again.'),
    'told messages',
  ],
  [
    ...(['Moonshot', CHAT, 'blank', 400] as const),
    openai("Invalid request: the message at position 0 with role 'user' must not be empty"),
    'told messages',
  ],
  [
    ...(['Mistral', CHAT, 'blank of the model', 400] as const),
    mistral('Assistant message must have either content or tool_calls, but not none.', 'invalid_request_error', '3240'),
    'told messages',
  ],
  ['vLLM', CHAT, 'cut call', 400, vllm('Unterminated string starting at: line 1 column 7 (char 6)'), 'answered'],
  ['vLLM', CHAT, 'cut call', 400, vllm("Expecting ',' delimiter: line 1 column 12 (char 11)"), 'answered'],
  [
    ...(['llama.cpp', CHAT, 'cut call', 500] as const),
    llama(
      'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 9: syntax error while parsing value - invalid string: missing closing quote',
    ),
    'answered',
  ],
  ['Ollama', CHAT, 'cut call', 400, ollama('invalid tool call arguments'), 'answered'],
  ['Ollama', CHAT, 'cut call', 400, ollama('unexpected end of JSON input'), 'answered'],
  [
    ...(['DashScope', CHAT, 'cut call', 400] as const),
    dashscope('InvalidParameter: The "function.arguments" parameter of the code model must be in JSON format.'),
    'answered',
  ],
]

const SETTINGS: Row[] = [
  [
    'Gemini',
    CHAT,
    'penalties',
    400,
    gemini('Penalty is not enabled for models/gemini-2.5-flash'),
    'told frequency_penalty',
  ],
  [
    'xAI',
    CHAT,
    'penalties',
    400,
    xai('Model grok-4-0709 does not support parameter presencePenalty.'),
    'told presence_penalty',
  ],
  [
    ...(['xAI', CHAT, 'penalties', 400] as const),
    xai('Argument not supported on this model: presencePenalty', 'invalid-argument'),
    'told presence_penalty',
  ],
  ['xAI', CHAT, 'stop', 400, xai('Argument not supported on this model: stop'), 'told stop'],
  ['xAI', M2C, 'stop', 400, xai('Argument not supported on this model: stop'), 'answered'],
  [
    ...(['OpenAI', M2C, 'stop', 400] as const),
    openai("Unsupported parameter: 'stop' is not supported with this model.", 'unsupported_parameter', 'stop'),
    'answered',
  ],
  [
    ...(['OpenAI', M2C, 'temperature', 400] as const),
    openai(
      "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
      'unsupported_value',
      'temperature',
    ),
    'without temperature',
  ],
  [
    ...(['OpenAI', CHAT, 'temperature', 400] as const),
    openai(
      "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
      'unsupported_value',
      'temperature',
    ),
    'told temperature',
  ],
  [
    'Moonshot',
    M2C,
    'temperature',
    400,
    openai('invalid temperature: only 1 is allowed for this model'),
    'without temperature',
  ],
  [
    'Anthropic',
    C2M,
    'temperature',
    400,
    anthropic('`temperature` is deprecated for this model.'),
    'without temperature',
  ],
  [
    ...(['Bedrock', C2M, 'temperature', 400] as const),
    bedrock('The model returned the following errors: `temperature` is deprecated for this model.'),
    'without temperature',
  ],
  [
    ...(['Anthropic', 'messages', 'top k', 400] as const),
    anthropic('`top_k` must be unset when thinking is enabled or in adaptive mode.'),
    'told top_k',
  ],
  [
    ...(['Vertex', CHAT, 'top k', 400] as const),
    gemini(
      'Unable to submit request because it has a topK value of 100 but the supported range is from 1 (inclusive) to 41 (exclusive). Update the value and try again.',
    ),
    'told top_k',
  ],
  [
    ...(['OpenAI', R2C, 'verbosity', 400] as const),
    openai(
      "Unsupported value: 'low' is not supported with the 'gpt-5.1-chat' model. Supported values are: 'medium'.",
      'unsupported_value',
      'verbosity',
    ),
    'without text.verbosity',
  ],
  [
    ...(['OpenAI', M2C, 'one call', 400] as const),
    openai("Unsupported parameter: 'parallel_tool_calls' is not supported with this model."),
    'without tool_choice.disable_parallel_tool_use',
  ],
  [
    ...(['OpenAI', CHAT, 'streams', 400] as const),
    openai(
      'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.',
      'unsupported_value',
      'stream',
    ),
    'answered',
  ],
  [
    ...(['Groq', CHAT, 'refusal kept', 400] as const),
    openai(
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'refusal' is unsupported, did you mean 'role'?)]",
    ),
    'told messages.1',
  ],
  [
    ...(['vLLM', M2C, 'cap', 400] as const),
    vllm('max_tokens=32000 cannot be greater than max_model_len=8192. Please request fewer output tokens.'),
    'without max_tokens',
  ],
  [
    ...(['DeepSeek', M2C, 'cap', 400] as const),
    openai('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'),
    'without max_tokens',
  ],
  [
    ...(['Groq', CHAT, 'cap', 400] as const),
    openai(
      '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    ),
    'without max_tokens',
  ],
  [
    ...(['OpenAI', C2R, 'cap', 400] as const),
    openai(
      "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 32000 instead.",
    ),
    'without max_tokens',
  ],
  [
    ...(['Anthropic', 'messages', 'cap', 400] as const),
    anthropic('max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m-3-5-haiku'),
    'without max_tokens',
  ],
]

const UNHANDLED = router(`No endpoints found that can handle the requested parameters. ${ROUTING}`, 404)
const FAULTY = { error: { code: '1210', message: 'API 调用参数有误，请检查文档。' } }

/** What is refused is named by none: it is found by what was sent. */
const UNNAMED: Row[] = [
  ['OpenRouter', M2C, 'temperature', 404, UNHANDLED, 'without temperature'],
  ['OpenRouter', CHAT, 'temperature', 404, UNHANDLED, 'told temperature'],
  ['OpenRouter', M2C, 'thinks', 404, UNHANDLED, 'without thinking'],
  ['OpenRouter', R2C, 'schema', 404, UNHANDLED, 'answered'],
  ['OpenRouter', CHAT, 'schema', 404, UNHANDLED, 'told response_format'],
  ['OpenRouter', M2C, 'forced', 404, UNHANDLED, 'without tool_choice'],
  ['Zhipu', M2C, 'one call', 400, FAULTY, 'without tool_choice.disable_parallel_tool_use'],
  ['Zhipu', M2C, 'stop', 400, FAULTY, 'answered'],
  ['Zhipu', CHAT, 'penalties', 400, FAULTY, 'told frequency_penalty'],
]

const SEARCHES: Row[] = [
  [
    ...(['OpenAI', M2R, 'blocked domains', 400] as const),
    openai(
      "Unknown parameter: 'tools[0].filters.blocked_domains'.",
      'unknown_parameter',
      'tools[0].filters.blocked_domains',
    ),
    'without tools.blocked_domains',
  ],
]

const PICTURES: Row[] = [
  [
    'OpenRouter',
    M2C,
    'picture',
    404,
    router('No endpoints found that support image input', 404),
    'says Could not process image',
  ],
  [
    ...(['Groq', M2C, 'picture', 400] as const),
    openai(
      "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]",
    ),
    'says Could not process image',
  ],
  [
    ...(['DeepSeek', M2C, 'picture', 400] as const),
    openai(
      'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text` at line 1 column 186',
    ),
    'says Could not process image',
  ],
  [
    'Mistral',
    R2C,
    'picture',
    400,
    mistral('Image input is not enabled for this model'),
    'says Could not process image',
  ],
  [
    'Ollama',
    CHAT,
    'picture',
    500,
    ollama('this model is missing data required for image input'),
    'says Could not process image',
  ],
  [
    ...(['OpenAI', CHAT, 'picture', 400] as const),
    openai(
      'Invalid content type. image_url is only supported by certain models.',
      null,
      'messages.[0].content.[1].type',
    ),
    'says Could not process image',
  ],
  [
    'vLLM',
    M2C,
    'picture',
    400,
    vllm('At most 0 image(s) may be provided in one prompt.'),
    'says Could not process image',
  ],
  ...([M2C, R2C, CHAT] as const).map(
    (way): Row => [
      ...(['mlx-lm', way, 'picture', 404] as const),
      { error: "Only 'text' content type is supported." },
      'says Could not process image',
    ],
  ),
  ['vLLM', 'messages', 'picture', 400, vllm('acme/tiny is not a multimodal model'), 'says Could not process image'],
  [
    ...(['llama.cpp', 'responses', 'picture', 500] as const),
    llama('image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'),
    'says Could not process image',
  ],
  [
    ...(['SiliconFlow', CHAT, 'picture', 400] as const),
    cloud(20041, 'The model is not a VLM (Vision Language Model). Please use text-only prompts.'),
    'says Could not process image',
  ],
  [
    ...(['Bedrock', CHAT, 'picture', 400] as const),
    bedrock("This model doesn't support the image content block that you provided."),
    'says Could not process image',
  ],
]

const POLICY: Row[] = [
  [
    ...(['LiteLLM', CHAT, 'plain', 400] as const),
    litellm(
      `litellm.BadRequestError: litellm.ContentPolicyViolationError: litellm.ContentPolicyViolationError: AzureException - ${AZURE_POLICY}\nmodel=azure/m. content_policy_fallback=None. fallbacks=None.`,
    ),
    'policy',
  ],
  [
    'LiteLLM',
    'messages',
    'plain',
    400,
    litellm(`litellm.BadRequestError: AzureException BadRequestError - ${AZURE_POLICY}`),
    'policy',
  ],
  [
    ...(['LiteLLM', CHAT, 'plain', 400] as const),
    litellm(
      `litellm.BadRequestError: AzureException - Error code: 400 - {'error': {'message': 'No.', 'type': None, 'param': 'prompt', 'code': 'content_filter', 'status': 400}}`,
    ),
    'policy',
  ],
  [
    ...(['one-api', M2C, 'plain', 400] as const),
    openai(
      '<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content. (request id: 2)',
    ),
    'policy',
  ],
  [
    ...(['LiteLLM', R2C, 'plain', 400] as const),
    litellm(
      "litellm.BadRequestError: VertexAIException BadRequestError - The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices.",
    ),
    'policy',
  ],
  [
    ...(['OpenRouter', M2C, 'plain', 403] as const),
    router('acme/m requires moderation on OpenInference. Your input was flagged for "violence".', 403),
    'policy',
  ],
  [
    ...(['Volcengine', M2C, 'plain', 400] as const),
    openai('The request failed because the input text may contain sensitive information. Request id: 2'),
    'policy',
  ],
  [
    ...(['Portkey', CHAT, 'plain', 446] as const),
    openai(
      'The guardrail checks defined in the config failed. You can find more information in the `hook_results` object.',
    ),
    'policy',
  ],
  [
    'LiteLLM',
    CHAT,
    'plain',
    400,
    litellm("{'error': 'Violated guardrail policy', 'bedrock_guardrail_response': ''}"),
    'policy',
  ],
  [
    'OpenRouter',
    CHAT,
    'plain',
    400,
    router(
      'Provider returned error',
      400,
      '{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}',
    ),
    'policy',
  ],
  [
    'xAI',
    CHAT,
    'plain',
    403,
    xai(
      'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
      'The caller does not have permission',
    ),
    'policy',
  ],
  ['Anthropic', 'messages', 'plain', 400, anthropic('Output blocked by content filtering policy'), 'policy'],
]

const MODELS: Row[] = [
  [
    ...(['Groq', CHAT, 'plain', 404] as const),
    openai('The model `vendorB-5.5` does not exist or you do not have access to it.', 'model_not_found'),
    'unknown model',
  ],
  [
    ...(['Groq', CHAT, 'plain', 400] as const),
    openai(
      'The model `vendorB-5.5` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations',
      'model_decommissioned',
    ),
    'unknown model',
  ],
  ['Mistral', CHAT, 'plain', 400, mistral('Invalid model: vendorB-5.5', 'invalid_model', '1500'), 'unknown model'],
  ['OpenRouter', CHAT, 'plain', 400, router('vendorB-5.5 is not a valid model ID', 400), 'unknown model'],
  ['OpenRouter', M2C, 'tools', 404, router('No endpoints found for vendorB-5.5.', 404), 'unknown model'],
  [
    ...(['OpenRouter', CHAT, 'plain', 404] as const),
    router('No allowed providers are available for the selected model.', 404),
    'unknown model',
  ],
  ['Bedrock', CHAT, 'plain', 400, bedrock('The provided model identifier is invalid.'), 'unknown model'],
  [
    'Bedrock',
    'messages',
    'plain',
    404,
    bedrock('This model version has reached the end of its life.'),
    'unknown model',
  ],
  [
    ...(['Bedrock', 'messages', 'plain', 403] as const),
    bedrock("You don't have access to the model with the specified model ID."),
    'unknown model',
  ],
  [
    ...(['Bedrock', 'messages', 'plain', 400] as const),
    bedrock(
      'Invocation of model ID vendorB-5.5 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
    ),
    'unknown model',
  ],
  ['DeepSeek', CHAT, 'plain', 400, openai('Model Not Exist'), 'unknown model'],
  [
    ...(['Together', CHAT, 'plain', 404] as const),
    openai(
      'Unable to access model vendorB-5.5. Please visit https://api.together.ai/models to view the list of supported models.',
      'model_not_available',
    ),
    'unknown model',
  ],
  [
    ...(['Fireworks', CHAT, 'plain', 404] as const),
    { error: { message: 'Model not found, inaccessible, and/or not deployed', code: 'NOT_FOUND', type: 'error' } },
    'unknown model',
  ],
  ['Ollama', CHAT, 'plain', 404, ollama('model "vendorB-5.5" not found, try pulling it first'), 'unknown model'],
  ['Ollama', 'messages', 'plain', 404, anthropic("model 'vendorB-5.5' not found", 'not_found_error'), 'unknown model'],
  [
    ...(['LM Studio', CHAT, 'plain', 400] as const),
    openai('Invalid model identifier "vendorB-5.5". Please specify a valid downloaded model (e.g. a, b).'),
    'unknown model',
  ],
  [
    ...(['Gemini', CHAT, 'plain', 404] as const),
    gemini(
      'models/vendorB-5.5 is not found for API version v1main, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.',
      404,
      'NOT_FOUND',
    ),
    'unknown model',
  ],
  [
    'Cerebras',
    CHAT,
    'plain',
    404,
    { message: 'Model vendorB-5.5 does not exist or you do not have access to it.', code: 'model_not_found' },
    'unknown model',
  ],
  [...(['xAI', CHAT, 'plain', 400] as const), xai('Model not found: vendorB-5.5', 'invalid-argument'), 'unknown model'],
  [
    ...(['xAI', CHAT, 'plain', 404] as const),
    xai(
      'The model vendorB-5.5 does not exist or your team 1-2 does not have access to it. Please ensure you’re using the correct API key.',
      'Some requested entity was not found',
    ),
    'unknown model',
  ],
  ['Zhipu', CHAT, 'plain', 400, { error: { code: '1211', message: '模型不存在，请检查模型代码。' } }, 'unknown model'],
  ['Moonshot', CHAT, 'plain', 404, openai('Not found the model vendorB-5.5 or Permission denied'), 'unknown model'],
  [
    'DashScope',
    CHAT,
    'plain',
    404,
    openai('The model `vendorB-5.5` does not exist or you do not have access to it.', 'model_not_found'),
    'unknown model',
  ],
  [
    'SiliconFlow',
    CHAT,
    'plain',
    400,
    cloud(20012, 'Model does not exist. Please check it carefully.'),
    'unknown model',
  ],
  [
    'Perplexity',
    CHAT,
    'plain',
    400,
    {
      error: {
        message: "Invalid model 'vendorB-5.5'. Permitted models can be found in the documentation.",
        type: 'invalid_model',
        code: 400,
      },
    },
    'unknown model',
  ],
  [
    'Cohere',
    CHAT,
    'plain',
    404,
    {
      message:
        "model 'vendorB-5.5' not found, make sure the correct model ID was used and that you have access to the model.",
    },
    'unknown model',
  ],
  ['GitHub Models', CHAT, 'plain', 400, openai('Unknown model: vendorB-5.5', 'unknown_model'), 'unknown model'],
  [
    'Hugging Face',
    CHAT,
    'plain',
    400,
    openai(
      'The requested model `vendorB-5.5` is not supported by any provider you have enabled.',
      'model_not_supported',
      'model',
    ),
    'unknown model',
  ],
  [
    'Cloudflare',
    CHAT,
    'plain',
    400,
    { errors: [{ message: 'No such model vendorB-5.5 or task', code: 5007 }], success: false },
    'unknown model',
  ],
  [
    'Vertex',
    CHAT,
    'plain',
    404,
    gemini(
      'Publisher Model `projects/p/locations/l/publishers/google/models/vendorB-5.5` was not found or your project does not have access to it.',
      404,
      'NOT_FOUND',
    ),
    'unknown model',
  ],
  [
    'Azure',
    CHAT,
    'plain',
    404,
    {
      error: {
        code: 'DeploymentNotFound',
        message:
          'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
      },
    },
    'unknown model',
  ],
  ['vLLM', CHAT, 'plain', 404, vllm('The model `vendorB-5.5` does not exist.', 404), 'unknown model'],
  [
    'LiteLLM',
    CHAT,
    'plain',
    400,
    litellm(
      '/chat/completions: Invalid model name passed in model=vendorB-5.5. Call `/v1/models` to view available models for your key.',
    ),
    'unknown model',
  ],
  [
    'LiteLLM',
    CHAT,
    'plain',
    401,
    litellm(
      "key not allowed to access model. This key can only access models=['a']. Tried to access vendorB-5.5",
      '401',
      'key_model_access_denied',
    ),
    'unknown model',
  ],
  [
    'new-api',
    CHAT,
    'plain',
    503,
    openai('No available channel for model vendorB-5.5 under group default (distributor)'),
    'unknown model',
  ],
  ['new-api', CHAT, 'plain', 503, openai('当前分组 default 下对于模型 vendorB-5.5 无可用渠道'), 'unknown model'],
  [
    'transformers serve',
    CHAT,
    'plain',
    400,
    { detail: "Server is pinned to 'acme/tiny'; requested 'vendorB-5.5'" },
    'unknown model',
  ],
  ['Anthropic', 'messages', 'plain', 404, anthropic('model: vendorB-5.5', 'not_found_error'), 'unknown model'],
]

const MONEY: Row[] = [
  [
    'OpenAI',
    CHAT,
    'plain',
    429,
    openai('You exceeded your current quota, please check your plan and billing details.', 'insufficient_quota'),
    'no money',
  ],
  [
    'OpenRouter',
    CHAT,
    'plain',
    402,
    router('Insufficient credits. Add more using https://openrouter.ai/settings/credits', 402),
    'no money',
  ],
  [
    'OpenRouter',
    CHAT,
    'plain',
    402,
    router(
      'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1200.',
      402,
    ),
    'no money',
  ],
  ['DeepSeek', CHAT, 'plain', 402, openai('Insufficient Balance'), 'no money'],
  [
    'xAI',
    CHAT,
    'plain',
    403,
    xai(
      "Your newly created team doesn't have any credits or licenses yet. You can purchase those on https://console.x.ai/team/1-2.",
      'The caller does not have permission to execute the specified operation',
    ),
    'no money',
  ],
  [
    'xAI',
    'responses',
    'plain',
    403,
    xai(
      'You have run out of credits or need a Grok subscription. Add credits at https://grok.com/?_s=usage',
      'forbidden',
    ),
    'no money',
  ],
  [
    'xAI',
    CHAT,
    'plain',
    429,
    xai(
      'Your team 1-2 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
      'Some resource has been exhausted',
    ),
    'no money',
  ],
  [
    'LiteLLM',
    CHAT,
    'plain',
    400,
    litellm('Budget has been exceeded! Current cost: 26.075, Max budget: 0.25', '400', 'budget_exceeded'),
    'no money',
  ],
  [
    'LiteLLM',
    'messages',
    'plain',
    429,
    litellm('Budget has been exceeded! Current cost: 10.51, Max budget: 10.00', '429', 'budget_exceeded'),
    'no money',
  ],
  [
    'LiteLLM',
    CHAT,
    'plain',
    400,
    litellm(
      'litellm.BadRequestError: OpenAIException - Budget has been exceeded! Current cost: 14.1, Max budget: 10. Received Model Group=m\nAvailable Model Group Fallbacks=None',
    ),
    'no money',
  ],
  [
    'LiteLLM',
    CHAT,
    'plain',
    400,
    litellm('ExceededBudget: End User=ann over budget. Spend=0.0008, Budget=0.0001', '400', 'auth_error'),
    'no money',
  ],
  [
    'LiteLLM',
    CHAT,
    'plain',
    429,
    litellm(
      'No deployments available - crossed budget: Exceeded budget for deployment model_name: m, 0.36 >= 0.3',
      '429',
    ),
    'no money',
  ],
  [
    'Moonshot',
    CHAT,
    'plain',
    429,
    {
      error: {
        message: 'Your account org-1 <ak-2> is suspended, please check your plan and billing details',
        type: 'exceeded_current_quota_error',
      },
    },
    'no money',
  ],
  ['Zhipu', CHAT, 'plain', 429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }, 'no money'],
  ['SiliconFlow', CHAT, 'plain', 403, cloud(30001, 'Sorry, your account balance is insufficient'), 'no money'],
  [
    'Together',
    CHAT,
    'plain',
    402,
    openai('Credit limit exceeded, please navigate to https://api.together.xyz/settings/billing'),
    'no money',
  ],
  [
    'Fireworks',
    CHAT,
    'plain',
    412,
    {
      error: {
        message:
          'Account ann-1 is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.',
        code: 'PRECONDITION_FAILED',
      },
    },
    'no money',
  ],
  [
    'Groq',
    CHAT,
    'plain',
    400,
    openai(
      'Organization has been restricted. Please reach out to support if you believe this was in error.',
      'organization_restricted',
    ),
    'no money',
  ],
  [
    'Gemini',
    CHAT,
    'plain',
    429,
    gemini(
      'Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing.',
      429,
      'RESOURCE_EXHAUSTED',
    ),
    'no money',
  ],
  [
    'Cerebras',
    CHAT,
    'plain',
    402,
    { message: 'Payment required to access this resource.', type: 'payment_required_error', code: 'payment_required' },
    'no money',
  ],
  [
    'Perplexity',
    CHAT,
    'plain',
    401,
    {
      error: {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        code: 401,
      },
    },
    'no money',
  ],
  [
    'Vercel',
    CHAT,
    'plain',
    402,
    {
      error: {
        message: 'Insufficient funds. Please add credits to your account to continue using AI services.',
        type: 'insufficient_funds',
      },
    },
    'no money',
  ],
  [
    'Hugging Face',
    CHAT,
    'plain',
    402,
    {
      error:
        'You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more monthly included usage.',
    },
    'no money',
  ],
  [
    'Volcengine',
    CHAT,
    'plain',
    403,
    {
      error: {
        code: 'AccountOverdueError',
        message: 'The request failed because your account has an overdue balance. Request id: 2',
        type: 'Forbidden',
      },
    },
    'no money',
  ],
  [
    'DashScope',
    CHAT,
    'plain',
    400,
    openai(
      'Access denied, please make sure your account is in good standing. For details, see: https://help.aliyun.com',
      'Arrearage',
    ),
    'no money',
  ],
  [
    'DashScope',
    CHAT,
    'plain',
    403,
    {
      error: {
        code: 'AllocationQuota.FreeTierOnly',
        message:
          'The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the "use free tier only" mode in the management console.',
      },
    },
    'no money',
  ],
  [
    'Novita',
    CHAT,
    'plain',
    403,
    { code: 403, reason: 'NOT_ENOUGH_BALANCE', message: 'not enough balance', metadata: {} },
    'no money',
  ],
  [
    'new-api',
    CHAT,
    'plain',
    403,
    { error: { message: '用户额度不足, 剩余额度: ¥0.000000', type: 'new_api_error', code: 'insufficient_user_quota' } },
    'no money',
  ],
  [
    'Anthropic',
    'messages',
    'plain',
    400,
    anthropic(
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    'no money',
  ],
  [
    'Anthropic',
    'messages',
    'plain',
    400,
    anthropic('You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.'),
    'no money',
  ],
  [
    'Bedrock',
    'messages',
    'plain',
    403,
    bedrock(
      'Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided. Your AWS Marketplace subscription for this model cannot be completed at this time.',
    ),
    'no money',
  ],
]

const WAITS: Row[] = [
  [
    'Azure',
    CHAT,
    'plain',
    429,
    openai(
      'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 12 seconds. Please go here: https://aka.ms/oai/quotaincrease',
      '429',
    ),
    'busy 12',
  ],
  ['Azure', CHAT, 'plain', 429, openai('Rate limit is exceeded. Try again in 2 seconds.', '429'), 'busy 2'],
  [
    'Gemini',
    CHAT,
    'plain',
    429,
    gemini(
      'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. \n* Quota exceeded for metric: requests, limit: 15\nPlease retry in 31.5s.',
      429,
      'RESOURCE_EXHAUSTED',
    ),
    'busy 32',
  ],
  [
    'Gemini',
    CHAT,
    'plain',
    429,
    [
      {
        error: {
          code: 429,
          message: 'Resource has been exhausted.',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }],
        },
      },
    ],
    'busy 17',
  ],
  [
    'Groq',
    CHAT,
    'plain',
    429,
    openai(
      'Rate limit reached for model `m` in organization `o` on tokens per day (TPD): Limit 100000, Used 99999, Requested 900. Please try again in 12m57.312s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
      'rate_limit_exceeded',
    ),
    'busy 778',
  ],
  [
    'Moonshot',
    CHAT,
    'plain',
    429,
    openai('Your account org-1 request reached organization max RPM: 3, please try again after 1 seconds'),
    'busy 1',
  ],
  [
    'LiteLLM',
    CHAT,
    'plain',
    429,
    litellm(
      'No deployments available for selected model, Try again in 5 seconds. Passed model=m. pre-call-checks=False',
      '429',
    ),
    'busy 5',
  ],
  [
    'GitHub Models',
    CHAT,
    'plain',
    429,
    openai(
      'Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 42 seconds before retrying.',
      'RateLimitReached',
    ),
    'busy 42',
  ],
  [
    'OpenAI',
    CHAT,
    'plain',
    429,
    openai(
      'Rate limit reached for m in organization org-1 on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s. You can increase your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing.',
      'rate_limit_exceeded',
    ),
    'busy 20',
  ],
]

const ACCESS: Row[] = [
  [
    'xAI',
    CHAT,
    'plain',
    400,
    xai('Incorrect API key provided: xa***12. You can obtain an API key from https://console.x.ai.'),
    'refused access',
  ],
  [
    'Gemini',
    CHAT,
    'plain',
    400,
    gemini('User location is not supported for the API use.', 400, 'FAILED_PRECONDITION'),
    'refused access',
  ],
  ['Gemini', CHAT, 'plain', 400, gemini('API key expired. Please renew the API key.'), 'refused access'],
  ['Hugging Face', CHAT, 'plain', 401, { error: 'Invalid username or password.' }, 'refused access'],
]

const LENGTHS: Row[] = [
  [
    'vLLM',
    CHAT,
    'plain',
    400,
    vllm(
      "This model's maximum context length is 1024 tokens. However, your prompt contains at least 1025 input tokens, which exceeds this limit even without any output tokens.",
    ),
    'too long',
  ],
  [
    'LM Studio',
    CHAT,
    'plain',
    400,
    {
      error:
        'Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    },
    'too long',
  ],
]

/** Servers and relays of which the tables above hold little. */
const ELSEWHERE: Row[] = [
  [
    'SGLang',
    M2C,
    'tools',
    400,
    {
      object: 'error',
      message: 'Tool choice requires --tool-call-parser to be set on the server.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    'told tools',
  ],
  [
    'SGLang',
    R2C,
    'schema',
    400,
    {
      object: 'error',
      message: 'Failed to compile json schema: unsupported type',
      type: 'BadRequest',
      param: null,
      code: 400,
    },
    'answered',
  ],
  [
    'SGLang',
    CHAT,
    'logprobs',
    400,
    {
      object: 'error',
      message: 'logprobs is not supported when speculative decoding is enabled',
      type: 'BadRequest',
      code: 400,
    },
    'told logprobs',
  ],
  [
    'TGI',
    M2C,
    'tools',
    422,
    { error: 'Input validation error: `tools` are not supported for this model', error_type: 'validation' },
    'told tools',
  ],
  [
    'TGI',
    M2C,
    'stop',
    422,
    { error: 'Input validation error: `stop` supports up to 4 stop sequences. Given: 5', error_type: 'validation' },
    'answered',
  ],
  [
    'TGI',
    CHAT,
    'plain',
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`',
      error_type: 'validation',
    },
    'too long',
  ],
  [
    'TGI',
    M2C,
    'twice',
    422,
    {
      error:
        'Template error: syntax error: Conversation roles must alternate user/assistant/user/assistant/... (in <string>:1)',
      error_type: 'template_error',
    },
    'answered',
  ],
  [
    'TensorRT-LLM',
    M2C,
    'forced',
    400,
    { object: 'error', message: 'tool_choice="required" is not supported yet', type: 'BadRequestError', code: 400 },
    'without tool_choice',
  ],
  [
    'TensorRT-LLM',
    CHAT,
    'several',
    400,
    { object: 'error', message: 'n > 1 is not allowed in greedy decoding.', type: 'BadRequestError', code: 400 },
    'told n',
  ],
  [
    'Triton',
    M2C,
    'one call',
    400,
    { detail: 'parallel_tool_calls is not supported' },
    'without tool_choice.disable_parallel_tool_use',
  ],
  ['LM Studio', M2C, 'schema', 400, { error: "'response_format.type' must be 'json_schema' or 'text'" }, 'answered'],
  [
    'LM Studio',
    M2C,
    'picture',
    400,
    { error: 'Model does not support images. Please use a model that does.' },
    'says Could not process image',
  ],
  [
    'LM Studio',
    CHAT,
    'plain',
    400,
    {
      error: {
        message: 'No models loaded. Please load a model in the developer page or use the lms load command.',
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      },
    },
    'unknown model',
  ],
  ['Jan', M2C, 'system within', 400, { message: 'Only the first message may have the role system' }, 'answered'],
  [
    'Bedrock',
    M2C,
    'stop',
    400,
    bedrock('This model does not support the stopSequences field. Remove stopSequences and try again.'),
    'answered',
  ],
  [
    'Bedrock',
    CHAT,
    'top k',
    400,
    bedrock(
      'Malformed input request: #: extraneous key [top_k] is not permitted, please reformat your input and try again.',
    ),
    'told top_k',
  ],
  [
    'Bedrock',
    M2C,
    'temperature',
    400,
    bedrock(
      'The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    ),
    'without temperature',
  ],
  [
    'Bedrock',
    'messages',
    'thinks',
    400,
    bedrock('thinking.type: Input should be a valid dictionary: extended thinking is not supported for this model'),
    'without thinking',
  ],
  [
    'Vertex',
    M2C,
    'tools',
    400,
    gemini('Unable to submit request because one or more function declarations specified are not supported.'),
    'told tools',
  ],
  [
    'Vertex',
    M2C,
    'limits',
    400,
    gemini(
      "Unable to submit request because `look` functionDeclaration `parameters.days` schema didn't specify the schema type field.",
    ),
    'answered',
  ],
  [
    'Gemini',
    M2C,
    'limits',
    400,
    gemini(
      'Invalid JSON payload received. Unknown name "uniqueItems" at \'tools[0].function_declarations[0].parameters.properties[1].value\': Cannot find field.',
    ),
    'answered',
  ],
  [
    'Gemini',
    R2C,
    'limits of the answer',
    400,
    gemini(
      "* GenerateContentRequest.generation_config.response_schema.properties[place].format: only 'enum' and 'date-time' are supported for STRING type\n",
    ),
    'answered',
  ],
  [
    'Gemini',
    M2C,
    'schema',
    400,
    gemini('The specified schema produces a constraint that has too many states for serving.'),
    'answered',
  ],
  [
    'Gemini',
    M2C,
    'history',
    400,
    gemini('Please ensure that function response turn comes immediately after a function call turn.'),
    'answered',
  ],
  [
    'Cohere',
    M2C,
    'temperature',
    400,
    { message: 'invalid request: temperature must be between 0 and 1 inclusive.' },
    'told temperature',
  ],
  [
    'AI21',
    M2C,
    'tools',
    422,
    {
      detail: [
        {
          type: 'value_error',
          loc: ['body', 'tools'],
          msg: 'Value error, tools are not supported by jamba-mini',
          input: [],
        },
      ],
    },
    'told tools',
  ],
  [
    'AI21',
    M2C,
    'stop',
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'stop'], msg: 'Extra inputs are not permitted' }] },
    'answered',
  ],
  [
    'Writer',
    M2C,
    'one call',
    400,
    {
      tpe: 'BadRequest',
      errors: [{ description: 'Unrecognized field "parallel_tool_calls"', extras: {} }],
      extras: {},
    },
    'without tool_choice.disable_parallel_tool_use',
  ],
  [
    'watsonx',
    M2C,
    'thinks',
    400,
    {
      errors: [
        {
          code: 'json_validation_error',
          message: 'Json document validation error: reasoning_effort is an unknown property',
        },
      ],
      trace: 'x',
      status_code: 400,
    },
    'without thinking',
  ],
  [
    'watsonx',
    CHAT,
    'plain',
    404,
    {
      errors: [{ code: 'model_not_supported', message: "Model 'vendorB-5.5' is not supported for this environment." }],
      trace: 'x',
      status_code: 404,
    },
    'unknown model',
  ],
  [
    'Databricks',
    M2C,
    'thinks',
    400,
    {
      error_code: 'BAD_REQUEST',
      message:
        '{"error":{"message":"Unrecognized request argument supplied: reasoning_effort","type":"invalid_request_error"}}',
    },
    'without thinking',
  ],
  [
    'Snowflake',
    M2C,
    'tools',
    400,
    { message: 'tools are only supported for claude models', error_code: '390400', request_id: 'r' },
    'told tools',
  ],
  [
    'Cloudflare',
    M2C,
    'tools',
    400,
    {
      errors: [
        {
          message:
            "AiError: Bad input: Error: oneOf at '/' not met, 0 matches: required properties at '/' are 'prompt', Type mismatch of '/tools'",
          code: 5006,
        },
      ],
      success: false,
      result: {},
      messages: [],
    },
    'told tools',
  ],
  [
    'Hugging Face',
    M2C,
    'schema',
    400,
    {
      error: {
        message: "Provider 'x' does not support response_format of type json_schema",
        type: 'invalid_request_error',
      },
    },
    'answered',
  ],
  [
    'SambaNova',
    M2C,
    'one call',
    400,
    {
      error: {
        code: null,
        message: '"parallel_tool_calls": extra fields not permitted',
        param: null,
        type: 'invalid_request_error',
      },
    },
    'without tool_choice.disable_parallel_tool_use',
  ],
  [
    'Hyperbolic',
    M2C,
    'tools',
    400,
    {
      object: 'error',
      message: 'Tools are disabled for this endpoint',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    'told tools',
  ],
  [
    'Friendli',
    M2C,
    'forced',
    422,
    { detail: "tool_choice 'required' can't be used with this model" },
    'without tool_choice',
  ],
  ['Nebius', M2C, 'thinks', 400, { detail: 'Invalid value for reasoning_effort: high. Allowed: [low]' }, 'answered'],
  [
    'Inception',
    M2C,
    'temperature',
    400,
    { error: { message: 'temperature out of supported range', type: 'bad_request', code: null, param: 'temperature' } },
    'told temperature',
  ],
  [
    'Qianfan',
    M2C,
    'tools',
    400,
    {
      error: {
        code: 'invalid_argument',
        message: 'the model is not support function call',
        type: 'invalid_request_error',
      },
      id: 'as-x',
    },
    'told tools',
  ],
  [
    'Hunyuan',
    M2C,
    'forced',
    400,
    { error: { message: 'ToolChoice 取值不合法', type: 'invalid_request_error', code: '400' } },
    'without tool_choice',
  ],
  [
    'Stepfun',
    M2C,
    'schema',
    400,
    { error: { message: 'response_format json_schema is unsupported', type: 'request_params_invalid' } },
    'answered',
  ],
  [
    'Baichuan',
    M2C,
    'temperature',
    400,
    {
      error: {
        code: 'invalid_parameter',
        param: null,
        type: 'invalid_request_error',
        message: 'Request parameters invalid',
      },
    },
    'without temperature',
  ],
  [
    'MiniMax',
    M2C,
    'stop',
    200,
    { base_resp: { status_code: 2013, status_msg: 'invalid params, stop is not supported' } },
    'answered',
  ],
  [
    'Volcengine',
    M2C,
    'thinks',
    400,
    {
      error: {
        code: 'InvalidParameter',
        message:
          'The parameter `reasoning_effort` specified in the request are not valid: reasoning_effort is not supported by current model. Request id: x',
        param: 'reasoning_effort',
        type: 'BadRequest',
      },
    },
    'without thinking',
  ],
  [
    'Volcengine',
    M2C,
    'picture',
    400,
    {
      error: {
        code: 'InvalidParameter',
        message:
          'The parameter `messages.content` specified in the request are not valid: image_url content is not supported by current model.',
        param: 'messages.content',
        type: 'BadRequest',
      },
    },
    'says Could not process image',
  ],
  [
    'Moonshot',
    M2C,
    'schema',
    400,
    openai('Invalid request: response_format.type json_schema is not supported'),
    'answered',
  ],
  ['Moonshot', CHAT, 'cut call', 400, openai('Invalid request: function arguments is not valid json'), 'answered'],
  ['DeepSeek', M2C, 'stop', 400, openai("Invalid 'stop': array too long"), 'answered'],
  [
    'xAI',
    CHAT,
    'schema and tools',
    400,
    xai('Structured outputs with tools is only supported for grok-4 family'),
    'told response_format',
  ],
  [
    'xAI',
    'responses',
    'schema',
    422,
    xai('Failed to deserialize the JSON body into the target type: text.format: unknown variant'),
    'told text.format',
  ],
  [
    'Perplexity',
    M2C,
    'tools',
    400,
    {
      error: { message: 'Tool calling is not supported for this model', type: 'tool_calling_not_supported', code: 400 },
    },
    'told tools',
  ],
  [
    'Perplexity',
    M2C,
    'schema',
    400,
    {
      error: {
        message: '["At body -> response_format -> ResponseFormatJSONSchema -> type: Input should be \'json_schema\'"]',
        type: 'bad_request',
        code: 400,
      },
    },
    'answered',
  ],
  [
    'GitHub Copilot',
    M2C,
    'plain',
    400,
    {
      error: {
        message: 'The requested model is not supported.',
        code: 'model_not_supported',
        param: 'model',
        type: 'invalid_request_error',
      },
    },
    'unknown model',
  ],
  [
    'Azure',
    M2C,
    'one call',
    400,
    openai('Unrecognized request arguments supplied: parallel_tool_calls'),
    'without tool_choice.disable_parallel_tool_use',
  ],
  [
    'Azure',
    R2C,
    'schema',
    400,
    openai(
      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs",
    ),
    'answered',
  ],
  [
    'Azure',
    CHAT,
    'plain',
    429,
    openai(
      'Your requests to gpt for m have exceeded call rate limit. Please retry after 6 seconds.',
      'RateLimitReached',
    ),
    'busy 6',
  ],
  [
    'Llamafile',
    M2C,
    'tools',
    500,
    { error: { code: 500, message: 'Unsupported param: tools', type: 'server_error' } },
    'told tools',
  ],
  [
    'KoboldCpp',
    M2C,
    'picture',
    400,
    { detail: { msg: 'No vision projector loaded', type: 'bad_input' } },
    'says Could not process image',
  ],
  ['MLC', M2C, 'limits', 400, { message: 'Invalid grammar: Schema keyword uniqueItems unsupported' }, 'answered'],
  ['exo', M2C, 'plain', 404, { detail: 'No instance found for model vendorB-5.5' }, 'unknown model'],
  [
    'AnyScale',
    M2C,
    'system',
    400,
    { error: { message: 'Input validation error: role system is not allowed', type: 'invalid_request' } },
    'answered',
  ],
  [
    'Predibase',
    M2C,
    'cap',
    422,
    { error: 'Input validation error: `max_tokens` must be <= 8192. Given: 32000' },
    'without max_tokens',
  ],
  [
    'Nebius',
    M2C,
    'cap',
    400,
    { detail: 'max_tokens: ensure this value is less than or equal to 8192' },
    'without max_tokens',
  ],
  [
    'Kluster',
    M2C,
    'cap',
    400,
    {
      error: {
        message:
          'max_completion_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
        type: 'invalid_request_error',
        param: 'max_completion_tokens',
        code: 'invalid_value',
      },
    },
    'without max_tokens',
  ],

  [
    'MiniMax',
    CHAT,
    'result without call',
    200,
    { base_resp: { status_code: 2013, status_msg: 'invalid params, tool result tool id(call_a) not found' } },
    'told messages',
  ],
]

/** What nobody has said yet, as far as is known: the same in words that no server's are. */
export const NEW_WORDS: readonly Row[] = [
  ['A', CHAT, 'several', 400, openai('Got n=2 where one answer is made.'), 'told n'],
  ['B', CHAT, 'several', 400, openai('n must be 1'), 'told n'],
  ['C', CHAT, 'several', 422, { detail: 'Parameter n is not supported by this engine' }, 'told n'],
  ['D', CHAT, 'several', 400, openai('argument n out of range'), 'told n'],
  ['A', CHAT, 'several', 400, openai('The number of completions is limited to a single one, no more.'), 'told n'],
  ['E', CHAT, 'several', 400, openai('Only one choice can be returned.'), 'told n'],
  ['A', M2C, 'calls alone', 400, openai('unsupported content of a message: <nil>'), 'answered'],
  ['B', R2C, 'calls alone', 500, llama('can only concatenate str (not "NoneType") to str'), 'answered'],
  ['C', M2C, 'calls alone', 422, { detail: 'Message 2: expected a string, found null' }, 'answered'],
  ['D', R2C, 'calls alone', 400, openai('The assistant content is None although tools were called.'), 'answered'],
  [
    'A',
    M2C,
    'tools',
    422,
    { detail: 'Sorry: acme-7b was not trained for tool calling, so none is possible here.' },
    'told tools',
  ],
  ['B', CHAT, 'tools', 501, llama('function calls are not implemented by this backend', 501), 'told tools'],
  ['C', R2C, 'tools', 400, { error_code: 336003, error_msg: 'the functions parameter is not supported' }, 'told tools'],
  [
    'D',
    M2C,
    'tools',
    400,
    openai('Please launch the server with a tool parser if you want to use a tool.'),
    'told tools',
  ],
  ['E', 'responses', 'tools', 404, openai('No route supports tool calling for what you asked.'), 'told tools'],
  [
    'G',
    M2C,
    'picture',
    422,
    { detail: 'No content parts other than "text" are taken.' },
    'says Could not process image',
  ],
  ['H', CHAT, 'picture', 400, openai('Messages with non-text parts are refused.'), 'says Could not process image'],
  ['F', M2C, 'forced', 422, openai('Tool choice other than auto is unavailable.'), 'without tool_choice'],
  ['A', M2C, 'thinks', 400, openai('This deployment cannot do thinking: it is not enabled.'), 'without thinking'],
  ['B', R2C, 'thinks', 501, llama('reasoning is not supported by the loaded model', 501), 'without reasoning'],
  ['C', 'messages', 'thinks', 422, { detail: 'Extended thinking is not available for acme-7b.' }, 'without thinking'],
  ['D', 'messages', 'thinks', 400, openai('Thinking needs a larger model than this one.'), 'without thinking'],
  ['E', R2C, 'thinks', 400, openai('acme-7b has never been able to do any reasoning.'), 'without reasoning'],
  ['G', M2C, 'thinks', 400, { detail: 'This backend offers no support for reasoning.' }, 'without thinking'],
  ['D', CHAT, 'logprobs', 400, openai('Token log probabilities cannot be returned here.'), 'told logprobs'],
  [
    'E',
    CHAT,
    'several',
    400,
    openai('Only one of several choices can be made: multiple completions are disabled.'),
    'told n',
  ],
  ['A', M2C, 'limits', 400, openai('Could not build a grammar from your tool: keyword uniqueItems'), 'answered'],
  [
    'B',
    R2C,
    'limits of the answer',
    422,
    { detail: 'Schema cannot be enforced: unsupported keyword pattern.' },
    'answered',
  ],
  [
    'C',
    M2C,
    'schema',
    400,
    openai('Structured outputs are an enterprise feature and not available on this plan.'),
    'answered',
  ],
  ['D', M2C, 'schema', 501, llama('json schema is not implemented', 501), 'answered'],
  ['E', M2C, 'schema and tools', 400, openai('Use either tools or a JSON schema, not both together.'), 'answered'],
  [
    'F',
    R2C,
    'json',
    400,
    openai('For this format your text has to include the word "JSON" and it must not be left out.'),
    'answered',
  ],
  ['A', M2C, 'system', 400, openai('Only user and assistant roles are supported!'), 'answered'],
  ['B', CHAT, 'system', 422, { detail: 'System prompts are not allowed with this checkpoint.' }, 'answered'],
  ['C', M2C, 'system within', 400, openai('A system message may only come first.'), 'answered'],
  [
    'D',
    CHAT,
    'twice',
    422,
    { error: 'Template error: speakers must alternate: consecutive user turns found' },
    'answered',
  ],
  ['E', CHAT, 'twice', 400, openai('Bad request: chat messages must alternate between user and assistant'), 'answered'],
  ['F', M2C, 'history', 400, openai('A user turn must not follow a tool turn.'), 'answered'],
  [
    'G',
    CHAT,
    'begun',
    400,
    openai('invalid params, messages must end with user or tool'),
    'says The conversation must end with a user message.',
  ],
  [
    'A',
    'messages',
    'begun',
    422,
    { detail: 'Conversations ending with an assistant turn cannot be continued.' },
    'says The conversation must end with a user message.',
  ],
  [
    'B',
    CHAT,
    'call without result',
    400,
    openai('Each tool call must be answered before the next user turn.'),
    'told messages',
  ],
  ['C', 'messages', 'model first', 400, anthropic('The conversation should start with the user.'), 'told messages'],
  [
    'D',
    M2C,
    'history',
    422,
    { detail: 'tool call id: value must be alphanumeric and 9 characters in length' },
    'answered',
  ],
  ['E', CHAT, 'long ids', 400, openai('tool_call_id must be at most 40 characters'), 'answered'],
  [
    'F',
    'messages',
    'blank',
    400,
    anthropic('Each message must have at least one content element that is not empty.'),
    'told messages',
  ],
  [
    'G',
    CHAT,
    'blank of the model',
    400,
    openai('content of an assistant message must not be empty or blank'),
    'told messages.1',
  ],
  ['A', CHAT, 'cut call', 422, { detail: 'EOF while parsing a string at line 1 column 12' }, 'answered'],
  ['B', CHAT, 'cut call', 500, openai('Tool call arguments could not be decoded as JSON.'), 'answered'],
  ['C', CHAT, 'penalties', 400, openai('Repetition penalties cannot be set here.'), 'told frequency_penalty'],
  ['D', CHAT, 'stop', 400, openai('Custom stop sequences are not available.'), 'told stop'],
  [
    'E',
    M2C,
    'temperature',
    400,
    openai('The sampling temperature cannot be changed for this model.'),
    'without temperature',
  ],
  ['F', CHAT, 'streams', 400, openai('Streaming is disabled for your tier.'), 'answered'],
  ['G', M2C, 'temperature', 422, { detail: 'Bad Request' }, 'without temperature'],
  ['H', R2C, 'verbosity', 400, { error: 'Schema mismatch.' }, 'without text.verbosity'],
  ['I', M2C, 'one call', 400, {}, 'without tool_choice.disable_parallel_tool_use'],
  ['J', CHAT, 'temperature', 400, openai('One of the settings is invalid here.'), 'told temperature'],
  ['K', M2C, 'thinks', 501, llama('Some of the options are not implemented.', 501), 'without thinking'],
  ['A', M2C, 'picture', 400, openai('acme-7b cannot see: it only supports text.'), 'says Could not process image'],
  [
    'B',
    R2C,
    'picture',
    404,
    router('No provider has vision for this one; image input is not available.', 404),
    'says Could not process image',
  ],
  ['C', 'messages', 'picture', 422, { detail: 'Multimodal content is not supported.' }, 'says Could not process image'],
  ['A', CHAT, 'plain', 400, openai('Your text was rejected: it violates our content policy.'), 'policy'],
  ['B', M2C, 'plain', 403, { detail: 'Prompt flagged by the moderation layer.' }, 'policy'],
  ['C', CHAT, 'plain', 422, { error: { message: 'Blocked.', reason: 'GUARDRAIL_BLOCKED' } }, 'policy'],
  ['A', CHAT, 'plain', 403, { detail: 'This workspace has no remaining credits. Top up to continue.' }, 'no money'],
  [
    'B',
    'messages',
    'plain',
    400,
    anthropic('Your organization has exceeded its spending budget for this month.'),
    'no money',
  ],
  ['C', CHAT, 'plain', 429, openai('Account suspended for an unpaid invoice: payment is overdue.'), 'no money'],
  [
    'A',
    CHAT,
    'plain',
    404,
    { error_code: 'RESOURCE_DOES_NOT_EXIST', message: 'The given deployment does not exist.' },
    'unknown model',
  ],
  ['B', CHAT, 'plain', 400, openai("Model 'vendorB-5.5' was not found in this region"), 'unknown model'],
  ['C', 'messages', 'plain', 403, { message: 'You do not have access to this model.' }, 'unknown model'],
  ['A', CHAT, 'plain', 429, openai('Slow down, and come back in 3 minutes.'), 'busy 180'],
  ['B', CHAT, 'plain', 429, openai('Limit hit; resets in 1 hour and 2 minutes'), 'busy 3720'],
  ['C', 'messages', 'plain', 529, anthropic('Busy. Please wait 45 secs.', 'overloaded_error'), 'busy 45'],
  ['A', CHAT, 'picture', 400, openai('Pictures are declined by this backend.'), BLIND],
  ['B', M2C, 'picture', 400, { error: 'no photo is accepted here' }, BLIND],
  ['C', R2C, 'picture', 422, { detail: 'Visual content is beyond what the chosen model can process' }, BLIND],
  [
    'D',
    M2C,
    'picture',
    400,
    { status: 400, error: 'Bad Request', message: 'Attachments of kind IMAGE refused' },
    BLIND,
  ],
  ['E', CHAT, 'picture', 400, { fehler: 'Dieses Modell akzeptiert keine Bilder.' }, BLIND],
  ['F', R2C, 'picture', 400, openai('このモデルは画像入力に対応していません。'), BLIND],
  ['G', M2C, 'picture', 400, { code: 1210, msg: '该模型不支持图片输入' }, BLIND],
  ['H', CHAT, 'picture', 400, { message: 'Este modelo no acepta imágenes' }, BLIND],
  ['I', C2M, 'picture', 400, anthropic('Images are off for this workspace'), BLIND],
  ['J', M2C, 'picture', 404, router('None of the hosts can handle images', 404), BLIND],
  [
    'K',
    R2C,
    'picture',
    400,
    {
      message:
        'JSON parse error: Cannot deserialize value of type `java.lang.String` from Array value (through reference chain: com.acme.Ask["messages"]->java.util.ArrayList[0]->com.acme.Turn["content"])',
    },
    BLIND,
  ],
  ['L', M2C, 'picture', 400, fields('messages[0].content[1].image_url', 'vision is turned off for chat-s'), BLIND],
  ['M', CHAT, 'picture', 400, openai('The picture could not be decoded.'), 'says does not represent a valid image'],
  ['N', CHAT, 'tools', 400, openai('messages[0].tools: nothing of the kind is had by this model'), 'told tools'],
  ['O', M2C, 'tools', 400, openai('messages: calling tools is switched off here'), 'told tools'],
  ['P', M2C, 'tools', 400, { status: 400, message: 'Function calling is missing on this deployment' }, 'told tools'],
  ['Q', R2C, 'tools', 400, openai('このモデルはツール(tools)に対応していません'), 'told tools'],
  ['R', R2C, 'tools', 424, { error: { message: 'The host rejected parameter tools: it has no parser' } }, 'told tools'],
  ['S', CHAT, 'several', 400, openai('number of completions exceeds 1'), 'told n'],
  ['T', CHAT, 'logprobs', 400, { error: 'Probabilities of tokens are withheld.' }, 'told logprobs'],
  [
    'U',
    M2C,
    'temperature',
    424,
    { message: 'dependency refused: temperature is not a supported setting' },
    'without temperature',
  ],
  [
    'V',
    M2C,
    'one call',
    500,
    { error: "TypeError: create() got an unexpected keyword argument 'parallel_tool_calls'" },
    'answered',
  ],
  [
    'W',
    M2C,
    'cap',
    400,
    { error: "Key: 'Ask.MaxTokens' Error:Field validation for 'MaxTokens' failed on the 'lte' tag (limit 16384)" },
    'answered',
  ],
  [
    'X',
    M2C,
    'temperature',
    200,
    { data: null, errors: [{ message: 'Field "temperature" is not defined by type "Ask".' }] },
    'without temperature',
  ],
  [
    'Y',
    M2C,
    'plain',
    422,
    { detail: 'Input has 9001 tokens but the context of the model holds 8192 tokens' },
    'too long',
  ],
  ['Z', CHAT, 'plain', 400, { message: 'クレジット残高が不足しています' }, 'no money'],
  ['Z', CHAT, 'plain', 400, openai("Deployment 'vendorB-5.5' could not be located"), 'unknown model'],
  ['Z', CHAT, 'plain', 500, llama('tools: assertion failed'), 'refused access'],
]

/** What is put in another form, or put down to one cause, where its words were not known for it. */
const FORMED: Row[] = [
  ['BN', CHAT, 'streams', 500, openai('engine stream error: connection reset'), 'refused access'],
  ['BK', CHAT, 'streams', 400, { message: 'Streaming wird von diesem Modell nicht angeboten' }, 'answered'],
  ['BL', M2C, 'whole', 400, { message: '仅支持流式输出，请设置 stream=true' }, 'answered'],
  ['BM', CHAT, 'plain', 400, { message: '调用过于频繁，请稍后' }, 'busy 5'],
  ['BH', 'responses', 'system within', 400, { detail: 'System messages are not accepted' }, 'answered'],
  [
    'BI',
    C2R,
    'system within',
    400,
    openai("Unsupported value: 'system'. Use 'developer'.", 'unsupported_value', 'input[2].role'),
    'answered',
  ],
  [
    'BJ',
    'responses',
    'developer',
    400,
    { error: { message: 'Unexpected message role: developer', code: 400 } },
    'answered',
  ],
  ['BC', M2C, 'thoughtless', 400, openai('A message with tool_calls needs its reasoning_content, too'), 'answered'],
  ['BD', CHAT, 'thoughtless', 422, { detail: 'messages.1: field required: reasoning_content' }, 'answered'],
  ['BE', R2C, 'thoughtless', 400, { message: '第2条消息缺少 reasoning_content' }, 'answered'],
  ['BF', CHAT, 'plain', 200, [{ error: { code: 429, message: 'Used up', status: 'RESOURCE_EXHAUSTED' } }], 'busy 5'],
  ['BG', CHAT, 'plain', 200, { errcode: 45009, errmsg: 'too many requests, retry in 9 seconds' }, 'busy 9'],
  [
    'AX',
    'responses',
    'stored',
    400,
    openai('Storage is disabled for this organization: store must not be asked for', null, 'store'),
    'told store',
  ],
  ['AY', CHAT, 'plain', 403, openai('This organization has been disabled.'), 'no money'],
  ['AZ', CHAT, 'temperature', 400, openai('On model mini-2: temperature is not supported'), 'told temperature'],
  ['BA', M2C, 'pdf', 400, openai('Unexpected kind of part: file'), 'told messages'],
  ['BB', C2R, 'pdf', 422, { detail: 'This engine reads no PDFs' }, 'told messages'],
  [
    'AA',
    C2R,
    'streams',
    400,
    openai('You have to prove who you are to stream this model.', 'unsupported_value', 'stream'),
    'answered',
  ],
  ['AB', CHAT, 'streams', 422, { detail: 'This engine cannot be streamed: streaming is not supported' }, 'answered'],
  ['AC', 'messages', 'streams', 400, { message: "Streaming isn't supported here" }, 'answered'],
  [
    'AD',
    CHAT,
    'tools in a stream',
    400,
    { message: 'The model does not support tool calls in streaming mode' },
    'answered',
  ],
  ['AE', M2C, 'whole', 400, openai('Only stream mode is served, please turn the stream parameter on'), 'answered'],
  ['AF', C2R, 'whole', 400, { detail: 'Stream must be true' }, 'answered'],
  ['AG', 'responses', 'whole', 400, openai('Non-streaming requests are not supported'), 'answered'],
  ['AH', 'messages', 'whole', 400, anthropic('Streaming is required for a model as slow as this one'), 'answered'],
  [
    'AI',
    R2C,
    'unthinking',
    400,
    openai('Thinking is mandatory for this model and cannot be disabled.'),
    'without reasoning',
  ],
  ['AJ', 'messages', 'unthinking', 400, anthropic('Thinking must be enabled for this model'), 'without thinking'],
  [
    'AK',
    M2C,
    'calls at once',
    400,
    openai('This template takes single tool calls only, not several at once'),
    'answered',
  ],
  ['AL', CHAT, 'calls at once', 500, llama('Multiple tool calls are not supported by the template'), 'answered'],
  [
    'AM',
    C2M,
    'forced',
    400,
    { message: "The model doesn't support the toolSettings.toolChoice.any field" },
    'without tool_choice',
  ],
  ['AN', M2C, 'cap', 400, openai('max_tokens非法，应在[1,16384]之内'), 'without max_tokens'],
  [
    'AO',
    R2C,
    'cap',
    400,
    { message: 'Malformed: #/max_tokens: 32000 is not less or equal to 16384' },
    'without max_output_tokens',
  ],
  ['AP', CHAT, 'cap', 400, { error: 'max_tokens 32000 (16,384)' }, 'without max_tokens'],
  [
    'AQ',
    M2C,
    'thinks',
    400,
    openai(
      'Function tools with reasoning_effort are served by /v1/responses, not by /v1/chat/completions',
      null,
      'reasoning_effort',
    ),
    'without thinking',
  ],
  [
    'AR',
    CHAT,
    'plain',
    400,
    { __type: 'SlowDownException', message: 'Too many requests, please wait before the next one' },
    'busy 5',
  ],
  [
    'AS',
    CHAT,
    'plain',
    200,
    { error_code: 18, error_msg: 'The request limit of this second is reached, retry in 3 seconds' },
    'busy 3',
  ],
  ['AT', CHAT, 'plain', 500, openai('The model is at full capacity'), 'busy 5'],
  ['AU', CHAT, 'plain', 200, { Response: { Error: { Code: 'RequestLimitExceeded', Message: 'Slow down' } } }, 'busy 5'],
  ['AV', 'messages', 'plain', 200, { code: 30001, msg: 'Account balance is not enough', data: null }, 'no money'],
  [
    'AW',
    'responses',
    'plain',
    200,
    { header: { code: 10013, message: 'The input contains sensitive content' } },
    'policy',
  ],
  ['AX', CHAT, 'tools in a stream', 400, openai('Tool calls do not presently support streaming here'), 'answered'],
  ['AY', CHAT, 'schema in a stream', 400, openai('`response_format` is not supported with streaming'), 'answered'],
  [
    'AZ',
    'responses',
    'schema in a stream',
    422,
    { detail: 'text.format: unsupported for streamed answers' },
    'answered',
  ],
  ['BA', CHAT, 'whole', 400, { message: 'Deep thinking cannot be had where `stream=False`.' }, 'answered'],
  ['BB', M2C, 'whole', 400, { message: 'thinking 参数只能用于流式调用' }, 'answered'],
  ['BC', CHAT, 'streams', 400, { message: '该部署不支持流式响应' }, 'answered'],
  ['BD', R2C, 'whole', 422, { message: '非ストリーミングでは利用できません' }, 'answered'],
  ['BH', CHAT, 'cap, whole', 400, openai('A max_tokens above 8192 requires stream=true'), 'answered'],
  ['BI', CHAT, 'blank', 400, { message: 'The text has to be at least one token long.' }, 'told messages'],
  ['BE', CHAT, 'choice without tools', 400, openai('`tool_choice` wants `tools` beside it'), 'told tool_choice'],
  [
    'BF',
    CHAT,
    'choice without tools',
    400,
    oldVllm(
      "[{'type': 'value_error', 'loc': ('body',), 'msg': 'Value error, With `tool_choice` there must be `tools`.', 'input': {'model': 'x', 'tool_choice': 'none'}, 'ctx': {'error': ValueError('With `tool_choice` there must be `tools`.')}}]",
    ),
    'told tool_choice',
  ],
  ...[
    "unknown variant 'system', expected one of 'user', 'assistant'",
    'messages[3]: system is no role here, only user and assistant are',
    'Only the roles user and assistant may appear in messages.',
    'messages 中不支持 system 角色',
  ].flatMap((words): Row[] => [
    ['BG', C2M, 'system within', 400, anthropic(words), 'answered'],
    ['BG', ['messages', 'responses'], 'system within', 422, { error: words }, 'answered'],
    // Claude Code speaks as the user where it reads these words.
    [
      'BG',
      'messages',
      'system within',
      400,
      anthropic(words),
      'says Unexpected role "system" as an input message role',
    ],
  ]),
]

export const ROWS: readonly Row[] = [
  ...[
    ...TOOLS,
    ...THINKING,
    ...LOGPROBS,
    ...FORMS,
    ...ROLES,
    ...IDS,
    ...CONTENTS,
    ...SETTINGS,
    ...UNNAMED,
    ...SEARCHES,
    ...PICTURES,
  ],
  ...[...POLICY, ...MODELS, ...MONEY, ...WAITS, ...ACCESS, ...LENGTHS, ...ELSEWHERE, ...FORMED],
]
