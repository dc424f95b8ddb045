// What a page shows of the server: loading, an error or a value; what was shown, an error too, stays while the next is
// fetched.

import { useCallback, useEffect, useState } from 'preact/hooks'
import { entries } from './session.ts'

export type Resource<T> = {
  value: T | undefined
  error: Error | undefined
  loading: boolean
  reload(): void
  set(value: T): void
}

/** Loads at first and whenever an input changes; an answer that comes too late is dropped. */
export const useResource = <T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Resource<T> => {
  const [state, setState] = useState<{ value?: T; error?: Error; loading: boolean }>({ loading: true })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    setState((before) => ({ ...before, loading: true }))
    load(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, loading: false })
      },
      (error: Error) => {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error, loading: false }))
      },
    )
    return () => abort.abort()
  }, [...inputs, turn, entries.value])
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  const set = useCallback((value: T) => setState({ value, loading: false }), [])
  return { value: state.value, error: state.error, loading: state.loading, reload, set }
}

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
