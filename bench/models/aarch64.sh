#!/usr/bin/env bash
# Builds the models crate for aarch64 and runs its tests there, in an emulator: the portable path must build and pass.
set -euo pipefail
cd "$(dirname "$0")/../.."
. ./.ci/steps
debian gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
rustup target add aarch64-unknown-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
cargo test --locked -p models --target aarch64-unknown-linux-gnu "$@"
