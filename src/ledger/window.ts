// A sliding window of one minute: amounts with their times, and their sum. Exact: an amount counts for 60 s.

export const WINDOW_MS = 60_000
/** Expired entries at the front are removed once there are this many. */
const SLACK = 512

/** Times must not go backwards between calls. */
export class Window {
  #times: number[] = []
  #amounts: number[] = []
  #first = 0
  #sum = 0

  /** The sum over the last minute. */
  sum(now: number): number {
    this.#expire(now)
    return this.#sum
  }

  add(now: number, amount: number): void {
    this.#expire(now)
    const last = this.#times.length - 1
    // Amounts of one millisecond share an entry: that bounds the window's memory.
    if (this.#times[last] === now) this.#amounts[last] = (this.#amounts[last] ?? 0) + amount
    else {
      this.#times.push(now)
      this.#amounts.push(amount)
    }
    this.#sum += amount
  }

  /** Takes back an amount that was added at this time, unless it has expired. */
  remove(addedAt: number, amount: number): void {
    for (let i = this.#times.length - 1; i >= this.#first; i--) {
      if (this.#times[i] !== addedAt) continue
      const left = (this.#amounts[i] ?? 0) - amount
      this.#sum -= amount
      this.#amounts[i] = left
      if (left <= 0) {
        this.#times.splice(i, 1)
        this.#amounts.splice(i, 1)
      }
      return
    }
  }

  /** Milliseconds until the sum is below `limit` if nothing is added; 0 when it is. */
  waitFor(now: number, limit: number): number {
    let sum = this.sum(now)
    for (let i = this.#first; i < this.#times.length && sum >= limit; i++) {
      sum -= this.#amounts[i] ?? 0
      if (sum < limit) return (this.#times[i] ?? now) + WINDOW_MS - now
    }
    return 0
  }

  /** Milliseconds until the window is empty. */
  emptyIn(now: number): number {
    this.#expire(now)
    const last = this.#times.length - 1
    return last < this.#first ? 0 : (this.#times[last] ?? now) + WINDOW_MS - now
  }

  #expire(now: number): void {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) <= now - WINDOW_MS) {
      this.#sum -= this.#amounts[this.#first] ?? 0
      this.#first++
    }
    if (this.#first === this.#times.length) {
      this.#times.length = 0
      this.#amounts.length = 0
      this.#first = 0
    } else if (this.#first > SLACK && this.#first * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#first)
      this.#amounts = this.#amounts.slice(this.#first)
      this.#first = 0
    }
  }
}
