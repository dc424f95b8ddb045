// The kinds of refusal that are nobody's fault within the request, or its content's, for servers without a code of ours for
// them: an account out of money, a model that is not known there, a key that counts no more, content against a policy, or that
// all are busy. A kind is known by what a sentence is about and what it says of that; the words of a machine code are read as
// a sentence.

import { isObject, type Json } from '../../ir/json.ts'
import { classOfCode } from './error-object.ts'
import { objectsIn } from './literals.ts'
import { CALLED_ONE, type Name } from './names.ts'

export type Kind = 'out-of-money' | 'unknown-model' | 'refused' | 'content-policy' | 'overloaded'

/** `told`: what told, where it stands in the text; undefined for a status or a code. */
export type Known = { kind: Kind; told?: Span }
export type Span = { at: number; length: number }

/**
 * A sentence `about` something, and what is `said` of it before or behind, or that it is wanted right before (`wants`); without
 * both it says enough by itself. Of a text that is `of` something, and of nothing `else`.
 */
type Sign = { about: RegExp; said?: RegExp; wants?: RegExp; of?: RegExp; else?: RegExp }

/** That something is at an end, or is not enough: stems, of what is paid for and of what is asked for too often. */
const ENDED =
  /\b(?:insufficient|exceed|exhaust|deplet|reach|not enough|have enough|no (?:more|remaining)|used (?:all|up)|r[au]n out|out of|over(?:due)?\b|too low|afford|crossed|expir|lapse|inactive|cancel|declin|denied|suspend|failure to|(?:be|is) (?:added|required|enabled))|失败|不足|用尽|耗尽|无可用|부족/i
/** That something is to be had first. */
const WANTED =
  /(?:\b(?:requires?|needs?|without|no|not include|add|enter|provide|missing)|n[o’']t have) (?:(?:an?|any|your|the|valid|active|paid|more) )*$/i
/** What is had again by itself. */
const EACH = 'hourly|daily|weekly|monthly|\\d+[- ]?(?:hours?|days?|h)'
const PER = 'per (?:second|minute|hour|day|week|month)'
const IN_TIME = `\\b(?:${EACH}|${PER})\\b|\\breset`
const RATE = '\\brate[- ]?limit\\w*|\\btoo many (?:\\w+ )?requests\\b|\\bthrottl\\w*'

/** What is paid for, and what is paid with. */
const PAID =
  'credits?|balance|funds|(?:pre)?payments?|invoices?|spend(?:ing)?|billing|(?:credit|debit|bank) cards?(?! (?:number|detail))|arrear\\w*'
const PLAN = 'usage limits?|extra usage|free[ -]tier|subscription(?! key)|membership|(?:coding|paid|token) plan'

const MONEY: Sign[] = [
  {
    about: new RegExp(`\\b(?:${PAID})\\b|余额|额度|资源包|残高|잔액`, 'i'),
    said: ENDED,
    wants: WANTED,
    else: new RegExp(RATE, 'i'),
  },
  { about: /\bpayment required\b/i },
  // Of money, and not of thoughts.
  { about: /\bbudget\b/i, said: ENDED, else: /(?<![a-z])(?:think|reasoning)|\btokens?\b/i },
  // Of no time, at whose end it is had again.
  {
    about: new RegExp(`\\b(?:${PLAN})\\b`, 'i'),
    said: ENDED,
    wants: WANTED,
    else: new RegExp(`${IN_TIME}|${RATE}`, 'i'),
  },
  { about: /\bquota\b/i, said: /\b(?:insufficient|not enough|used up)\b/i, else: /\bstorage\b/i },
  // What ends by a deed of the owner's, and by no waiting: of what was used, and not of a request's own form.
  {
    about: /\bto (?:continue|resume|restore)\b|\bkeep going\b/i,
    said: /\b(?:upgrade|purchase|buy|pay|visit|adjust|add|enable|disable|subscribe|raise|recharge|top up)\b/i,
    of: new RegExp(`\\b(?:limit|quota|allocation|plans?|tier|trial|free|paid|${PLAN}|${PAID})\\b`, 'i'),
    else: new RegExp(`tokens?\\b|\\bparameters?\\b|\\bcontext\\b|${RATE}|${IN_TIME}`, 'i'),
  },
  // What is switched off for an account is a fault of the request.
  {
    about:
      /\b(?:organi[sz]ation|account|team)\b.{0,120}?\b(?:suspended|(?:is|was|been) (?:\w+ )?disabled|restricted(?! to\b)|good standing|on hold|deactivated|overdue|arrears)\b|账[户号].{0,20}冻结|欠费/i,
  },
]

/** Not of what it takes, says or is asked with. */
const ITSELF = '\\b(?! (?:parameter|output|input|response|message|turn|call|setting|option|argument|type|length))'
/** Of the model, or of what stands for one at some vendors. */
const NAMED = `(?:publisher )?(?:model|deployment|engine)s?${ITSELF}`
/** To what is said of it, and not of what it wants or has done. */
const ON = '(?:(?!\\b(?:whose|expect|requir|refus|generat|return))[^;\\n]){0,200}?'
/** That it is not there for who asks. */
const ABSENT =
  "not (?:be )?(?:found|located|exist|a valid|deployed|activated|available|provided)|n[o’']t exist|no (?:such|longer)|nonexistent|decommissioned|been deprecated|(?:been|was) (?:removed|retired|shut down)|end of its life|denied"
const UNKNOWN = 'unknown|unsupported|unrecogni[sz]ed|invalid|unavailable'
/** Of the model, and of nothing that comes behind it. */
const IS_UNKNOWN = `(?:${UNKNOWN})(?=\\W*$|\\W*[^\\w\\s]| (?:to|for|in|at|on|by|or|and|with|here)\\b)`
const MODEL: Sign[] = [
  new RegExp(
    `(?<!\\b(?:by|with|for) (?:(?:this|the) )?)\\b${NAMED}(?:${ON}\\b(?:(?:${ABSENT})\\b|${IS_UNKNOWN})|${ON}throughput isn|:?(?: \\S{1,160})? (?:is )?not supported(?: when using [^;\\n]{1,80})?\\W{0,3}$)`,
    'i',
  ),
  new RegExp(
    `\\b(?:${ABSENT}|${UNKNOWN}|(?:cannot|can.t|could not|unable to) (?:find|access)|access to|allowed to access|no [^;\\n]{1,40} for|requested|no) (?:the |this |any |selected |requested )*${NAMED}(?![^;\\n]{0,80}\\b(?:does not|doesn.t) support\\b)`,
    'i',
  ),
  /^(?:\S{1,40}: )?model: \S+$/i,
  /^server is pinned to/i,
  // And not of a path that the server has not.
  /\bendpoint\b[^;\n]{0,24}\bnot exist[^;\n]*\bmodel\b/i,
  /模型\S{0,80}(?:不存在|无可用渠道)|对于模型 .{1,200} 无可用/,
].map((about) => ({ about }))
/** The same in a sentence that names it by the id that was sent: a relay knows none that it has no price of, either. */
const OF_ID = new RegExp(
  `\\b(?:${ABSENT}|${UNKNOWN}|no \\w+ (?:found|available|running|loaded) for)\\b|(?:\\b(?:no|not|without|missing)\\b.{0,24}\\bpric(?:e|ing)|\\bpric(?:e|ing)\\b.{0,24}\\b(?:not|missing)|价格未)`,
  'i',
)

/** Before it. */
const GIVEN = /\b(?:passed|got|received|given):? (?:model=)?['"`]?$/i

/** What is shut is not the content of one request. */
const OF_AN_ACCOUNT =
  /\b(?:resource|account|organi[sz]ation|subscription)\b[^.\n]{0,40}\b(?:blocked|suspended|disabled)\b/i

const ACCESS: Sign[] = [
  { about: OF_AN_ACCOUNT },
  { about: /\bAPI[- ]?key\b/i, said: /\b(?:incorrect|invalid|not valid|expired|revoked|not found)\b/i },
  { about: /\b(?:location|region|country)\b/i, said: /\b(?:not supported|unsupported|not available|not allowed)\b/i },
]

const POLICY: Sign[] = [
  // Of what watches over contents, and not of how it is set.
  {
    about:
      /\b(?:(?:content (?:\w+ )?|usage )polic\w*|usage guidelines|content[- ]filter\w*|safety (?:system|polic|violation|filter)\w*|responsible ?ai|guardrails?|moderation)\b(?! (?:identifier|version|config|setting|level))/i,
    said: /\b(?:filter|block|reject|violat|flag|fail(?!\w* to (?!pass))|trigger|detect)/i,
    else: OF_AN_ACCOUNT,
  },
  {
    about:
      /\b(?:(?:inappropriate|sensitive|harmful|unsafe|prohibited|high[- ]risk) (?:content|information|words?|material)|safety violations?)\b/i,
    said: /\b(?:filter|block|reject|violat|flag|contain|includ|detect)/i,
  },
  {
    about: /\bflagged\b/i,
    said: /\b(?:prompt|input|output|message|request|response|answer|content|text|image|conversation)s?\b/i,
  },
  ...[
    /\bflagged (?:for|by)\b/i,
    /\bdata ?inspection ?failed\b/i,
    /^content exists risk$/i,
    /\bconsidered high risk\b/i,
    /\bnew_sensitive\b/i,
    /敏感(?:内容|信息)/,
  ].map((about) => ({ about })),
]

const LIMITS = '(?:limit|quota|allowance)s?'
const BUSY: Sign[] = [
  {
    about:
      /(?<!\b(?:context|prompt|input|window|token|file|memory|storage|container|conversation)(?:['’]?s)? )\bcapacity\b(?! of (?!(?:\w+ )?(?:model|server|service|system|deployment|engine)))/i,
    said: /\b(?:exceed|exhaust|reach)/i,
    wants: /\bat (?:\w+ )?$/i,
  },
  {
    about: new RegExp(`${RATE}|\\b(?:requests?|(?<!\\b(?:tool|function)s? )calls?) (?:limit|quota)\\b`, 'i'),
    said: /\b(?:exceed|reach|hit|wait|retry|again|later|many|throttl)/i,
  },
  // Of what may be used in a time.
  {
    about: new RegExp(
      `\\b(?:${EACH}) (?:(?!exceed)[\\w()-]+ ){0,3}${LIMITS}\\b|\\b${LIMITS} (?:[\\w,]+ ){0,5}${PER}\\b|\\b${PER} (?:\\w+ )?${LIMITS}\\b`,
      'i',
    ),
    said: /\b(?:exceed\w*|reach\w*|used up|over)\b/i,
  },
  ...[
    // Of the asking itself: what a request holds too much of is its own fault.
    /(?<!函数|工具)(?:请求|调用|访问|并发|频率)(?:请求|调用|总|数|量|次|频率|过于|太){0,4}(?:过多|过高|频繁|超限)|限流/,
    /\boverloaded\b/i,
  ].map((about) => ({ about })),
]

const KINDS: { kind: Kind; signs: Sign[]; statuses: ReadonlySet<number> }[] = [
  { kind: 'content-policy', signs: POLICY, statuses: new Set([200, 400, 403, 422, 446, 451]) },
  { kind: 'out-of-money', signs: MONEY, statuses: new Set([200, 400, 401, 402, 403, 412, 429]) },
  { kind: 'unknown-model', signs: MODEL, statuses: new Set([400, 401, 403, 404, 410, 422]) },
  // With a status for what is not there, a sentence about the model says that it is not, unless it says what the model lacks.
  {
    kind: 'unknown-model',
    signs: [
      {
        about: new RegExp(
          `^\\W*(?:(?:the|this|your|requested) )*(?:model|deployment)${ITSELF}(?!.*\\b(?:supports?|only supported)\\b)`,
          'i',
        ),
      },
    ],
    statuses: new Set([404, 410]),
  },
  { kind: 'refused', signs: ACCESS, statuses: new Set([400]) },
  { kind: 'overloaded', signs: BUSY, statuses: new Set([200, 400, 403, 500]) },
]

/** Where no server has the model some relays answer with 503, which others do where all are busy. */
const NO_CHANNEL = /\bno available channel\b|无可用渠道/i

/**
 * `upstream`: the model's id as it was sent, where that is known. `text`, `names`: all that the refusal says and names, its codes
 * apart.
 */
export const kindIn = (
  status: number,
  { text, names = [], codes }: { text: string; names?: readonly Name[]; codes: readonly string[] },
  upstream = '',
): Known | undefined => {
  if (status === 402) return { kind: 'out-of-money' }
  if (status === 503) return NO_CHANNEL.test(text) ? { kind: 'unknown-model' } : undefined
  const due = KINDS.filter(({ statuses }) => statuses.has(status))
  for (const { kind, signs } of due)
    for (const code of codes)
      if (classOfCode(code) === kind || signs.some((sign) => toldBy(sign, wordsOf(code)))) return { kind }
  const members = new Set(names.filter(({ found }) => found === 'told').map(({ steps }) => steps.at(-1)))
  for (const { words, at } of sentencesIn(text)) {
    if (OF_A_MEMBER.test(words) || OF_THEIR_SERVER.test(words)) continue
    for (const { kind, signs } of due) {
      const sign = signs.find((one) => {
        const match = toldBy(one, words, text)
        return match !== undefined && (kind === 'unknown-model' || !isName(words, match, members, kind))
      })
      const found = sign ? toldBy(sign, words, text) : kind === 'unknown-model' ? ofId(words, upstream) : undefined
      if (found === undefined) continue
      return { kind, told: { at: at + found.index, length: found[0].length } }
    }
  }
  return undefined
}

/** What is said of a member that is not known, whatever it is called. */
const OF_A_MEMBER =
  /\b(?:un(?:known|supported|recogni[sz]ed|expected)|extra) (?:(?:request|keyword|JSON) )?(?:parameter|argument|field|key|member|property|input)s?\b/i

/** What the provider says of a server that the request names for its tools: the account is not at fault. */
const OF_THEIR_SERVER = /\bMCP\b/

/**
 * Whether what stands there is a member's name: a path, the one that the error tells as such, or a word that is called one. A
 * word in quotes is one, too, but for a filter's.
 */
const isName = (
  words: string,
  match: RegExpExecArray,
  members: ReadonlySet<string | undefined>,
  kind: Kind,
): boolean => {
  const { 0: found, index: at } = match
  // A capital behind a point begins a sentence.
  const [name = ''] = /^[\w-]*(?:\.(?![A-Z])[\w-]+)*/.exec(words.slice(at)) ?? []
  const [before, after] = [words.slice(0, at), words.slice(at + found.length)]
  // An API key is one in a header's name, too.
  const isWithin = !/^[A-Z]/.test(name) && (kind === 'refused' ? /\w[.\]]$/ : /\w[.\]-]$/).test(before)
  const isQuoted = kind !== 'content-policy' && found === name && /['"`]$/.test(before) && /^['"`]/.test(after)
  return name.includes('.') || isWithin || members.has(name) || CALLED_ONE.test(after) || isQuoted
}

const ofId = (words: string, upstream: string): RegExpExecArray | undefined => {
  const at = upstream.length > 2 ? words.indexOf(upstream) : -1
  return at === -1 ? undefined : (OF_ID.exec(words) ?? GIVEN.exec(words.slice(0, at)) ?? undefined)
}

const toldBy = (sign: Sign, words: string, text = words): RegExpExecArray | undefined => {
  const about = sign.about.exec(words)
  if (about === null || sign.of?.test(text) === false || sign.else?.test(text) === true) return undefined
  if (sign.said === undefined) return about
  const before = words.slice(0, about.index)
  const isSaid = sign.said.test(`${before} ${words.slice(about.index + about[0].length)}`)
  return isSaid || sign.wants?.test(before) ? about : undefined
}

/** `AccountOverdueError`, `model_decommissioned` and `NOT_ENOUGH_BALANCE` as words. */
const wordsOf = (code: string): string =>
  code
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_.-]+/g, ' ')
    .trim()

const MOST_SENTENCES = 60
const MOST_CHARS = 600

const sentencesIn = (text: string): { words: string; at: number }[] =>
  Array.from(text.matchAll(/[^\n]+?(?:[.!?](?=\s)|$|\n|(?=\s-\s))/g), ({ 0: words, index }) => ({
    words: words.slice(0, MOST_CHARS).trimEnd(),
    at: index,
  })).slice(0, MOST_SENTENCES)

const CODES = ['code', 'type', 'status', 'reason', 'error_code', 'kind']
const MOST_DEPTH = 8

/** All machine codes of an error body, of those that it quotes too. */
export const codesIn = (body: unknown): string[] => {
  const codes = new Set<string>()
  const collect = (value: Json | undefined, depth: number): void => {
    if (depth > MOST_DEPTH) return
    if (Array.isArray(value)) for (const one of value) collect(one, depth + 1)
    if (typeof value === 'string') for (const { value: inner } of objectsIn(value)) collect(inner, depth + 1)
    if (!isObject(value)) return
    for (const [name, inner] of Object.entries(value))
      if (CODES.includes(name.toLowerCase()) && typeof inner === 'string') codes.add(inner.slice(0, 80))
      else collect(inner, depth + 1)
  }
  collect(body as Json | undefined, 0)
  return [...codes].slice(0, 40)
}
