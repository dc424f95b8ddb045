// Icons: strokes on a 20 by 20 field, drawn in the text's colour, silent to screen readers.

const PATHS = {
  overview: 'M3 16V9m4.7 7V4m4.6 12v-5M17 16V7',
  keys: 'M8.5 11.5 15.5 4.5M13 7l2 2M6.5 16a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  exchanges: 'M4 7h11m0 0-3-3m3 3-3 3M16 13H5m0 0 3-3m-3 3 3 3',
  models: 'M10 3 3.5 6.5 10 10l6.5-3.5L10 3ZM3.5 10 10 13.5l6.5-3.5M3.5 13.5 10 17l6.5-3.5',
  accounts: 'M4 5h12v4H4V5Zm0 6h12v4H4v-4Zm3-4h.010M7 13h.010',
  members:
    'M7.5 9.5a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4ZM2.5 16c.400-2.6 2.4-4 5-4s4.6 1.4 5 4M13 9.5a2.3 2.3 0 1 0-.500-4.5M14.5 12.2c1.7.400 2.8 1.6 3 3.8',
  audit: 'M6 3h8a1 1 0 0 1 1 1v13l-2.5-1.5L10 17l-2.5-1.5L5 17V4a1 1 0 0 1 1-1Zm2 4h4m-4 3h4',
  settings: 'M4 6h7m4 0h1M4 14h1m4 0h7M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  playground: 'M6 4.5v11l9-5.5-9-5.5Z',
  docs: 'M4 4h4.5A1.5 1.5 0 0 1 10 5.5V17a2 2 0 0 0-2-1.5H4V4Zm12 0h-4.5A1.5 1.5 0 0 0 10 5.5V17a2 2 0 0 1 2-1.5h4V4Z',
  menu: 'M3 6h14M3 10h14M3 14h14',
  close: 'm5 5 10 10M15 5 5 15',
  plus: 'M10 4v12M4 10h12',
  copy: 'M7 7h9v9H7V7ZM4 13V4h9',
  check: 'm4 10.5 4 4 8-9',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM10 2v2m0 12v2M2 10h2m12 0h2M4.3 4.3l1.4 1.4m8.6 8.6 1.4 1.4m0-11.4-1.4 1.4m-8.6 8.6-1.4 1.4',
  moon: 'M16 12.5A6.5 6.5 0 0 1 7.5 4a6.5 6.5 0 1 0 8.5 8.5Z',
  system: 'M3 4h14v9H3V4Zm4 13h6m-3-4v4',
  out: 'M8 4H4v12h4m4-9 3 3-3 3m3-3H8',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }) => (
  <svg
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    stroke-width="1.6"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
)

export const Logo = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="var(--accent)" />
    <g fill="none" stroke="var(--on-accent)" stroke-linecap="round">
      <path d="M6 8v16M26 8v16" stroke-width="3" />
      <path
        d="M10 12.5c2-2 4-2 6 0s4 2 6 0M10 18c2-2 4-2 6 0s4 2 6 0M10 23.5c2-2 4-2 6 0s4 2 6 0"
        stroke-width="2.2"
        opacity="0.8"
      />
    </g>
  </svg>
)
