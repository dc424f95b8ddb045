// What a configuration file may say, as one schema: it validates the file, documents it and completes it in editors.
// Closed everywhere: a misspelt member is an error, never a silent default.

import { type Static, type TSchema, Type, TypeGuard } from '@sinclair/typebox'
import { ALERT_TYPES } from '../alerts/alert.ts'
import { MODALITIES } from '../catalogue/model.ts'
import { SERVER_TOOL_PATTERN, SERVER_TOOLS } from '../ir/server-tools.ts'
import { KINDS, PASS_WIRES } from '../ir/wire.ts'
import { allowedBy, type Words } from '../lib/allowed.ts'
import { MOST_NETWORKS } from '../lib/networks.ts'
import { PRESETS } from '../provider/presets/index.ts'
import { ADDRESS_PATTERN, HOST_PATTERN } from './origin.ts'
import { LIMITS_FORM, STORE_FORM } from './store.ts'
import { DURATION_PATTERN, SIZE_PATTERN } from './units.ts'

/** More than any machine has use for. */
export const MOST_WORKERS = 64

const closed = { additionalProperties: false }
/** An e-mail address, with or without a name before it. */
const ADDRESSED = '^[^\\r\\n<>@]*(?:<[^\\s<>@]+@[^\\s<>@]+>|[^\\s<>@]+@[^\\s<>@]+)$'

// `allowed` is the sentence an error gives; `secret` keeps the value found out of it. Both are left out of the JSON Schema.
const duration = (description: string) =>
  Type.String({ description, pattern: DURATION_PATTERN, allowed: 'a duration such as 500ms, 15s, 10m or 24h' })
const durationOrNone = (description: string) =>
  Type.Union([Type.String({ pattern: DURATION_PATTERN }), Type.Literal(0)], {
    description,
    allowed: 'a duration such as 15s, 24h or 90d, or 0',
  })
const size = (description: string) =>
  Type.String({ description, pattern: SIZE_PATTERN, allowed: 'a size such as 512KB, 64MB or 1GB' })
const secret = (description: string) =>
  Type.String({ description, minLength: 1, secret: true, allowed: 'env:NAME, file:PATH or the secret itself' })
const count = (description: string) => Type.Integer({ description, minimum: 0 })
const usd = (description: string) =>
  Type.Optional(Type.Number({ description: `USD per million tokens: ${description}`, minimum: 0, maximum: 1_000_000 }))
const oneOf = <const T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  )

const Quirks = Type.Object(
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
    no_custom_tools: Type.Optional(Type.Boolean({ description: 'Chat-completions: takes no free-text tools' })),
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

const Account = Type.Object(
  {
    name: Type.String({ description: 'Name in logs and the dashboard; unique in its provider', minLength: 1 }),
    base_url: Type.Optional(
      Type.String({
        description:
          "Where the provider answers, or env:NAME. For the messages wire without /v1, for the others ending in /v1; {model} in it stands for the model. By default the preset's; without either the account is not used",
        secret: true,
        allowed: 'an http or https URL, or env:NAME',
      }),
    ),
    credential: Type.Optional(
      secret(
        "What the provider is shown: env:NAME, file:PATH (relative to this file) or the secret itself. By default what the preset's variable holds",
      ),
    ),
    weight: Type.Optional(
      Type.Number({ description: 'Share of the requests beside the other accounts', exclusiveMinimum: 0, default: 1 }),
    ),
  },
  closed,
)

const Provider = Type.Object(
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

const modality = oneOf(MODALITIES, 'A modality')

const rates = {
  input: usd('fresh input'),
  output: usd('output, reasoning included'),
  cache_read: usd('input read from the cache'),
  cache_write: usd('input written to the cache'),
  cache_write_1h: usd('input written to the cache for an hour; by default as cache_write'),
}

/** By kind of what tokens are of. */
const kindRates = (of: string) =>
  Type.Object(
    {
      input: Type.Optional(rates.input),
      cache_read: Type.Optional(rates.cache_read),
      output: Type.Optional(rates.output),
    },
    { ...closed, description: `What tokens of ${of} cost, where that is something else; what is left out, as above` },
  )

const Model = Type.Object(
  {
    provider: Type.Optional(Type.String({ description: 'The provider that serves it; needed for a new model' })),
    upstream: Type.Optional(Type.String({ description: "The provider's own id of it", minLength: 1 })),
    kind: Type.Optional(oneOf(KINDS, 'What it does: text on the text wires, each other on a wire of its own (text)')),
    family: Type.Optional(Type.String({ description: 'What it is listed under (default other)', minLength: 1 })),
    display_name: Type.Optional(Type.String({ description: 'Its name for people (default its id)', minLength: 1 })),
    input: Type.Optional(Type.Array(modality, { description: 'What it reads', minItems: 1 })),
    output: Type.Optional(Type.Array(modality, { description: 'What it makes', minItems: 1 })),
    context: Type.Optional(Type.Integer({ description: 'Tokens of prompt and answer together', minimum: 1 })),
    max_output: Type.Optional(Type.Integer({ description: 'The most output tokens of one answer', minimum: 1 })),
    price: Type.Optional(
      Type.Object(
        {
          ...rates,
          long_context: Type.Optional(
            Type.Object(
              {
                above: Type.Integer({ description: 'Prompts of more tokens than this cost', minimum: 1 }),
                ...rates,
              },
              { ...closed, description: 'What long prompts cost, and their answers; what is left out, as above' },
            ),
          ),
          service_tiers: Type.Optional(
            Type.Record(
              Type.String(),
              Type.Number({ description: 'So many times as much', minimum: 0, maximum: 1000 }),
              {
                description:
                  'By the class of service, or the region, that the provider tells: flex, fast, us and the like',
              },
            ),
          ),
          per_call: Type.Optional(
            Type.Record(Type.String(), Type.Number({ description: 'USD for a call', minimum: 0, maximum: 1000 }), {
              description:
                'By tools that run at the vendor (web_search, code_execution, file_search, image_generation and the like): USD for one call, so that 10 for a thousand searches is 0.01',
            }),
          ),
          per_image: Type.Optional(
            Type.Record(
              Type.String({ pattern: '^(default|[a-z0-9]{1,20}(/[a-z0-9]{1,20})?)$' }),
              Type.Number({ description: 'USD for a picture', minimum: 0, maximum: 1000 }),
              {
                description:
                  'Of pictures that are billed one by one: USD by quality and size (high/1024x1024), one of them, or default; beside what tokens cost',
                additionalProperties: false,
              },
            ),
          ),
          audio: Type.Optional(kindRates('sound')),
          image: Type.Optional(kindRates('pictures')),
          as_of: Type.Optional(
            Type.String({
              description: 'The day of the price list, such as 2026-11-27',
              pattern: '^\\d{4}-\\d{2}-\\d{2}$',
            }),
          ),
        },
        closed,
      ),
    ),
    tokens_per_image: Type.Optional(count('Tokens billed for an image when the provider reports none')),
    tokens_per_second: Type.Optional(
      Type.Number({
        description: 'Transcription: tokens that a second of sound counts for, where the provider tells no tokens (10)',
        minimum: 0,
        maximum: 1_000_000,
      }),
    ),
    tokens_per_character: Type.Optional(
      Type.Number({
        description: 'Speech: tokens that a character of its text counts for, where the provider tells no tokens (1)',
        minimum: 0,
        maximum: 1_000_000,
      }),
    ),
    created: Type.Optional(
      Type.String({
        description: 'Release date',
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        allowed: 'a date such as 2026-01-31',
      }),
    ),
    quirks: Type.Optional(Quirks),
  },
  closed,
)

const only = Type.Optional(
  Type.Array(oneOf(ALERT_TYPES, 'What is told of'), { description: 'It is told of these alone', minItems: 1 }),
)

const Alerts = Type.Object(
  {
    webhooks: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            url: Type.String({
              description: 'Where it is posted to: env:NAME, file:PATH or the URL itself',
              minLength: 1,
              secret: true,
              allowed: 'an http or https URL, env:NAME or file:PATH',
            }),
            format: Type.Optional(oneOf(['json', 'slack', 'discord'], 'What it is sent (default json)')),
            secret: Type.Optional(
              secret('What it is signed with, by Standard Webhooks: env:NAME, file:PATH or the secret; json needs one'),
            ),
            only,
          },
          closed,
        ),
        { description: 'By names of your own' },
      ),
    ),
    email: Type.Optional(
      Type.Object(
        {
          to: Type.Array(Type.String({ pattern: ADDRESSED, allowed: 'an e-mail address' }), { minItems: 1 }),
          from: Type.String({
            description: 'The sender, such as sluice@example.com',
            pattern: ADDRESSED,
            allowed: 'an e-mail address',
          }),
          host: Type.String({ description: 'The mail server (SMTP)', minLength: 1 }),
          port: Type.Optional(Type.Integer({ description: 'Default 587; 465 for tls', minimum: 1, maximum: 65535 })),
          security: Type.Optional(oneOf(['starttls', 'tls', 'none'], 'What it insists on (default starttls)')),
          user: Type.Optional(secret('env:NAME, file:PATH or the name itself')),
          password: Type.Optional(secret('env:NAME, file:PATH or the password itself')),
          only,
        },
        closed,
      ),
    ),
    marks: Type.Optional(
      Type.Array(Type.Number({ exclusiveMinimum: 0, maximum: 100, allowed: 'a number of per cent from 1 to 100' }), {
        description: 'Per cent of a quota that are told of (default 80 and 100)',
        minItems: 1,
      }),
    ),
    expiring: Type.Optional(duration('How long before its end a key or credential is told of (default 7d)')),
    resting: Type.Optional(duration('How long an account has not answered when it is told of (default 10m)')),
    error_rate: Type.Optional(
      Type.Object(
        {
          above: Type.Optional(
            Type.Number({
              description: "The share of a model's requests that fail (default 0.5)",
              minimum: 0,
              exclusiveMaximum: 1,
            }),
          ),
          requests: Type.Optional(Type.Integer({ description: 'Of so many at least (default 20)', minimum: 1 })),
          within: Type.Optional(duration('In this time (default 10m)')),
        },
        closed,
      ),
    ),
  },
  { ...closed, description: 'Whom the gateway tells of trouble, and of what (docs/operations.md)' },
)

/** The file. Every member is optional. */
export const FileSchema = Type.Object(
  {
    listen: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(Type.String({ description: 'Address to listen on (default 127.0.0.1)', minLength: 1 })),
          port: Type.Optional(
            Type.Integer({ description: 'Default 8080; 0 lets the system choose', minimum: 0, maximum: 65535 }),
          ),
        },
        closed,
      ),
    ),
    data: Type.Optional(
      Type.String({ description: 'Directory of the database, relative to this file (default ./data)', minLength: 1 }),
    ),
    store: Type.Optional(
      Type.String({
        description:
          'A PostgreSQL database that several nodes share: env:NAME, file:PATH or the URL itself (SLUICE_STORE; default the database in the data directory)',
        minLength: 1,
        secret: true,
        allowed: STORE_FORM,
      }),
    ),
    limits_store: Type.Optional(
      Type.String({
        description:
          'A Valkey or Redis server where nodes count the limits of keys: env:NAME, file:PATH or the URL itself (SLUICE_LIMITS_STORE; default the database that they share)',
        minLength: 1,
        secret: true,
        allowed: LIMITS_FORM,
      }),
    ),
    body_limit: Type.Optional(
      Type.Union([Type.String({ pattern: SIZE_PATTERN }), Type.Integer({ minimum: 1 })], {
        description: 'Largest request body (default 25MB); 1 MB is 1024 KB',
        allowed: 'a size such as 512KB or 25MB, or a number of bytes',
      }),
    ),
    body_timeout: Type.Optional(
      duration(
        'How long a request body may take to arrive, beside what its size takes at 16 KB a second (default 30s)',
      ),
    ),
    rate: Type.Optional(
      Type.Object(
        {
          khr_per_usd: Type.Optional(
            Type.Number({ description: 'KHR for one USD (default 4100)', exclusiveMinimum: 0, maximum: 1e9 }),
          ),
        },
        closed,
      ),
    ),
    time_zone: Type.Optional(
      Type.String({
        description:
          'By whose clocks days, weeks, months, renewals and dates without a time go: an IANA name (default UTC). A change counts from the next start on',
        minLength: 1,
        allowed: 'a time zone such as UTC, Asia/Phnom_Penh or Europe/Berlin',
      }),
    ),
    budget: Type.Optional(
      Type.Object(
        {
          usd: Type.Optional(Type.Number({ description: 'What may be spent', minimum: 0, maximum: 1e9 })),
          tokens: Type.Optional(count('In place of usd: what may be used')),
          renews: Type.Optional(
            oneOf(['day', 'week', 'month', 'never'], 'When it begins again, by the time zone (default never)'),
          ),
          warn_at: Type.Optional(
            Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), {
              description: 'Percent at which it is told (default 80 and 100)',
              maxItems: 10,
            }),
          ),
        },
        { ...closed, description: 'What all keys together may use' },
      ),
    ),
    providers: Type.Optional(
      Type.Record(Type.String(), Provider, { description: 'vendor_a, vendor_b, or providers of your own' }),
    ),
    models: Type.Optional(
      Type.Record(Type.String(), Model, { description: 'Extends or overrides the built-in catalogue' }),
    ),
    aliases: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Name → model id; auto is vendorA-opus-4-8 by default',
      }),
    ),
    fallbacks: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'Model id → models tried after it, in order, when its provider fails',
      }),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          rpm: Type.Optional(count('Requests per minute')),
          tpm: Type.Optional(count('Tokens per minute')),
          concurrency: Type.Optional(count('Requests at once')),
        },
        { ...closed, description: 'For keys that set none of their own; 0 is no limit' },
      ),
    ),
    server_tools: Type.Optional(
      Type.Union(
        [
          Type.Literal('all'),
          Type.Literal('none'),
          Type.Array(
            Type.String({ pattern: SERVER_TOOL_PATTERN, allowed: 'the name of a tool, such as web_search or mcp' }),
          ),
        ],
        {
          description:
            'Which tools that run at a vendor (web search, code execution, MCP and the like) keys may use at most (default all)',
          allowed: `all, none, or a list such as [${SERVER_TOOLS.slice(0, 3).join(', ')}]`,
        },
      ),
    ),
    keep_alive: Type.Optional(duration('How often a silent stream is kept alive (default 15s)')),
    early_start: Type.Optional(
      duration('When a stream begins although its provider has not answered yet (default 20s)'),
    ),
    linger: Type.Optional(
      durationOrNone(
        'How long a stop goes on taking requests in while /readyz says 503, for a load balancer to look elsewhere (default 0)',
      ),
    ),
    drain: Type.Optional(
      durationOrNone('How long a stop waits for requests in flight (default 30s; 0 waits for none)'),
    ),
    max_tries: Type.Optional(
      Type.Integer({
        description:
          'Attempts of one request, the first included (default 3); refused credentials (401, 402, 403) count none',
        minimum: 1,
      }),
    ),
    workers: Type.Optional(
      Type.Integer({
        description:
          'Processes that serve (default 1); of one or two, one keeps the books as well, beside more another does',
        minimum: 1,
        maximum: MOST_WORKERS,
      }),
    ),
    max_open_exchanges: Type.Optional(count('Requests at once in the whole gateway (default 0: no limit)')),
    max_memory: Type.Optional(
      Type.Union([Type.String({ pattern: SIZE_PATTERN }), Type.Literal(0)], {
        description:
          'Memory of the process past which new requests answer 503 (default three quarters of what the machine or its container has; 0: no limit)',
        allowed: 'a size such as 512MB or 2GB, or 0',
      }),
    ),
    trust_proxy: Type.Optional(
      Type.Union([Type.Boolean(), Type.Array(Type.String(), { maxItems: MOST_NETWORKS })], {
        description:
          'Whose X-Forwarded-For, -Host and -Proto are believed: the proxies in these networks, or true for whoever calls (default false)',
        allowed: 'true, false, or a list of addresses and networks such as [10.0.0.0/8]',
      }),
    ),
    hide_forbidden_models: Type.Optional(
      Type.Boolean({ description: 'Answer 404 rather than 403 for a model the key may not use (default false)' }),
    ),
    retention: Type.Optional(
      durationOrNone('How long single requests are kept (default 90d; 0 for ever). Usage totals are always kept'),
    ),
    stored_answers: Type.Optional(
      Type.Object(
        {
          keep: Type.Optional(
            durationOrNone('How long after their last use (default 30d; 0: in memory only, nothing is written)'),
          ),
          per_key: Type.Optional(size('The most that is kept for one key (default 64MB)')),
          total: Type.Optional(size('The most that is kept in all (default 1GB)')),
        },
        { ...closed, description: 'Translated answers, with what was asked, that clients refer to by their ids' },
      ),
    ),
    websockets: Type.Optional(
      Type.Boolean({ description: 'Speak the responses wire by WebSocket too, as Codex asks for (default true)' }),
    ),
    log: Type.Optional(
      Type.Object(
        { level: Type.Optional(oneOf(['debug', 'info', 'warn', 'error', 'silent'], 'Default info')) },
        closed,
      ),
    ),
    metrics: Type.Optional(
      Type.Object(
        {
          enabled: Type.Optional(Type.Boolean({ description: 'Serve GET /metrics (default false)' })),
          token: Type.Optional(secret('The bearer token /metrics asks for; without it only this machine may read')),
        },
        closed,
      ),
    ),
    alerts: Type.Optional(Alerts),
    otlp: Type.Optional(
      Type.Object(
        {
          endpoint: Type.Optional(
            Type.String({
              description:
                'Where traces and metrics go by http/protobuf, without /v1/traces: env:NAME or the URL itself (default OTEL_EXPORTER_OTLP_ENDPOINT; without either nothing is exported)',
              minLength: 1,
              secret: true,
              allowed: 'an http or https URL such as http://127.0.0.1:4318, or env:NAME',
            }),
          ),
          headers: Type.Optional(
            Type.Record(Type.String(), secret('The value: env:NAME, file:PATH or the text itself'), {
              description: 'Sent with each export (default OTEL_EXPORTER_OTLP_HEADERS)',
            }),
          ),
          service: Type.Optional(
            Type.String({ description: 'service.name (default OTEL_SERVICE_NAME, else sluice)', minLength: 1 }),
          ),
          traces: Type.Optional(Type.Boolean({ description: 'Default true' })),
          metrics: Type.Optional(Type.Boolean({ description: 'Default true' })),
          sample: Type.Optional(
            Type.Number({
              description: 'The share of the traces that begin here (default 1); a client decides on its own',
              minimum: 0,
              maximum: 1,
            }),
          ),
        },
        { ...closed, description: 'OpenTelemetry (docs/operations.md)' },
      ),
    ),
    admin: Type.Optional(
      Type.Object(
        {
          listen: Type.Optional(
            Type.String({
              description: 'Serve dashboard, admin API and metrics at this address and nowhere else',
              pattern: ADDRESS_PATTERN,
              allowed: 'an address and a port, such as 127.0.0.1:8081',
            }),
          ),
          hosts: Type.Optional(
            Type.Array(
              Type.String({ pattern: HOST_PATTERN, allowed: 'a host name such as admin.example, with a port or any' }),
              {
                description: 'Serve them to requests with one of these in their Host header, and to no others',
                minItems: 1,
              },
            ),
          ),
          accounts: Type.Optional(
            oneOf(
              ['any', 'presets', 'none'],
              "Where accounts that admins add at run time may lead: to any address (the default), to their presets' own, or nowhere",
            ),
          ),
          api: Type.Optional(
            Type.String({
              description: 'Where clients reach the API, for the commands that the dashboard shows',
              pattern: '^https?://[^\\s?#@"<>]+$',
              allowed: 'an address such as https://gateway.example',
            }),
          ),
        },
        { ...closed, description: 'Has dashboard and admin API stand apart from the client API' },
      ),
    ),
  },
  { ...closed, title: 'sluice configuration' },
)
export type FileConfig = Static<typeof FileSchema>
export type FileProvider = Static<typeof Provider>
export type FileModel = Static<typeof Model>
export type FileQuirks = Static<typeof Quirks>

export type FileAccount = Static<typeof Account>

/**
 * The same members where they are set at run time. A credential is sealed apart from its account; what else may be secret, or
 * leads to what this machine holds, is the file's alone.
 */
export const ENTRY_SCHEMAS = {
  providers: Type.Omit(Provider, ['accounts', 'headers', 'proxy']),
  accounts: Type.Omit(Account, ['name', 'credential']),
  models: Model,
  aliases: Type.String({ description: 'The id of a model', minLength: 1 }),
  fallbacks: Type.Array(Type.String({ minLength: 1 }), { description: 'Ids of models, in order', minItems: 1 }),
} as const satisfies Record<string, TSchema>

/** The JSON Schema of the file, for editors. */
export const configJsonSchema = (): Record<string, unknown> => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  ...JSON.parse(JSON.stringify(FileSchema, (name, value) => (isKeptOut(name, value) ? undefined : value))),
})

const KEPT_OUT = new Set(['allowed', 'secret'])

/** A member of the file may have the same name. */
const isKeptOut = (name: string, value: unknown): boolean => KEPT_OUT.has(name) && typeof value !== 'object'

const WORDS: Words = { list: 'a list', object: 'a mapping', between: ', ', last: ', ' }

/** The words of an error about a member of this schema. */
export const allowedHere = (schema: TSchema): string => {
  const words = allowedBy(schema, WORDS)
  return TypeGuard.IsObject(schema) ? `${words} of ${Object.keys(schema.properties).join(', ')}` : words
}
