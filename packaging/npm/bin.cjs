#!/usr/bin/env node
// Runs the binary that npm installed for this platform, with this terminal, these words and its exit code.

const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { dirname, join } = require('node:path')

const isMusl = () => process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined

const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`
const found = (() => {
  try {
    const folder = dirname(require.resolve(`sluice-gateway-${name}/package.json`))
    return join(folder, process.platform === 'win32' ? 'sluice.exe' : 'sluice')
  } catch {
    return undefined
  }
})()

if (found === undefined || !existsSync(found)) {
  console.error(
    `sluice-gateway has no binary for ${name} here. Install it again without --no-optional and --omit=optional, online; where there is no build for the platform, build from source.`,
  )
  process.exit(1)
}

const child = spawn(found, process.argv.slice(2), { stdio: 'inherit' })
// Of a terminal's Ctrl-C the child hears by itself: this process only waits for it.
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  console.error(`${found} cannot be started: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (signal === 'SIGILL')
    console.error('This processor lacks what the build needs (AVX2): take the archive linux-x64-baseline.')
  process.exit(code ?? 1)
})
