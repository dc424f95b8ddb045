// What a page shows of the server: loading, an error or a value; what was shown, an error too, stays while the next is
// fetched.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { entries } from './session.ts'

export type Resource<T> = {
  value: T | undefined
  error: Error | undefined
  loading: boolean
  /** The value is of other inputs than are asked for now. */
  stale: boolean
  reload(): void
  set(value: T): void
  /** Of what is shown; nothing where nothing is. */
  change(next: (value: T) => T): void
}

/**
 * Loads at first and whenever an input changes; an answer that comes too late is dropped. A reload while one is under
 * way waits for its answer: where answers take longer than reloads are apart, none would ever come.
 */
export const useResource = <T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Resource<T> => {
  const [state, setState] = useState<State<T>>({ loading: true, stale: false })
  const [turn, setTurn] = useState(0)
  const lastTurn = useRef(turn)
  const underWay = useRef(false)
  const again = useRef(false)
  useEffect(() => {
    const abort = new AbortController()
    const reloaded = turn !== lastTurn.current
    lastTurn.current = turn
    underWay.current = true
    again.current = false
    setState((before) => ({ ...before, loading: true, stale: !reloaded || before.stale }))
    const end = (next: (before: State<T>) => State<T>): void => {
      if (abort.signal.aborted) return
      underWay.current = false
      setState(next)
      if (again.current) setTurn((before) => before + 1)
    }
    load(abort.signal).then(
      (value) => end(() => ({ value, loading: false, stale: false })),
      (error: Error) => end((before) => ({ ...before, error, loading: false })),
    )
    return () => abort.abort()
  }, [...inputs, turn, entries.value])
  const reload = useCallback(() => {
    if (underWay.current) again.current = true
    else setTurn((before) => before + 1)
  }, [])
  const set = useCallback((value: T) => {
    setState({ value, loading: false, stale: false })
    // What is under way was asked before this, and would undo it.
    if (underWay.current) setTurn((before) => before + 1)
  }, [])
  const change = useCallback(
    (next: (value: T) => T) =>
      setState((before) => (before.value === undefined ? before : { ...before, value: next(before.value) })),
    [],
  )
  const { value, error, loading, stale } = state
  return { value, error, loading, stale, reload, set, change }
}

type State<T> = { value?: T; error?: Error; loading: boolean; stale: boolean }

const WATCH_MS = 5_000

/** The same, asked for again and again while somebody looks. */
export const useWatched = <T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> => {
  const resource = useResource(load, [])
  useEffect(() => {
    const timer = setInterval(() => document.hidden || resource.reload(), WATCH_MS)
    return () => clearInterval(timer)
  }, [resource.reload])
  return resource
}

/** One thing done at a press: busy while it runs, its error kept until the next try. Resolves with whether it worked. */
export const useAction = <A extends unknown[]>(
  act: (...given: A) => Promise<unknown>,
): { busy: boolean; error: Error | undefined; run(...given: A): Promise<boolean> } => {
  const [state, setState] = useState<{ busy: boolean; error?: Error }>({ busy: false })
  const run = async (...given: A): Promise<boolean> => {
    setState({ busy: true })
    try {
      await act(...given)
      setState({ busy: false })
      return true
    } catch (error) {
      setState({ busy: false, error: error as Error })
      return false
    }
  }
  return { busy: state.busy, error: state.error, run }
}
