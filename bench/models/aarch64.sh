#!/usr/bin/env bash
# Builds the models crate for 64-bit ARM and runs its tests there, in an emulator. ARM_PROCESSOR names the processor, so that every path
# can be the best one: max (I8MM), neoverse-n1 (dot products) or cortex-a72 (neither).
set -euo pipefail
cd "$(dirname "$0")/../.."
. ./.ci/steps
. bench/models/aarch64
cargo test --locked -p models --target "$ARM" "$@"
