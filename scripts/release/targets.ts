// What a release is built for: the name in its files, the compiler's target, and how npm tells the platform.

export type Target = {
  name: string
  compiler: string
  /** `os`, `cpu` and `libc` of the npm package; none for a build that only an archive has. */
  npm?: { os: string; cpu: string; libc?: string }
}

export const TARGETS: readonly Target[] = [
  { name: 'linux-x64', compiler: 'bun-linux-x64', npm: { os: 'linux', cpu: 'x64', libc: 'glibc' } },
  { name: 'linux-x64-baseline', compiler: 'bun-linux-x64-baseline' },
  { name: 'linux-arm64', compiler: 'bun-linux-arm64', npm: { os: 'linux', cpu: 'arm64', libc: 'glibc' } },
  { name: 'linux-x64-musl', compiler: 'bun-linux-x64-musl', npm: { os: 'linux', cpu: 'x64', libc: 'musl' } },
  { name: 'linux-arm64-musl', compiler: 'bun-linux-arm64-musl', npm: { os: 'linux', cpu: 'arm64', libc: 'musl' } },
  { name: 'darwin-x64', compiler: 'bun-darwin-x64', npm: { os: 'darwin', cpu: 'x64' } },
  { name: 'darwin-arm64', compiler: 'bun-darwin-arm64', npm: { os: 'darwin', cpu: 'arm64' } },
  { name: 'windows-x64', compiler: 'bun-windows-x64', npm: { os: 'win32', cpu: 'x64' } },
  { name: 'windows-arm64', compiler: 'bun-windows-arm64', npm: { os: 'win32', cpu: 'arm64' } },
]

export const isWindows = ({ name }: Target): boolean => name.startsWith('windows')

/** The binary's name within its archive. */
export const binaryOf = (target: Target): string => (isWindows(target) ? 'sluice.exe' : 'sluice')
