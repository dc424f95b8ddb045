// The Homebrew formula of a release.

import manifest from '../../package.json' with { type: 'json' }

/** Of each archive: the name of its target, and its SHA-256. `releases`: the address of the folder that they lie in. */
export const formula = (releases: string, sums: ReadonlyMap<string, string>): string => {
  const { version } = manifest
  const source = (target: string): string[] => [
    `url "${releases}/sluice-${version}-${target}.tar.xz"`,
    `sha256 "${sums.get(target) ?? ''}"`,
  ]
  const forCpus = (system: string, arm: string, intel: string): string[] => [
    `  on_${system} do`,
    '    on_arm do',
    ...source(arm).map((line) => `      ${line}`),
    '    end',
    '    on_intel do',
    ...source(intel).map((line) => `      ${line}`),
    '    end',
    '  end',
  ]
  return [
    'class Sluice < Formula',
    '  desc "LLM gateway in one file"',
    `  homepage "${releases}"`,
    `  version "${version}"`,
    '  license "Apache-2.0"',
    '',
    ...forCpus('macos', 'darwin-arm64', 'darwin-x64'),
    '',
    ...forCpus('linux', 'linux-arm64', 'linux-x64'),
    '',
    '  def install',
    '    bin.install "sluice"',
    '    man1.install "sluice.1"',
    '    bash_completion.install "completions/sluice.bash" => "sluice"',
    '    zsh_completion.install "completions/_sluice"',
    '    fish_completion.install "completions/sluice.fish"',
    '  end',
    '',
    '  service do',
    '    run [opt_bin/"sluice", "serve", "--data", var/"sluice"]',
    '    keep_alive true',
    '  end',
    '',
    '  test do',
    '    assert_match version.to_s, shell_output("#{bin}/sluice version")',
    '  end',
    'end',
    '',
  ].join('\n')
}
