// The configuration `config init` writes: all that it does not name goes on as it was, with its default in comments.

import { BUILTIN_ALIASES, BUILTIN_MODELS } from '../catalogue/builtin.ts'
import type { Preset } from '../provider/preset.ts'

/** `presets`: the providers it is to have. */
export const sampleFor = (presets: readonly Preset[]): string =>
  presets.length === 0
    ? sample(NEUTRAL, `# aliases: { auto: ${USUAL} }`, PORT)
    : sample(presetsIn(presets), aliasesOf(presets), portBeside(presets))

const PORT = 8080

/** Where a server of these is at home at the usual port, the next one. */
const portBeside = (presets: readonly Preset[]): number =>
  presets.some(({ open, baseUrl }) => open && baseUrl.startsWith(`http://127.0.0.1:${PORT}/`)) ? PORT + 1 : PORT

const { auto: USUAL } = BUILTIN_ALIASES

/** `auto` leads to a model of theirs, where one is known. */
const aliasesOf = (presets: readonly Preset[]): string => {
  const [first] = presets.flatMap(({ provider, models }) => {
    const known = provider === undefined ? models : BUILTIN_MODELS.filter((model) => model.provider === provider)
    return known.filter(({ kind = 'text' }) => kind === 'text').map(({ id }) => id)
  })
  return first === undefined
    ? '# aliases: { auto: MODEL }   # of those that "sluice models fetch" prints'
    : `aliases: { auto: ${first} }`
}

const sample = (
  providers: string,
  aliases: string,
  port: number,
): string => `# sluice configuration. "sluice config schema" prints its JSON Schema, "sluice config check" validates it.
# Durations are written 500ms, 15s, 10m, 24h; sizes 512KB, 25MB. Secrets are references: env:NAME or file:PATH.

listen: { host: 127.0.0.1, port: ${port} }
# admin: { listen: 127.0.0.1:${port + 1} }   # dashboard, admin API and metrics there, and nowhere else
# admin: { hosts: [admin.example] }   # or at one address: for requests with this Host header, and no others
# admin: { accounts: presets }        # where accounts added in the dashboard may lead: any (the default), presets, none
data: ./data                      # the database; relative to this file
# store: env:SLUICE_STORE         # postgres://… in its place, which several nodes share: docs/scale.md
# limits_store: redis://limits:6379   # Valkey or Redis, where such nodes count the limits of keys

${providers}# models:                         # extends or overrides the built-in catalogue ("sluice models"); USD per million tokens
#   vendorA-opus-4-8: { upstream: opus-4-8-20260101, price: { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 } }
#   vendorB-5.4-mini: { price: { long_context: { above: 272000, input: 1.5, output: 6.75 } } }   # longer prompts
#   vendorB-5.5: { price: { service_tiers: { flex: 0.5, priority: 2.5, fast: 2.5 } } }   # times as much
#   vendorA-sonnet-5: { price: { per_call: { web_search: 0.01 } } }   # USD a call of a tool that runs at the vendor
#   vendorB-image-1: { price: { per_image: { high/1024x1024: 0.167, default: 0.042 } } }   # USD a picture
#   gpt-audio: { provider: vendor_b, price: { input: 2.5, output: 10, audio: { input: 32, output: 64 }, as_of: 2026-11-27 } }
#   text-embedding-3-small: { provider: vendor_b, kind: embedding, price: { input: 0.02, output: 0 } }
#   whisper-1: { provider: vendor_b, kind: transcription, tokens_per_second: 10, price: { input: 10, output: 0 } }
#   tts-1: { provider: vendor_b, kind: speech, tokens_per_character: 1, price: { input: 15, output: 0 } }

${aliases}
# fallbacks: { vendorA-opus-4-8: [vendorB-5.5] }   # tried when the provider of the first fails

rate: { khr_per_usd: 4100 }
# limits: { rpm: 0, tpm: 0, concurrency: 0 }       # for keys that set none; 0 is no limit
# budget: { usd: 500, renews: month, warn_at: [80, 100] }   # of all keys together; or tokens: 100000000
# time_zone: UTC                  # by whose clocks days, months and renewals go, such as Asia/Phnom_Penh
# server_tools: all               # that run at a vendor and keys may use at most: all, none, or [web_search, mcp]
# body_limit: 25MB
# body_timeout: 30s               # how long one may take to arrive, beside what its size takes at 16 KB a second
# trust_proxy: [10.0.0.0/8]       # proxies whose X-Forwarded-For, -Host and -Proto are believed
# hide_forbidden_models: false    # answer 404 rather than 403
# max_tries: 3                    # attempts of one request, the first included
# workers: 1                      # processes that serve, on Linux: docs/scale.md
# max_open_exchanges: 0           # requests at once in the whole gateway; 0 is no limit
# max_memory: 1GB                 # memory past which new requests answer 503; by default three quarters of what there is
# keep_alive: 15s                 # how often a silent stream is kept alive
# early_start: 20s                # when a stream begins although its provider has not answered
# linger: 0                       # how long a stop takes requests in while /readyz says 503, for a load balancer to see it
# drain: 30s                      # how long a stop waits for requests in flight
# retention: 90d                  # how long single requests are kept; totals are always kept
# websockets: true                # the responses wire by WebSocket too
# stored_answers: { keep: 30d, per_key: 64MB, total: 1GB }   # that clients refer to by id; keep: 0 writes none
# log: { level: info }
# metrics: { enabled: false }     # GET /metrics; token: env:NAME to guard it
# otlp: { endpoint: http://127.0.0.1:4318 }   # traces and metrics for OpenTelemetry; headers, service, traces, metrics, sample
# alerts:                         # whom it tells of trouble, and of what: docs/operations.md
#   webhooks:                     # by names of your own; only: [quota, storage] tells of these alone
#     team: { url: env:SLACK_WEBHOOK, format: slack }         # or discord
#     pager: { url: https://pager.example/hook, secret: env:ALERT_SECRET, only: [account-resting, storage] }
#   email: { to: [ops@example.com], from: sluice@example.com, host: mail.example, user: env:SMTP_USER, password: env:SMTP_PASSWORD }
#   marks: [80, 100]              # per cent of a quota; expiring: 7d, resting: 10m, error_rate: { above: 0.5 }
`

/** In comments: providers that a file names are all there are, and what the environment or the dashboard set up would rest. */
const NEUTRAL = `# Without providers here, those of the environment (ANTHROPIC_API_KEY, VENDOR_A_BASE_URL and the like) and the accounts
# that were added in the dashboard count. "sluice config init --preset anthropic,groq" names vendors.
# providers:
#   vendor_a:
#     # preset: anthropic         # what is known of a vendor, then only its credential is needed: docs/providers.md
#     # brand: claude             # vendorA-opus-4-8 answers as claude-opus-4-8 too
#     accounts:
#       - name: main
#         base_url: env:VENDOR_A_BASE_URL     # without /v1
#         credential: env:VENDOR_A_API_KEY
#         # weight: 1             # share of the requests beside other accounts
#   vendor_b:
#     accounts:
#       - name: main
#         base_url: env:VENDOR_B_BASE_URL     # ends in /v1
#         credential: env:VENDOR_B_API_KEY
#     # proxy: env:VENDOR_B_PROXY # an http or https proxy of its own; none: directly, whatever HTTPS_PROXY says
#     # timeouts: { connect: 5s, first_byte: 600s, idle: 300s, total: 3600s }
#   local:                        # a provider of your own, with models that name it
#     wires: [chat-completions]
#     auth: bearer
#     accounts: [{ name: main, base_url: "http://127.0.0.1:11434/v1", credential: env:LOCAL_API_KEY }]

`

const presetsIn = (
  presets: readonly Preset[],
): string => `providers:                        # docs/providers.md tells what each preset knows
${presets.map(presetIn).join('')}
`

const presetIn = (preset: Preset): string => {
  const variables = preset.baseUrl.match(/[A-Z_]{2,}/g) ?? []
  const [variable] = preset.env.credential
  const needed = [...(variable === undefined ? [] : [variable]), ...variables]
  const otherwise = preset.open ? `at ${preset.baseUrl}` : 'list its accounts'
  const hint = needed.length === 0 ? otherwise : `set ${needed.join(' and ')}`
  const account = preset.open
    ? '{ name: main }'
    : `{ name: main, credential: env:${variable ?? 'NAME'}${variable === undefined ? ', base_url: env:NAME' : ''} }`
  return `  ${preset.provider ?? preset.name}:
    preset: ${preset.name.padEnd(22)}# ${hint}
    # accounts: [${account}]   # to have several, or another base_url
`
}
