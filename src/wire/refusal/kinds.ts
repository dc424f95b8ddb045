// The kinds of refusal that are nobody's fault within the request, or its content's, for servers without a code of ours for
// them: an account out of money, a model that is not known there, a key that counts no more, content against a policy, or that
// all are busy. A kind is known by what a sentence is about and what it says of that; the words of a machine code are read as a sentence.

import { isObject, type Json } from '../../ir/json.ts'
import { classOfCode } from './error-object.ts'
import { objectsIn } from './literals.ts'
import { CALLED_ONE, type Name } from './names.ts'

export type Kind = 'out-of-money' | 'unknown-model' | 'no-access' | 'content-policy' | 'overloaded'

/**
 * `told`: what told, where it stands in the text; undefined for a status or a code. `mayLimit`: the same is said of what may be
 * asked for, where the request asks for it.
 */
export type Known = { kind: Kind; told?: Span & { mayLimit: boolean } }
export type Span = { at: number; length: number }

/** Both in one sentence, in any order, of a text that speaks `of` something, and of nothing `else`; or a phrase. */
type Sign = ({ about: RegExp; said: RegExp; of?: RegExp; else?: RegExp } | { phrase: RegExp }) & { mayLimit?: true }

const both = (about: RegExp, said: RegExp, text: { of?: RegExp; else?: RegExp; mayLimit?: true } = {}): Sign => ({
  about,
  said,
  ...text,
})
const phrase = (...parts: RegExp[]): Sign[] => parts.map((part) => ({ phrase: part }))

/** What is at an end. */
const SPENT =
  /\b(?:insufficient|exceed(?:s|ed)?|over|out of|exhausted|depleted|used all|used up|reached|not enough|no more|crossed|invalid|suspended)\b/i

/** What is had again by itself. */
const IN_TIME = /\b\d+[- ]?(?:hours?|days?|h)\b|\breset/i

const MONEY: Sign[] = [
  // Of money, and not of thoughts.
  both(/\bbudget\b/i, SPENT, { else: /(?<![a-z])(?:think|reasoning)|\btokens?\b/i, mayLimit: true }),
  both(
    /\b(?:credits?|balance|funds|payments?(?! methods?\b)|prepayment|invoices?|spend(?:ing)?|billing)\b/i,
    /\b(?:insufficient|exceed(?:s|ed)?|over|overdue|out of|exhausted|depleted|used all|used up|does ?n[o']t have|run out|too low|reached|not enough|no (?:more|remaining|credits)|requires? more|afford|crossed|required|to be enabled|denied|invalid payment|failure to pay|suspended|limit)\b/i,
  ),
  // Of no time, at whose end it is had again.
  both(/\b(?:usage limits?|extra usage)\b/i, SPENT, { else: IN_TIME, mayLimit: true }),
  // One that is wanted, or is over.
  {
    phrase: /\b(?:requires?|needs?|without|no) (?:(?:an?|active|paid|valid|your) )*(?:subscription|membership)\b/i,
    mayLimit: true,
  },
  ...phrase(
    /\b(?:subscription|membership|(?:coding|paid|token) plan)\b(?: \w+){0,3} (?:expired|lapsed|inactive|cancell?ed|not (?:yet )?include)\b/i,
  ),
  both(/\bquota\b/i, /\b(?:insufficient|not enough|used up)\b/i, { else: /\bstorage\b/i }),
  // One that is wanted or is good no more, and not what a conversation says of one, nor what would raise a rate.
  ...phrase(
    /\b(?:requires?|add|enter|provide|missing|no|without) (?:(?:a|an|your|the|valid) )*(?:(?:credit|debit|bank) card|payment method)\b(?! (?:number|detail)s?\b)(?![^.]*\brate limits?\b)/i,
    /\b(?:(?:credit|debit|bank) card|payment method)s? (?:(?:on file|is|was|has|have|must|be|been|needs?|to) )*(?:added|missing|required|declined|expired|on file)\b/i,
  ),
  // What ends by a deed of the owner's, and by no waiting: of what was used, and not of a request's own form.
  both(
    /\bto (?:continue|resume|restore) (?:(?:the|your|its) )?(?:using|usage|access|service|making (?:\w+ )?(?:requests|calls))\b|\bkeep going\b/i,
    /\b(?:upgrade|purchase|buy|pay|visit|adjust|add|enable|disable|subscribe|raise|recharge|top up)\b/i,
    {
      of: /\b(?:limit|cap|quota|allocation|allowance|extra usage|credits?|funds|balance|billing|plans?|tier|trial|free|paid)\b/i,
      else: /tokens?\b|\bparameters?\b|\bcontext\b|\brate[- ]?limits?\b/i,
      mayLimit: true,
    },
  ),
  both(/\bfree[ -]tier\b/i, /\b(?:exhausted|only|used up)\b/i, { mayLimit: true }),
  both(/余额|额度|资源包|残高|잔액/, /不足|用尽|耗尽|无可用|부족/),
  ...phrase(/欠费/),
  // What is switched off for an account is a fault of the request.
  ...phrase(
    /\b(?:organi[sz]ation|account|team)\b.{0,120}?\b(?:suspended|(?:is|was|been) (?:\w+ )?disabled|restricted(?! to\b)|good standing|on hold|deactivated|overdue|arrears)\b/i,
    /\b(?:suspended|disabled|deactivated|overdue) (?:organi[sz]ation|account|team)\b/i,
  ),
  ...phrase(/\barrearage\b/i, /\bcurrent quota\b.*\bbilling\b/i, /\bspend limit reached\b/i),
]

/** Of the model, or of what stands for one at some vendors. */
const NAMED = '(?:publisher )?(?:model|deployment|engine)s?'
const NOT_OF_ONE = '(?! (?:parameter|output|input|response|setting|option|argument|type|length))'
const MODEL: Sign[] = [
  ...phrase(
    new RegExp(`\\bunsupported ${NAMED}:|\\bno ${NAMED} (?:named|called)\\b`, 'i'),
    new RegExp(`\\b(?:invalid|unknown|unrecogni[sz]ed|unavailable|no such|nonexistent) ${NAMED}\\b${NOT_OF_ONE}`, 'i'),
    new RegExp(
      `(?<!by (?:this|the) |with (?:this|the) |for (?:this|the) )\\b${NAMED}\\b${NOT_OF_ONE}[^;\\n]{0,200}?(?:\\b(?:(?:was |is |been )?not (?:be )?(?:found|located)|(?:does not|doesn.t|not) exist|identifier is invalid|is not a valid|(?:is )?unknown|not deployed|no longer (?:supported|available)|decommissioned|been deprecated|(?:been|was) (?:removed|retired|shut down)|end of its life|supported by any|not available|access denied)\\b|throughput isn.t supported)`,
      'i',
    ),
    new RegExp(
      `\\b(?:not found|not activated|(?:cannot|can.t|could not|couldn.t|unable to) (?:find|access)|access to|allowed to access|no available channel|no (?:allowed providers|deployments|endpoints) [^;\\n]{0,24}for|requested) (?:for |the |this |any |selected |requested )*${NAMED}\\b${NOT_OF_ONE}(?![^;\\n]{0,80}\\b(?:does not|doesn.t) support\\b)`,
      'i',
    ),
    new RegExp(
      `(?<!(?:by|with|for) (?:this|the) )\\b${NAMED}\\b:?(?: \\S{1,160})? (?:is )?not supported(?: when using [^;\\n]{1,80})?\\W{0,3}$`,
      'i',
    ),
    /^(?:\S{1,40}: )?model: \S/i,
    /^server is pinned to/i,
    /模型\S{0,80}(?:不存在|无可用渠道)|对于模型 .{1,200} 无可用/,
  ),
]
/** The same in a sentence that names it by the id that was sent. */
const OF_ID =
  /\bis not a valid model\b|\bno \w+ (?:found|available|running|loaded) for\b|\b(?:not found|not exist|unknown|unavailable|not available)\b/i

/** Before it. */
const GIVEN = /\b(?:passed|got|received|given):? ['"`]?$/i

const ACCESS: Sign[] = [
  both(/\bAPI[- ]?key\b/i, /\b(?:incorrect|invalid|not valid|expired|revoked|not found)\b/i),
  both(/\b(?:location|region|country)\b/i, /\b(?:not supported|unsupported|not available|not allowed)\b/i),
]

const POLICY: Sign[] = [
  both(
    /\b(?:content (?:safety |management |usage )?polic(?:y|ies)|content[- ]filter\w*|safety system|usage (?:guidelines|polic(?:y|ies))|responsible ai|guardrails?|moderation|safety (?:polic(?:y|ies)|violations?|filters?))\b/i,
    /\b(?:filtered|block\w*|reject\w*|violat\w*|flagged|fail(?:ed|s)|trigger\w*)\b/i,
  ),
  both(
    /\b(?:inappropriate|sensitive|harmful|unsafe|prohibited|high[- ]risk) (?:content|information|words?|material)\b/i,
    /\b(?:contains?|includes?|filtered|block\w*|reject\w*|violat\w*|detected)\b/i,
  ),
  ...phrase(
    /\b(?:prompt|input|message|request|content)\b.{0,20}\bflagged\b/i,
    /\bdata ?inspection ?failed\b/i,
    /^content exists risk$/i,
    /\bconsidered high risk\b/i,
    /\bnew_sensitive\b/i,
    /敏感(?:内容|信息)/,
  ),
]

const BUSY: Sign[] = [
  both(
    /\brate[- ]?limit\w*|\btoo many (?:\w+ )?requests\b|\b(?:requests?|(?<!\b(?:tool|function)s? )calls?) (?:limit|quota)\b|\bthrottl\w*/i,
    /\b(?:exceed\w*|reached|hit|wait|retry|again|later|many|throttl\w*)\b/i,
  ),
  // Of what may be used in a time.
  both(
    /\b(?:hourly|daily|weekly|monthly|\d+[- ]hours?) (?:(?!exceed)\w+ ){0,2}(?:limit|quota|allowance)s?\b|\b(?:limit|quota|allowance)s? (?:[\w,]+ ){0,5}per (?:second|minute|hour|day|week|month)\b|\bper (?:second|minute|hour|day|week|month) (?:\w+ )?(?:limit|quota|allowance)s?\b/i,
    /\b(?:limit|quota|allowance)s? (?:\w+ )?(?:exceed\w*|reached|used up)\b|\b(?:exceed\w*|reached|over) (?:\w+ ){0,5}(?:limit|quota|allowance)\b/i,
  ),
  ...phrase(
    // Of the asking itself: what a request holds too much of is its own fault.
    /(?<!函数|工具)(?:请求|调用|访问|并发|频率)(?:请求|调用|总|数|量|次|频率|过于|太){0,4}(?:过多|过高|频繁|超限)|限流/,
    /\boverloaded\b/i,
    /\bat (?:full |maximum |max )?capacity\b/i,
    /(?<!\b(?:context|prompt|input|window|token)s? )\bcapacity (?:\w+ly )?(?:exceeded|exhausted|reached)\b/i,
  ),
]

const KINDS: { kind: Kind; signs: Sign[]; statuses: ReadonlySet<number> }[] = [
  { kind: 'content-policy', signs: POLICY, statuses: new Set([200, 400, 403, 422, 446, 451]) },
  { kind: 'out-of-money', signs: MONEY, statuses: new Set([200, 400, 401, 402, 403, 412, 429]) },
  { kind: 'unknown-model', signs: MODEL, statuses: new Set([400, 401, 403, 404, 410, 422]) },
  { kind: 'no-access', signs: ACCESS, statuses: new Set([400]) },
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
      const mayLimit = sign?.mayLimit === true
      return { kind, told: { at: at + found.index, length: found[0].length, mayLimit } }
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
  const isWithin = !/^[A-Z]/.test(name) && /\w[.\]]$/.test(before)
  const isQuoted = kind !== 'content-policy' && found === name && /['"`]$/.test(before) && /^['"`]/.test(after)
  return name.includes('.') || isWithin || members.has(name) || CALLED_ONE.test(after) || isQuoted
}

const ofId = (words: string, upstream: string): RegExpExecArray | undefined => {
  const at = upstream.length > 2 ? words.indexOf(upstream) : -1
  return at === -1 ? undefined : (OF_ID.exec(words) ?? GIVEN.exec(words.slice(0, at)) ?? undefined)
}

const toldBy = (sign: Sign, words: string, text = words): RegExpExecArray | undefined => {
  if ('phrase' in sign) return sign.phrase.exec(words) ?? undefined
  const about = sign.about.exec(words)
  const isSo = sign.said.test(words) && sign.of?.test(text) !== false && sign.else?.test(text) !== true
  return about !== null && isSo ? about : undefined
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
