#!/bin/sh
# Installs sluice __VERSION__ for whoever runs this: fetches the archive for this machine, verifies its checksum, puts the
# binary into ~/.local/bin (SLUICE_INSTALL names another folder). Root is not needed.
set -eu

releases=${SLUICE_RELEASES:-__RELEASES__}
version=__VERSION__
into=${SLUICE_INSTALL:-$HOME/.local/bin}

fail() {
  echo "$1" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

case $(uname -m) in
  x86_64 | amd64) cpu=x64 ;;
  aarch64 | arm64) cpu=arm64 ;;
  *) fail "There is no build for $(uname -m). Build from source: npx -y bun@__BUN__ run build" ;;
esac
case $(uname -s) in
  Linux)
    target=linux-$cpu
    if [ -e /lib/ld-musl-x86_64.so.1 ] || [ -e /lib/ld-musl-aarch64.so.1 ]; then
      # Debian has musl's loader beside its own, too.
      [ -e /lib64/ld-linux-x86-64.so.2 ] || [ -e /lib/ld-linux-aarch64.so.1 ] || target=$target-musl
    fi
    if [ "$target" = linux-x64 ] && ! grep -q avx2 /proc/cpuinfo; then target=linux-x64-baseline; fi
    ;;
  Darwin)
    # A shell under Rosetta says x86_64 on a machine that is not.
    if [ "$(sysctl -n hw.optional.arm64 2>/dev/null || true)" = 1 ]; then cpu=arm64; fi
    target=darwin-$cpu
    ;;
  *) fail "For $(uname -s) there is no build that this script installs. On Windows run install.ps1." ;;
esac

has tar || fail "tar is missing: install it, then run this again."
has xz || [ "$(uname -s)" = Darwin ] || fail "xz is missing, which unpacks the archive: install it (package xz-utils or xz), then run this again."
if has curl; then
  fetch() { curl -fsSL --retry 3 -o "$2" "$1"; }
elif has wget; then
  fetch() { wget -q -O "$2" "$1"; }
else
  fail "curl or wget is needed: install one of them, then run this again."
fi
if has sha256sum; then
  sum() { sha256sum "$1"; }
elif has shasum; then
  sum() { shasum -a 256 "$1"; }
else
  fail "sha256sum or shasum is needed to verify the download: install one of them, then run this again."
fi

name=sluice-$version-$target
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
fetch "$releases/$name.tar.xz" "$folder/$name.tar.xz" || fail "$releases/$name.tar.xz cannot be fetched. Check the network and the proxy variables, then run this again."
fetch "$releases/SHA256SUMS" "$folder/SHA256SUMS" || fail "$releases/SHA256SUMS cannot be fetched. Nothing is installed."
expected=$(grep "  $name.tar.xz\$" "$folder/SHA256SUMS" | cut -d ' ' -f 1)
found=$(sum "$folder/$name.tar.xz" | cut -d ' ' -f 1)
[ -n "$expected" ] || fail "SHA256SUMS does not name $name.tar.xz. Nothing is installed."
[ "$expected" = "$found" ] || fail "The checksum of $name.tar.xz is wrong: expected $expected, found $found. Nothing is installed."

tar -xJf "$folder/$name.tar.xz" -C "$folder"
mkdir -p "$into"
# Put in place in one step: a server that runs keeps its file.
cp "$folder/$name/sluice" "$into/.sluice-new"
chmod 755 "$into/.sluice-new"
mv -f "$into/.sluice-new" "$into/sluice"
"$into/sluice" version >/dev/null || fail "$into/sluice does not run on this machine. Please report what it says: $into/sluice version"

echo "sluice $version is installed: $into/sluice"
case :$PATH: in
  *:"$into":*) echo "Try it: sluice demo" ;;
  *) echo "Put the folder on your PATH (export PATH=\"$into:\$PATH\"), then try it: sluice demo" ;;
esac
