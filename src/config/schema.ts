// What a configuration file may say, as one schema: it validates the file, documents it and completes it in editors.
// Closed everywhere: a misspelt member is an error, never a silent default. Its larger parts are in schema/.

import { type Static, type TSchema, Type, TypeGuard } from '@sinclair/typebox'
import { SERVER_TOOL_PATTERN, SERVER_TOOLS } from '../ir/server-tools.ts'
import { allowedBy, type Words } from '../lib/allowed.ts'
import { MOST_NETWORKS } from '../lib/networks.ts'
import { ADDRESS_PATTERN, HOST_PATTERN } from './origin.ts'
import { closed, count, duration, durationOrNone, oneOf, size } from './schema/forms.ts'
import { Model } from './schema/models.ts'
import { Account, Provider } from './schema/providers.ts'
import { Alerts, Log, Metrics, Otlp } from './schema/telling.ts'
import { LIMITS_FORM, STORE_FORM } from './store.ts'
import { SIZE_PATTERN } from './units.ts'

/** More than any machine has use for. */
export const MOST_WORKERS = 64

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
        {
          ...closed,
          description: 'What all keys together may use',
          allowed: 'a mapping, such as { usd: 20, renews: month },',
        },
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
    log: Type.Optional(Log),
    metrics: Type.Optional(Metrics),
    alerts: Type.Optional(Alerts),
    otlp: Type.Optional(Otlp),
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

const KEPT_OUT = new Set(['allowed', 'secret', 'also'])

/** A member of the file may have the same name. */
const isKeptOut = (name: string, value: unknown): boolean =>
  KEPT_OUT.has(name) && (typeof value !== 'object' || Array.isArray(value))

const WORDS: Words = { list: 'a list', object: 'a mapping', between: ', ', last: ', ' }

/** The words of an error about a member of this schema. */
export const allowedHere = (schema: TSchema): string => {
  const words = allowedBy(schema, WORDS)
  if (TypeGuard.IsRecord(schema)) return `${words}, each under its name`
  return TypeGuard.IsObject(schema) ? `${words} of ${Object.keys(schema.properties).join(', ')}` : words
}
