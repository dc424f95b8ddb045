// What a browser is, by what it calls itself: names people know, or its own first word.

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  // Each calls itself what those below do, too.
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

export const deviceOf = (agent: string | null): string => {
  if (agent === null || agent.trim() === '') return 'Unknown browser'
  const named = (names: typeof BROWSERS): string | undefined => names.find(([pattern]) => pattern.test(agent))?.[1]
  const browser = named(BROWSERS) ?? agent.trim().split(/[\s/]/, 1)[0]
  const system = named(SYSTEMS)
  return system === undefined ? `${browser}` : `${browser} on ${system}`
}
