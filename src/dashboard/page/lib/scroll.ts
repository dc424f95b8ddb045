// How far down a page one was: the way back leads there as soon as what stood there is loaded again. The browser tries
// too, before that.

const WAIT_MS = 3_000

const places = new Map<string, number>()
let end: (() => void) | undefined

const here = (): string => location.pathname + location.search

addEventListener(
  'scroll',
  () => {
    if (end === undefined) places.set(here(), scrollY)
  },
  { passive: true },
)

addEventListener('popstate', () => {
  end?.()
  const place = places.get(here()) ?? 0
  // A fragment says itself where to.
  if (place === 0 || location.hash !== '') return
  const grown = new ResizeObserver(() => {
    scrollTo(0, place)
    if (scrollY >= Math.floor(place)) end?.()
  })
  const timer = setTimeout(() => end?.(), WAIT_MS)
  const moves = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const
  const moved = (): void => end?.()
  end = () => {
    end = undefined
    grown.disconnect()
    clearTimeout(timer)
    for (const move of moves) removeEventListener(move, moved)
  }
  for (const move of moves) addEventListener(move, moved)
  grown.observe(document.body)
})
