// Work of which each piece begins when the one before of the same name has ended, however that ended.

type InOrder = <T>(run: () => Promise<T>, name?: string) => Promise<T>

export const createInOrder = (): InOrder => {
  const last = new Map<string, Promise<unknown>>()
  return async (run, name = '') => {
    const before = last.get(name)
    const mine = before === undefined ? run() : before.then(run, run)
    last.set(name, mine)
    try {
      return await mine
    } finally {
      if (last.get(name) === mine) last.delete(name)
    }
  }
}
