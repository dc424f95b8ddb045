// Light, dark, or as the system has it: kept in this browser.

import { computed, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const NAME = 'sluice-theme'
const dark = matchMedia('(prefers-color-scheme: dark)')
const systemDark = signal(dark.matches)
dark.addEventListener('change', ({ matches }) => {
  systemDark.value = matches
})

const read = (): Theme => {
  const chosen = document.documentElement.dataset.theme
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

export const theme = signal<Theme>(read())
/** What is on screen now; charts are drawn again when it changes. */
export const isDark = computed(() => (theme.value === 'system' ? systemDark.value : theme.value === 'dark'))

export const setTheme = (chosen: Theme): void => {
  theme.value = chosen
  if (chosen === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
  try {
    if (chosen === 'system') localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, chosen)
  } catch {
    // Not kept then.
  }
}
