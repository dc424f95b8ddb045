// What a failure most often means and what to do about it: the one source of the manual's tables and of what the page of a
// failed exchange begins with. In the order they are looked at; `seen` is how the manual names it.

/** What a provider, or the way to it, said to an attempt. `begun`: an answer had begun, of which the client has a part. */
type SeenOfAttempt = { status: number | null; providerCode: string | null; code: string | null; begun: boolean }

type Meaning = { seen: string; why: string; todo: string }
type AttemptMeaning = Meaning & { is(seen: SeenOfAttempt): boolean }

const coded =
  (pattern: RegExp) =>
  ({ providerCode }: SeenOfAttempt): boolean =>
    providerCode !== null && pattern.test(providerCode)
const among =
  (...statuses: number[]) =>
  ({ status }: SeenOfAttempt): boolean =>
    status !== null && statuses.includes(status)
const answeredWith =
  (code: string) =>
  (seen: SeenOfAttempt): boolean =>
    seen.code === code

export const ATTEMPT_FAILURES: readonly AttemptMeaning[] = [
  {
    seen: '`provider_code` `API_KEY_INVALID`, `insufficient_quota`, `Arrearage`, or `provider_status` 402',
    why: "The account's key has ended, or its money.",
    todo: 'Top the account up or renew its key at the provider; until the next answer the Accounts page shows it.',
    is: (seen) => coded(/^(?:API_KEY_INVALID|insufficient_quota|Arrearage)$/i)(seen) || among(402)(seen),
  },
  {
    seen: '`code` `context_length_exceeded`',
    why: 'The conversation is longer than the model takes.',
    todo: 'The client has to shorten it, or ask a model with a larger context.',
    is: answeredWith('context_length_exceeded'),
  },
  {
    seen: '`code` `content_policy_violation`',
    why: "The provider's policy refused what was asked.",
    todo: 'The client has to ask otherwise; another provider may take it.',
    is: answeredWith('content_policy_violation'),
  },
  {
    seen: '`provider_status` 301 to 308',
    why: 'The base URL is redirected, from http to https for instance. Redirects are not followed.',
    todo: 'Write the address it leads to into `base_url`.',
    is: ({ status }) => status !== null && status >= 300 && status < 400,
  },
  {
    seen: '`provider_status` 401',
    why: "The account's credential is wrong, or was withdrawn.",
    todo: 'Set the right credential of the account; the Accounts page says where it comes from.',
    is: among(401),
  },
  {
    seen: '`provider_status` 403',
    why: 'The account may not do this. Without a `provider_code`, something in front of the provider refuses this machine: a firewall, a bot check, the region.',
    todo: "Look at the account's rights at the provider, and whether this machine reaches it at all.",
    is: among(403),
  },
  {
    seen: '`provider_status` 404 or 410',
    why: "The base URL has a `/v1` too many or too few, or the model's `upstream` is wrong or retired.",
    todo: 'Correct `base_url` or `upstream`; Test on the Accounts page says which.',
    is: among(404, 405, 410),
  },
  {
    seen: '`provider_status` 413',
    why: 'The provider takes no request that large.',
    todo: 'The client has to send less: fewer or smaller pictures and files.',
    is: among(413),
  },
  {
    seen: '`provider_status` 429',
    why: "The account has reached its limits at the provider, or all of the provider's customers together have.",
    todo: 'Raise the limits there, add an account, or set a fallback or lower limits of the keys.',
    is: among(429),
  },
  {
    seen: '`provider_status` 503 or 529',
    why: 'The provider is overloaded.',
    todo: "Wait; a fallback answers meanwhile. If it lasts, look at the provider's status page.",
    is: among(503, 529),
  },
  {
    seen: '`provider_status` 500, 502 or 504',
    why: 'The provider itself failed.',
    todo: "Ask again; if it lasts, look at the provider's status page and tell it the id of the attempt.",
    is: ({ status }) => status !== null && status >= 500,
  },
  {
    seen: '`provider_status` 400 or 422',
    why: 'The provider did not take something that was asked for; where the client can mend it, its message names the member.',
    todo: 'Leave that member out, or ask a model that has it; what was left out already is under Left out.',
    is: ({ status }) => status !== null && status >= 400,
  },
  {
    seen: '`provider_code` `ECONNREFUSED`, `ENOTFOUND`',
    why: 'The base URL is wrong, the provider is down, or the proxy in `HTTPS_PROXY` is.',
    todo: 'Open the base URL from this machine, and correct it or the proxy.',
    is: coded(/^(?:ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN)$/),
  },
  {
    seen: '`provider_code` with `CERT` or `VERIFY`',
    why: "The provider's certificate is not trusted.",
    todo: 'Trust its issuer by `NODE_EXTRA_CA_CERTS`, see below.',
    is: coded(/CERT|VERIFY/),
  },
  {
    seen: '`provider_code` `ERR_PROXY_TUNNEL`',
    why: 'The proxy in `HTTPS_PROXY` refuses: its password is wrong, or it does not let this machine reach that host.',
    todo: 'Correct the password, or have the host allowed there.',
    is: coded(/^ERR_PROXY_TUNNEL$/),
  },
  {
    seen: '`provider_code` `UnsupportedProxyProtocol`',
    why: 'The proxy is no http or https one; SOCKS is not supported, see below.',
    todo: 'Use an http proxy, or none.',
    is: coded(/^UnsupportedProxyProtocol$/),
  },
  {
    seen: '`provider_code` `ECONNRESET`, `EPROTO`',
    why: 'The connection broke off; where it does every time, the base URL says http where the provider speaks https, or https where it speaks http. Providers are called with HTTP/1.1.',
    todo: 'Ask again; if it lasts, correct the beginning of `base_url`.',
    is: coded(/^(?:ECONNRESET|EPROTO|ConnectionClosed|EPIPE)$/),
  },
  {
    seen: '`code` `upstream_error` amid an answer',
    why: 'The provider broke its answer off, or the connection to it did.',
    todo: "Ask again; if it lasts, look at the provider's status page, and at proxies between that end long connections.",
    is: (seen) => seen.begun && answeredWith('upstream_error')(seen),
  },
  {
    seen: '`code` `service_unavailable` amid an answer',
    why: 'The provider became overloaded while it answered.',
    todo: "Ask again; if it lasts, look at the provider's status page.",
    is: (seen) => seen.begun && answeredWith('service_unavailable')(seen),
  },
  {
    seen: '`code` `gateway_timeout`',
    why: 'The provider did not answer in time, or fell silent amid its answer.',
    todo: 'Ask again; for models that think long raise `timeouts` of the provider.',
    is: answeredWith('gateway_timeout'),
  },
  {
    seen: '`code` `service_unavailable`',
    why: 'No account could be asked: none is set up, all of them rest, or this machine had no room for the answer.',
    todo: 'Look at the Accounts page; the log says what was short.',
    is: answeredWith('service_unavailable'),
  },
  {
    seen: '`code` `internal_error`',
    why: 'The gateway itself failed, or its process was ended while this ran.',
    todo: 'Look at the log at that time; what was used so far is billed.',
    is: answeredWith('internal_error'),
  },
  {
    seen: '`code` `upstream_error` and nothing else',
    why: 'The provider answered 200 with something else than an answer: a sign-in page, a firewall’s page, a website at the base URL.',
    todo: 'Open the base URL from this machine; Test on the Accounts page shows whether it answers.',
    is: () => true,
  },
]

/** By the check that a refused request did not pass. */
export const REFUSALS: Readonly<Record<string, Meaning>> = {
  address: {
    seen: '403, check `address`',
    why: 'The key is for other networks than the one it was used from.',
    todo: 'Use it where it is meant to be used, or add the address to the key; behind a proxy, `trust_proxy` has to name it.',
  },
  capacity: {
    seen: '503, check `capacity`',
    why: 'The gateway had as many requests, as much memory or as many descriptors in use as it may, or was stopping.',
    todo: 'Ask again shortly; if it lasts, raise what the log names in `why`.',
  },
  'rate limit': {
    seen: '429, check `rate limit`',
    why: 'The key has reached its limit of requests or tokens per minute, or of requests at once.',
    todo: 'Wait as long as `Retry-After` says, or raise the limit of the key.',
  },
  'body size': {
    seen: '413, check `body size`',
    why: 'The request is larger than the gateway takes.',
    todo: 'Send fewer or smaller pictures and files, or raise `body_limit`.',
  },
  request: {
    seen: '400, check `request`',
    why: 'The request is not what its endpoint takes; the message names the member.',
    todo: 'Correct that member in the client.',
  },
  model: {
    seen: '404, check `model`',
    why: 'There is no such model, or it is not served at this endpoint.',
    todo: 'Pick one of `GET /v1/models`, or set the model or an alias up.',
  },
  permission: {
    seen: '403, check `permission`',
    why: 'The key may not use this model, or a tool that runs at the vendor.',
    todo: 'Pick one that it may use, or allow it on the key or its member.',
  },
  quota: {
    seen: '402 or 429, check `quota`',
    why: 'What the key, or a budget that it counts against, has left does not cover the request; with 429 it is held by requests under way.',
    todo: 'Add tokens or raise the budget, whichever the message names, wait for the renewal, or ask for less.',
  },
  records: {
    seen: '503, check `records`',
    why: 'The gateway could not write to its database.',
    todo: 'Look at the disk and at `/readyz`; requests go on by themselves once it can.',
  },
  gateway: {
    seen: '500, check `gateway`',
    why: 'The gateway itself failed.',
    todo: 'Look for the request id in the log.',
  },
}

const LAST = ATTEMPT_FAILURES.length - 1

export const meaningOf = (seen: SeenOfAttempt): Meaning =>
  ATTEMPT_FAILURES.find(({ is }) => is(seen)) ?? (ATTEMPT_FAILURES[LAST] as AttemptMeaning)
