#!/usr/bin/env bash
# Builds the executable for a release, statically linked with musl, into target/static/quire.
#
# Installs what is missing: Debian's musl-tools, which compile the C parts (SQLite, ring, the allocator), and Rust's musl target.
#
#   packaging/static.sh            with musl: runs on every Linux
#   packaging/static.sh --glibc    with glibc, where musl cannot be had. It still opens glibc's shared libraries to look up host names
#                                  in unusual ways (LDAP, mDNS); files and DNS work.
set -euo pipefail
cd "$(dirname "$0")/.."
. ./.ci/steps

need_rust
need_compiler
machine=$(uname -m)
output=${CARGO_TARGET_DIR:-target}
if [ "${1:-}" = --glibc ]; then
    target=$machine-unknown-linux-gnu
else
    target=$machine-unknown-linux-musl
    command -v musl-gcc >/dev/null || debian musl-tools || missing "the C parts are compiled by musl-gcc: install musl-tools, or use --glibc"
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
        command -v rustup >/dev/null || missing "Rust has no $target here: install that target, or use --glibc"
        rustup target add "$target"
    fi
fi

step "Building quire for $target, statically linked"
# --target keeps the flag away from build scripts and procedural macros, which cannot be static.
RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked -p server --target "$target"

mkdir -p "$output/static"
strip -o "$output/static/quire" "$output/$target/release/quire"
if readelf --program-headers "$output/static/quire" | grep -q INTERP; then
    missing "$output/static/quire still needs shared libraries"
fi
ls -l "$output/static/quire"
