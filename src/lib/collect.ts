// Collections asked for where much has just become garbage: the runtime counts what lies outside of its heap too late, and
// the next step would take as much again.

/** Less is left to the runtime. */
const MUCH_BYTES = 8 * 1024 * 1024
/** A collection stops everyone: the next is not asked for before so many times what the last one took. */
const PAUSE = 20

let notBefore = 0

/** After a step that has left about so many bytes. */
export const collectAfter = (bytes: number): void => {
  const begun = performance.now()
  if (bytes < MUCH_BYTES || begun < notBefore) return
  Bun.gc(true)
  const done = performance.now()
  notBefore = done + (done - begun) * PAUSE
}
