// Memory of large bodies, given back as soon as nobody reads it. The runtime would keep it until its next collection, and until
// then take new memory for each other body, which the system has to clear first.

type Lent = { times: number; isFree: boolean }

/** Memory that something is sent from. */
const LENT = new WeakMap<ArrayBufferLike, Lent>()

/** Less lies with other data in memory that is shared. */
const LEAST_BYTES = 32 * 1024

/** Whoever holds the bytes still finds none. What is sent from them goes on, and its memory is given back after that. */
export const free = ({ buffer, byteLength }: Uint8Array<ArrayBuffer>): void => {
  if (byteLength < LEAST_BYTES || buffer.detached) return
  const lent = LENT.get(buffer)
  if (lent === undefined) buffer.transfer(0)
  else lent.isFree = true
}

/** Keeps the memory of these until the returned function is called. */
export const lend = (pieces: readonly Uint8Array[]): (() => void) => {
  const buffers = new Set<ArrayBufferLike>()
  for (const { buffer } of pieces) buffers.add(buffer)
  for (const buffer of buffers) {
    const lent = LENT.get(buffer)
    if (lent === undefined) LENT.set(buffer, { times: 1, isFree: false })
    else lent.times++
  }
  return () => {
    for (const buffer of buffers) takeBack(buffer)
    buffers.clear()
  }
}

const takeBack = (buffer: ArrayBufferLike): void => {
  const lent = LENT.get(buffer)
  if (lent === undefined || --lent.times > 0) return
  LENT.delete(buffer)
  if (lent.isFree && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
