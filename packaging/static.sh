#!/usr/bin/env bash
# Builds the executable for a release, statically linked, into target/static/quire.
#
# With musl where that target is installed (rustup target add x86_64-unknown-linux-musl, and musl-tools for the C parts), else with
# glibc. A static glibc still opens its shared libraries to look up host names in unusual ways (LDAP, mDNS); files and DNS work.
set -euo pipefail
cd "$(dirname "$0")/.."
. ./.ci/steps

need_rust
need_compiler
machine=$(uname -m)
target=$machine-unknown-linux-gnu
if command -v musl-gcc >/dev/null && [ -d "$(rustc --print sysroot)/lib/rustlib/$machine-unknown-linux-musl" ]; then
    target=$machine-unknown-linux-musl
fi

step "Building quire for $target, statically linked"
# --target keeps the flag away from build scripts and procedural macros, which cannot be static.
RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked -p server --target "$target"

mkdir -p target/static
strip -o target/static/quire "target/$target/release/quire"
if readelf --program-headers target/static/quire | grep -q INTERP; then
    missing "target/static/quire still needs shared libraries"
fi
ls -l target/static/quire
