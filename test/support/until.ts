// Waits for what comes about by itself, here or in another process.

/** Looks every few milliseconds, and leaves the processor to what it waits for meanwhile. Throws where it does not come to that. */
export const until = async (holds: () => boolean | Promise<boolean>, forMs = 60_000): Promise<void> => {
  for (const end = performance.now() + forMs; !(await holds()); await Bun.sleep(LOOK_MS))
    if (performance.now() > end) throw new Error('it has not come to that')
}

const LOOK_MS = 2
