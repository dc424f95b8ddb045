// What the configuration file may say of a provider, its accounts and how it differs from its wire.

import { type Static, Type } from '@sinclair/typebox'
import { PASS_WIRES } from '../../ir/wire.ts'
import { PRESETS } from '../../provider/presets/index.ts'
import { closed, duration, oneOf, secret } from './forms.ts'

export const Quirks = Type.Object(
  {
    no_sampling: Type.Optional(Type.Boolean({ description: 'Takes no temperature, top_p or top_k' })),
    structured_output_by_tool: Type.Optional(Type.Boolean({ description: 'Has no native structured output' })),
    max_tokens_field: Type.Optional(
      oneOf(['max_tokens', 'max_completion_tokens'], 'The chat-completions member that carries the output cap'),
    ),
    no_mid_system: Type.Optional(
      Type.Boolean({ description: 'Messages, chat-completions: takes no system turn in the conversation' }),
    ),
    no_adaptive_thinking: Type.Optional(Type.Boolean({ description: 'Messages: thinks by token budget only' })),
    no_xhigh_effort: Type.Optional(Type.Boolean({ description: 'Messages: knows no effort between high and max' })),
    no_forced_tools: Type.Optional(
      Type.Boolean({ description: 'Messages, chat-completions: refuses a forced call of a tool' }),
    ),
    no_reasoning: Type.Optional(Type.Boolean({ description: 'Does not reason' })),
    needs_reasoning: Type.Optional(
      Type.Boolean({ description: 'Messages, chat-completions: wants a thought in every message of the model' }),
    ),
    cache_breakpoints: Type.Optional(
      Type.Boolean({ description: 'Chat-completions, responses: caches only up to explicit breakpoints' }),
    ),
    always_thinks: Type.Optional(Type.Boolean({ description: 'Cannot be told not to think' })),
    thinks_unasked: Type.Optional(
      Type.Boolean({ description: 'Chat-completions, responses. false: thinks only where an effort is asked for' }),
    ),
    no_custom_tools: Type.Optional(
      Type.Boolean({
        description: 'Takes functions only: free-text tools and, on the responses wire, namespaces become functions',
      }),
    ),
    no_user_after_tool: Type.Optional(
      Type.Boolean({ description: 'Chat-completions: takes no message of the user right after one of a tool' }),
    ),
    no_done: Type.Optional(Type.Boolean({ description: 'Chat-completions: its streams end without [DONE]' })),
    stops_itself: Type.Optional(
      Type.Boolean({
        description: 'false: it goes on behind stop sequences, or loses them; the gateway ends its answers there',
      }),
    ),
    thinks_in_text: Type.Optional(
      Type.Boolean({
        description: 'true: its answers begin within a thought, which </think> ends. false: tags in its texts are text',
      }),
    ),
    loose_answers: Type.Optional(
      Type.Boolean({ description: 'Its answers lack what clients of its wire need: they are written anew' }),
    ),
    short_call_ids: Type.Optional(
      Type.Boolean({ description: 'Chat-completions: takes ids of calls of nine letters and digits only' }),
    ),
    no_developer_role: Type.Optional(Type.Boolean({ description: 'Knows no developer role: it speaks as the system' })),
    reads_tags: Type.Optional(
      Type.Boolean({ description: 'Is a sluice itself: thoughts of other vendors come back to it' }),
    ),
    no_web_search: Type.Optional(Type.Boolean({ description: 'Messages, responses: runs no web search of its own' })),
    rejects: Type.Optional(Type.Array(Type.String(), { description: 'Request members the provider refuses' })),
  },
  { ...closed, description: 'How it differs from its wire' },
)
export type FileQuirks = Static<typeof Quirks>

export const Account = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        description: 'Name in logs and the dashboard; unique in its provider. By default main, for one that is alone',
        minLength: 1,
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        description:
          "Where the provider answers, or env:NAME. For the messages wire without /v1, for the others ending in /v1; {model} in it stands for the model. By default the preset's; without either the account is not used",
        secret: true,
        also: ['api_base', 'url', 'endpoint'],
        allowed: 'an http or https URL, or env:NAME',
      }),
    ),
    credential: Type.Optional(
      secret(
        "What the provider is shown: env:NAME, file:PATH (relative to this file) or the secret itself. By default what the preset's variable holds",
        ['api_key', 'key', 'token'],
      ),
    ),
    weight: Type.Optional(
      Type.Number({ description: 'Share of the requests beside the other accounts', exclusiveMinimum: 0, default: 1 }),
    ),
  },
  closed,
)
export type FileAccount = Static<typeof Account>

export const Provider = Type.Object(
  {
    preset: Type.Optional(
      oneOf(
        PRESETS.map(({ name }) => name),
        'A vendor or server that is known: what it says is what the members beside it leave out (docs/providers.md)',
      ),
    ),
    wires: Type.Optional(
      Type.Array(oneOf(['messages', 'responses', 'chat-completions', ...PASS_WIRES], 'A wire'), {
        description: 'The wires it speaks, most preferred first',
        minItems: 1,
      }),
    ),
    auth: Type.Optional(
      oneOf(
        ['x-api-key', 'api-key', 'bearer', 'aws-sigv4', 'google'],
        'The header that carries the credential; aws-sigv4: requests are signed by ACCESS_KEY_ID:SECRET_ACCESS_KEY, with :SESSION_TOKEN where there is one; google: by the credentials that the machine has for Google, for Vertex AI',
      ),
    ),
    version_header: Type.Optional(
      Type.Union(
        [
          Type.Object(
            {
              name: Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", allowed: 'the name of a header' }),
              value: Type.String({ pattern: '^ *[!-~][ -~]*$', allowed: 'printable ASCII characters' }),
            },
            closed,
          ),
          Type.Null(),
        ],
        {
          description: 'A version header the provider asks for; null for none',
          allowed: 'a mapping of name and value, or null',
        },
      ),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), secret('The value: env:NAME, file:PATH or the text itself'), {
        description: 'Headers it asks for beside the credential, sent with every request',
      }),
    ),
    brand: Type.Optional(
      Type.String({
        description: "The word that stands for the neutral one in the ids of its models: claude for vendor_a's vendorA",
        pattern: '^[A-Za-z][A-Za-z0-9_-]*$',
        allowed: 'a word of letters, digits, - and _',
      }),
    ),
    proxy: Type.Optional(
      Type.String({
        description:
          "The http or https proxy it is reached through, in place of the environment's (env:NAME, file:PATH or the URL itself); none: directly",
        secret: true,
        minLength: 1,
        allowed: 'an http or https URL, env:NAME, file:PATH, or none',
      }),
    ),
    accounts: Type.Optional(
      Type.Array(Account, { description: 'Credentials and base URLs, shared by weight. By default one of the preset' }),
    ),
    timeouts: Type.Optional(
      Type.Object(
        {
          connect: Type.Optional(
            duration(
              'Until connected (default 5s). A provider silent by then is probed for up to 2s, 6s over https, before it counts as unreachable',
            ),
          ),
          first_byte: Type.Optional(duration('Until the first byte of the answer (default 600s)')),
          idle: Type.Optional(duration('Between two bytes (default 300s)')),
          total: Type.Optional(duration('For the whole answer (default 3600s)')),
        },
        closed,
      ),
    ),
    quirks: Type.Optional(Quirks),
  },
  closed,
)
export type FileProvider = Static<typeof Provider>
