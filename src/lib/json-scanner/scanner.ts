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
let containers: u32 = 0
let values: u32 = 0
let forms: u32 = 0
let escapes: u32 = 0
let next: i32 = 0

/** Where this piece ends, whether it is the last, and what is added to a place in it for its position in the whole. */
let end: u32 = 0
let isLast: bool = false
let base: u32 = 0
let at: u32 = 0

/** The string that is read: its position, that of its first escape or the largest there is, and a name's hash. */
let isName: bool = false
let opened: u32 = 0
let escaped: u32 = 0
let hash: i32 = 0

let memberAt: u32 = 0
let nameEnd: u32 = 0
let valueAt: u32 = 0

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
  memory.fill(KNOWN, 0, KNOWN_BITS / 8)
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
      if (c == 123 || c == 91) verdict = container(c)
      else {
        const size = c == 116 ? word(0x65757274, 0) : c == 110 ? word(0x6c6c756e, 0) : c == 102 ? word(0x65736c61, 1) : number()
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
  next = isObject(depth) ? A_NAME : A_VALUE
  return MORE
}

function container(c: u32): i32 {
  at++
  if (++containers > mostContainers) return CONTAINERS
  if (++values > mostValues) return VALUES
  if (++depth > mostDepth) return DEPTH
  store<u8>(KINDS + depth, c)
  store<i32>(FORM + depth * 4, 0)
  next = c == 123 ? A_NAME_OR_END : A_VALUE_OR_END
  return MORE
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
  opened = base + at
  escaped = 0xffffffff
  hash = 0
  next = REST_OF_STRING
  at++
  return string()
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
  next = A_COLON
  if (depth == 1) nameEnd = base + at
  return addToForm()
}

function restOfText(): i32 {
  const quotes = i8x16.splat(34)
  const backslashes = i8x16.splat(92)
  const controls = i8x16.splat(32)
  let p = at
  while (p < end) {
    const bytes = v128.load(p)
    let stops = i8x16.bitmask(
      v128.or(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)), i8x16.lt_u(bytes, controls)),
    )
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

/** Names are short, and hashed. */
function restOfName(): i32 {
  let sum = hash
  let p = at
  let size: u32 = 1
  for (; p < end; p += size) {
    const c = <u32>load<u8>(p)
    if (c == 34) {
      at = p + 1
      hash = sum
      next = A_COLON
      return MORE
    }
    size = c == 92 ? escape(p) : c < 32 ? 0 : 1
    if (size == 1) {
      sum = (sum ^ c) * PRIME
      continue
    }
    if (size == 0) return INVALID
    if (size == TOO_LITTLE) break
    if (++escapes > mostEscapes) return ESCAPES
    for (let one: u32 = 1; one < size; one++) sum = (sum ^ <u32>load<u8>(p + one)) * PRIME
  }
  at = p
  hash = sum
  return isLast ? INVALID : MORE
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
function word(letters: u32, from: u32): u32 {
  if (at + from + 4 > end) return isLast ? 0 : TOO_LITTLE
  return load<u32>(at + from) == letters ? from + 4 : 0
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

function addToForm(): i32 {
  const place = FORM + depth * 4
  const form: i32 = ((load<i32>(place) ^ hash) + seed) * PRIME
  store<i32>(place, form)
  const bit = (<u32>form ^ (<u32>form >> 15)) & (KNOWN_BITS - 1)
  const word = KNOWN + (bit >> 5) * 4
  const mask: u32 = 1 << (bit & 31)
  if ((load<u32>(word) & mask) != 0) return MORE
  store<u32>(word, load<u32>(word) | mask)
  return ++forms > mostForms ? FORMS : MORE
}

/** Of text that was read in one piece: cuts its long strings short in place, within large members, and says what is left. */
export function shorten(): u32 {
  let to = TEXT
  let from = TEXT
  let member = MEMBERS
  let cut = LONG
  for (let one = LONG; one < longEnd; one += 12) {
    const start = load<u32>(one)
    while (member < membersEnd && load<u32>(member, 12) < start) member += 16
    if (member == membersEnd) break
    const valueStart = load<u32>(member, 8)
    if (start <= valueStart || load<u32>(member, 12) - valueStart <= SMALL) continue
    const kept = TEXT + load<u32>(one, 4)
    memory.copy(to, from, kept - from)
    to += kept - from
    from = TEXT + load<u32>(one, 8)
    memory.copy(cut, one, 12)
    cut += 12
  }
  longEnd = cut
  memory.copy(to, from, end - from)
  return to + (end - from) - TEXT
}
