// AssemblyScript. Reads JSON as its bytes come, strings sixteen at a time: whether it is JSON, whether it keeps the bounds,
// and where its outermost members and its long strings stand. `bun run scanner` compiles it into scanner-wasm.ts;
// lib/json-reader.ts drives it, and has what it must agree with. A piece lies at TEXT, before sixteen zeros.

/** What `read` says. From DEPTH on a bound is exceeded, in the order in which `begin` is told them. */
const MORE: i32 = 0
const WHOLE: i32 = 1
const INVALID: i32 = 2
const DEPTH: i32 = 3
const CONTAINERS: i32 = 4
const VALUES: i32 = 5
const FORMS: i32 = 6
const ESCAPES: i32 = 7
const DIGITS: i32 = 8

/** Where things lie: of each depth what is open and its form, the forms known, what is found, the text. */
const KINDS: u32 = 0x400
const FORM: u32 = 0x1000
const KNOWN: u32 = 0x2000
const KNOWN_BITS: u32 = 0x40000
export const MEMBERS: u32 = 0xa000
const MEMBERS_END: u32 = 0xe000
export const LONG: u32 = 0x10000
const LONG_END: u32 = 0x40000
export const TEXT: u32 = 0x40000
export const TEXT_BYTES: u32 = 0x100000

const PRIME: i32 = 0x01000193
const LONG_STRING: u32 = 64
const LONG_NUMBER: u32 = 16
/** Of a long string so many bytes are kept; fewer where an escape comes before, and all of one that is not very long then. */
const KEPT: u32 = 16
const LONG_ESCAPED: u32 = 600
/** Smaller members are not cut. */
const SMALL: u32 = 4096

/** What may come next. */
const A_VALUE: i32 = 0
const A_VALUE_OR_END: i32 = 1
const A_NAME: i32 = 2
const A_NAME_OR_END: i32 = 3
const A_COLON: i32 = 4
const A_COMMA_OR_END: i32 = 5
const NOTHING: i32 = 6
const REST_OF_STRING: i32 = 7

let mostDepth: u32 = 0
let mostContainers: u32 = 0
let mostValues: u32 = 0
let mostForms: u32 = 0
let mostEscapes: u32 = 0
let mostDigits: u32 = 0
let seed: i32 = 0

let depth: u32 = 0
export let containers: u32 = 0
export let values: u32 = 0
export let forms: u32 = 0
let escapes: u32 = 0
let next: i32 = 0

/** Where this piece ends, whether it is the last, and what is added to a place in it for its position in the whole. */
let end: u32 = 0
let isLast: bool = false
let base: u32 = 0
let at: u32 = 0

/** The string that is read: its position, and that of its first escape or the largest there is. */
let isName: bool = false
let opened: u32 = 0
let escaped: u32 = 0
/** Of a name: the hash of its bytes but the last up to four, which are `word`, and how many there are of both. */
let hash: i32 = 0
let word: i32 = 0
let size: u32 = 0

let memberAt: u32 = 0
let nameEnd: u32 = 0
let valueAt: u32 = 0

/** A list that is passed over where it is the value of an outermost member, and what it counts for; at 0: none. */
let knownAt: u32 = 0
let knownSize: u32 = 0
let knownContainers: u32 = 0
let knownValues: u32 = 0
let knownForms: u32 = 0

/** Of the whole: where its value begins, and whether a number may be more than numbers hold. Of this piece: how much was read, and found. */
export let open: i32 = -1
export let longNumber: bool = false
export let consumed: u32 = 0
export let membersEnd: u32 = 0
export let longEnd: u32 = 0

export function begin(chosen: i32, d: u32, c: u32, v: u32, f: u32, e: u32, n: u32): void {
  seed = chosen
  mostDepth = d
  mostContainers = c
  mostValues = v
  mostForms = f
  mostEscapes = e
  mostDigits = n
  depth = containers = values = forms = escapes = 0
  next = A_VALUE
  open = -1
  longNumber = false
  knownAt = 0
  memory.fill(KNOWN, 0, KNOWN_BITS / 8)
}

/** Of a text that comes in one piece: where bytes stand of which all of this is known, and that they are a list. */
export function pass(from: u32, size: u32, c: u32, v: u32, f: u32, isLongNumber: bool): void {
  knownAt = TEXT + from
  knownSize = size
  knownContainers = c
  knownValues = v
  knownForms = f
  longNumber = isLongNumber
}

/** `from`: the position of the piece in the whole. What it has not consumed must come again. */
export function read(from: u32, length: u32, last: bool): i32 {
  at = TEXT
  end = TEXT + length
  base = from - TEXT
  isLast = last
  membersEnd = MEMBERS
  longEnd = LONG
  let verdict = next == REST_OF_STRING ? string() : MORE
  if (verdict == MORE && next != REST_OF_STRING) verdict = tokens()
  consumed = at - TEXT
  if (verdict != MORE || !isLast || at < end) return verdict
  return next == NOTHING ? WHOLE : INVALID
}

function tokens(): i32 {
  while (at < end && membersEnd < MEMBERS_END && longEnd < LONG_END) {
    const c = <u32>load<u8>(at)
    if (c <= 32) {
      if (c != 32 && c != 10 && c != 13 && c != 9) return INVALID
      at++
      continue
    }
    let verdict = MORE
    if (c == 34) verdict = openString()
    else if (c == 44) verdict = comma()
    else if (c == 58) {
      if (next != A_COLON) return INVALID
      next = A_VALUE
      at++
    } else if (c == 125 || c == 93) verdict = close(c)
    else {
      if (next > A_VALUE_OR_END) return INVALID
      beginValue()
      if (at == knownAt && depth == 1 && isObject(1)) verdict = known()
      else if (c == 123 || c == 91) verdict = container(c)
      else {
        const size = c == 116 ? letters(0x65757274, 0) : c == 110 ? letters(0x6c6c756e, 0) : c == 102 ? letters(0x65736c61, 1) : number()
        if (size == 0) return INVALID
        if (size > mostDigits) return size == TOO_LITTLE ? MORE : DIGITS
        at += size
        endValue()
      }
    }
    if (verdict != MORE || next == REST_OF_STRING) return verdict
  }
  return MORE
}

/** A token goes on behind this piece. */
const TOO_LITTLE: u32 = 0xffffffff

function comma(): i32 {
  if (next != A_COMMA_OR_END) return INVALID
  at++
  if (++values > mostValues) return VALUES
  if (!isObject(depth)) next = A_VALUE
  else {
    next = A_NAME
    if (load<u8>(at) == 34) return openString()
  }
  return MORE
}

function container(c: u32): i32 {
  at++
  if (++containers > mostContainers) return CONTAINERS
  if (++values > mostValues) return VALUES
  if (++depth > mostDepth) return DEPTH
  store<u8>(KINDS + depth, c)
  store<i32>(FORM + depth * 4, 0)
  if (c == 91) next = A_VALUE_OR_END
  else {
    next = A_NAME_OR_END
    if (load<u8>(at) == 34) return openString()
  }
  return MORE
}

/** Forms that stand elsewhere too are counted twice, never too few. No piece has too many escapes. */
function known(): i32 {
  at += knownSize
  endValue()
  if ((containers += knownContainers) > mostContainers) return CONTAINERS
  if ((values += knownValues) > mostValues) return VALUES
  return (forms += knownForms) > mostForms ? FORMS : MORE
}

function close(c: u32): i32 {
  const may = next == A_COMMA_OR_END || next == (c == 125 ? A_NAME_OR_END : A_VALUE_OR_END)
  if (!may || load<u8>(KINDS + depth) != c - 2) return INVALID
  at++
  depth--
  endValue()
  return MORE
}

// @ts-ignore: decorator
@inline
function isObject(depth: u32): bool {
  return load<u8>(KINDS + depth) == 123
}

// @ts-ignore: decorator
@inline
function beginValue(): void {
  if (depth == 1) valueAt = base + at
  else if (open == -1) open = base + at
}

// @ts-ignore: decorator
@inline
function endValue(): void {
  next = depth == 0 ? NOTHING : A_COMMA_OR_END
  if (depth != 1 || !isObject(1)) return
  store<u32>(membersEnd, memberAt)
  store<u32>(membersEnd, nameEnd, 4)
  store<u32>(membersEnd, valueAt, 8)
  store<u32>(membersEnd, base + at, 12)
  membersEnd += 16
}

function openString(): i32 {
  isName = next == A_NAME || next == A_NAME_OR_END
  if (!isName) {
    if (next > A_VALUE_OR_END) return INVALID
    beginValue()
  } else if (depth == 1) memberAt = base + at
  const first = at + 1
  const stops = stopsIn(v128.load(first))
  if (stops != 0) {
    const stop = first + ctz(stops)
    if (stop < end && load<u8>(stop) == 34) {
      // Nearly all are short and plain.
      at = stop + 1
      if (isName) return endName(hashOf(seed, first, stop))
      endValue()
      return MORE
    }
  }
  opened = base + at
  escaped = 0xffffffff
  hash = seed
  word = 0
  size = 0
  next = REST_OF_STRING
  at = first
  return string()
}

/** Where a text may end, or may hold what none may. */
// @ts-ignore: decorator
@inline
function stopsIn(bytes: v128): i32 {
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(34)), i8x16.eq(bytes, i8x16.splat(92))),
      i8x16.le_u(bytes, i8x16.splat(31)),
    ),
  )
}

/** On to behind the string's end. Where the piece ends first, `next` stays. */
function string(): i32 {
  const verdict = isName ? restOfName() : restOfText()
  if (verdict != MORE || next == REST_OF_STRING) return verdict
  const start = opened + 1
  const stop = base + at - 1
  if (stop - opened >= LONG_STRING) {
    const kept = escaped < start + KEPT ? escaped : start + KEPT
    if (kept == start + KEPT || stop - opened >= LONG_ESCAPED) {
      store<u32>(longEnd, start)
      store<u32>(longEnd, kept, 4)
      store<u32>(longEnd, stop, 8)
      longEnd += 12
    }
  }
  if (!isName) {
    endValue()
    return MORE
  }
  return endName(hash)
}

/** Nearly always the colon follows at once. */
function endName(hash: i32): i32 {
  if (depth == 1) nameEnd = base + at
  if (load<u8>(at) == 58) {
    at++
    next = A_VALUE
  } else next = A_COLON
  return addToForm(hash)
}

function restOfText(): i32 {
  let p = at
  while (p < end) {
    let stops = stopsIn(v128.load(p))
    const block = p
    p += 16
    while (stops != 0) {
      const stop = block + ctz(stops)
      // What lies behind the piece stops as well.
      if (stop >= end) break
      const c = <u32>load<u8>(stop)
      if (c == 34) {
        at = stop + 1
        next = A_COMMA_OR_END
        return MORE
      }
      if (c == 92) {
        const passed = escapedText(stop)
        if (passed == CLOSED) return MORE
        if (passed != stop) {
          p = passed
          break
        }
      }
      const size = c == 92 ? escape(stop) : 0
      if (size == 0) return INVALID
      if (size == TOO_LITTLE) {
        at = stop
        return MORE
      }
      if (++escapes > mostEscapes) return ESCAPES
      const past = stop + size - block
      if (past < 16) stops &= 0xffff << past
      else {
        p = block + past
        break
      }
    }
  }
  at = end
  return isLast ? INVALID : MORE
}

/** Of text so many bytes are read together, with as many behind them as an escape may have. */
const WIDE: u32 = 64
const ESCAPE_BYTES: u32 = 6
const CLOSED: u32 = 0
const ODD: u64 = 0xaaaaaaaaaaaaaaaa

/**
 * On from the first escape of a text, whichever come. Returns CLOSED behind the text's end, or the place of what is to be
 * looked at one by one: near the end of the piece, or because something is amiss there.
 */
function escapedText(first: u32): u32 {
  const quotes = i8x16.splat(34)
  const backslashes = i8x16.splat(92)
  const controls = i8x16.splat(31)
  const ns = i8x16.splat(110)
  const ts = i8x16.splat(116)
  if (base + first < escaped) escaped = base + first
  let p = first
  // Whether the first byte of a block is escaped by the last of the one before.
  let carry: u64 = 0
  for (; p + WIDE + ESCAPE_BYTES <= end; p += WIDE) {
    const a = v128.load(p)
    const b = v128.load(p, 16)
    const c = v128.load(p, 32)
    const d = v128.load(p, 48)
    const quoteA = i8x16.eq(a, quotes)
    const quoteB = i8x16.eq(b, quotes)
    const quoteC = i8x16.eq(c, quotes)
    const quoteD = i8x16.eq(d, quotes)
    const backA = i8x16.eq(a, backslashes)
    const backB = i8x16.eq(b, backslashes)
    const backC = i8x16.eq(c, backslashes)
    const backD = i8x16.eq(d, backslashes)
    const back = mask(backA, backB, backC, backD)
    // Of a run of backslashes every other one escapes what follows it.
    const mayEscape = back & ~carry
    const codes = (((mayEscape << 1) | ODD) - mayEscape) ^ ODD
    const targets = codes ^ (back | carry)
    const after = (codes & back) >> 63
    const ends = mask(quoteA, quoteB, quoteC, quoteD) & ~targets
    // What lies before the text's end, all of the block where it does not end here.
    const inside = ends == 0 ? <u64>-1 : (ends & (<u64>0 - ends)) - 1
    const lowA = i8x16.le_u(a, controls)
    const lowB = i8x16.le_u(b, controls)
    const lowC = i8x16.le_u(c, controls)
    const lowD = i8x16.le_u(d, controls)
    const isLow = v128.any_true(v128.or(v128.or(lowA, lowB), v128.or(lowC, lowD)))
    if (isLow && (mask(lowA, lowB, lowC, lowD) & inside) != 0) break
    const plain = mask(
      v128.or(v128.or(quoteA, backA), v128.or(i8x16.eq(a, ns), i8x16.eq(a, ts))),
      v128.or(v128.or(quoteB, backB), v128.or(i8x16.eq(b, ns), i8x16.eq(b, ts))),
      v128.or(v128.or(quoteC, backC), v128.or(i8x16.eq(c, ns), i8x16.eq(c, ts))),
      v128.or(v128.or(quoteD, backD), v128.or(i8x16.eq(d, ns), i8x16.eq(d, ts))),
    )
    const count = <u32>popcnt(targets & inside)
    if (escapes + count > mostEscapes || !areEscapes(p, targets & inside & ~plain)) break
    escapes += count
    if (ends != 0) {
      at = p + <u32>ctz(ends) + 1
      next = A_COMMA_OR_END
      return CLOSED
    }
    carry = after
  }
  return p - <u32>carry
}

// @ts-ignore: decorator
@inline
function mask(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>i8x16.bitmask(a) |
    ((<u64>i8x16.bitmask(b)) << 16) |
    ((<u64>i8x16.bitmask(c)) << 32) |
    ((<u64>i8x16.bitmask(d)) << 48)
  )
}

/** Whether each of these bytes of a block may follow a backslash. */
function areEscapes(block: u32, which: u64): bool {
  for (let left = which; left != 0; left &= left - 1) {
    const p = block + <u32>ctz(left)
    const e = <u32>load<u8>(p)
    if (e == 117) {
      if (!isHex(p + 1) || !isHex(p + 2) || !isHex(p + 3) || !isHex(p + 4)) return false
    } else if (e != 47 && e != 114 && e != 98 && e != 102) return false
  }
  return true
}

/** The hash of a name without escapes. */
function hashOf(seed: i32, first: u32, stop: u32): i32 {
  let sum = seed
  let from = first
  for (; from + 4 <= stop; from += 4) sum = mixed(sum, load<i32>(from))
  return mixed(sum, load<i32>(from) & ((1 << <i32>((stop - from) * 8)) - 1))
}

/** Byte by byte: few names are long, have escapes or go on behind a piece. */
function restOfName(): i32 {
  let p = at
  let length: u32 = 1
  for (; p < end; p += length) {
    const c = <u32>load<u8>(p)
    if (c == 34) {
      hash = mixed(hash, word)
      at = p + 1
      next = A_COLON
      return MORE
    }
    length = c == 92 ? escape(p) : c < 32 ? 0 : 1
    if (length == 0) return INVALID
    if (length == TOO_LITTLE) break
    if (length > 1 && ++escapes > mostEscapes) return ESCAPES
    for (let one: u32 = 0; one < length; one++) addToName(load<u8>(p + one))
  }
  at = p
  return isLast ? INVALID : MORE
}

function addToName(c: i32): void {
  word |= c << <i32>((size & 3) * 8)
  if ((++size & 3) != 0) return
  hash = mixed(hash, word)
  word = 0
}

// @ts-ignore: decorator
@inline
function mixed(sum: i32, word: i32): i32 {
  const product = (sum ^ word) * PRIME
  return product ^ (<u32>product >> 15)
}

/** The size of the escape that begins there; 0 for none that there is. */
// @ts-ignore: decorator
@inline
function escape(p: u32): u32 {
  if (base + p < escaped) escaped = base + p
  const e = <u32>load<u8>(p, 1)
  const size: u32 = e == 117 ? 6 : 2
  if (p + size > end) return isLast ? 0 : TOO_LITTLE
  if (e == 110 || e == 34 || e == 92 || e == 116) return 2
  if (e == 117) return isHex(p + 2) && isHex(p + 3) && isHex(p + 4) && isHex(p + 5) ? 6 : 0
  return e == 47 || e == 114 || e == 98 || e == 102 ? 2 : 0
}

function isHex(p: u32): bool {
  const c = <u32>load<u8>(p)
  return c - 48 <= 9 || (c | 32) - 97 <= 5
}

/** The size of the word of which these letters are four, `from` so many on; 0 for another. */
function letters(four: u32, from: u32): u32 {
  if (at + from + 4 > end) return isLast ? 0 : TOO_LITTLE
  return load<u32>(at + from) == four ? from + 4 : 0
}

/** The size of the number that begins here; 0 for none. What lies behind the piece is no digit. */
function number(): u32 {
  let p = at
  if (load<u8>(p) == 45) p++
  const first = <u32>load<u8>(p)
  let good = first - 48 <= 9
  if (good) p = first == 48 ? p + 1 : digits(p)
  if (load<u8>(p) == 46) {
    const fraction = digits(++p)
    good = good && fraction > p
    p = fraction
  }
  if ((<u32>load<u8>(p) | 32) == 101) {
    const sign = <u32>load<u8>(++p)
    if (sign == 43 || sign == 45) p++
    const exponent = digits(p)
    good = good && exponent > p
    p = exponent
  }
  if (p >= end && !isLast) return p - at > mostDigits ? mostDigits + 1 : TOO_LITTLE
  if (p - at >= LONG_NUMBER) longNumber = true
  return good ? p - at : 0
}

function digits(from: u32): u32 {
  let p = from
  while (<u32>load<u8>(p) - 48 <= 9) p++
  return p
}

function addToForm(hash: i32): i32 {
  const place = FORM + depth * 4
  const form: i32 = ((load<i32>(place) ^ hash) + seed) * PRIME
  store<i32>(place, form)
  const bit = (<u32>form ^ (<u32>form >> 15)) & (KNOWN_BITS - 1)
  const known = KNOWN + (bit >> 5) * 4
  const flag: u32 = 1 << (bit & 31)
  if ((load<u32>(known) & flag) != 0) return MORE
  store<u32>(known, load<u32>(known) | flag)
  return ++forms > mostForms ? FORMS : MORE
}

/**
 * Of text that was read in one piece: cuts its long strings short in place, within large members, and says what is left. Of a
 * value from `nullFrom` to `nullTo` a null is left, and none of it is noted as cut.
 */
export function shorten(nullFrom: u32, nullTo: u32): u32 {
  let to = TEXT
  let from = TEXT
  let member = MEMBERS
  let cut = LONG
  let isPast = nullTo == 0
  for (let one = LONG; one < longEnd; one += 12) {
    const start = load<u32>(one)
    if (!isPast && start > nullFrom) {
      if (start < nullTo) continue
      to = moved(to, from, nulled(nullFrom))
      from = TEXT + nullTo
      isPast = true
    }
    while (member < membersEnd && load<u32>(member, 12) < start) member += 16
    if (member == membersEnd) break
    const valueStart = load<u32>(member, 8)
    if (start <= valueStart || load<u32>(member, 12) - valueStart <= SMALL) continue
    to = moved(to, from, TEXT + load<u32>(one, 4))
    from = TEXT + load<u32>(one, 8)
    memory.copy(cut, one, 12)
    cut += 12
  }
  longEnd = cut
  if (!isPast) {
    to = moved(to, from, nulled(nullFrom))
    from = TEXT + nullTo
  }
  return moved(to, from, end) - TEXT
}

/** Moves what stands between, and says where it ends then. */
function moved(to: u32, from: u32, until: u32): u32 {
  memory.copy(to, from, until - from)
  return to + (until - from)
}

/** Where a null ends that is written there. */
function nulled(position: u32): u32 {
  store<u32>(TEXT + position, 0x6c6c756e)
  return TEXT + position + 4
}
