// What is good to know and can be gone on without: all of a group would wait for as long as it takes to read.

const AWAITED_MS = 500

/** Undefined where it takes longer. */
export const soon = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, AWAITED_MS)
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}
