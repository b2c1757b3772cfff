#!/usr/bin/env bash
# Runs every fuzz target, one after the other: bench/fuzz/run.sh [SECONDS EACH] [TARGET…]. Needs a nightly toolchain and cargo-fuzz.
# New inputs go to fuzz/found/<target> (not kept in the tree); what breaks a target goes to fuzz/artifacts/<target>.
set -euo pipefail
cd "$(dirname "$0")/../../fuzz"

seconds=${1:-3600}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)

failed=()
for target in "${targets[@]}"; do
    mkdir -p "found/$target" "corpus/$target"
    echo "== $target, $seconds seconds"
    # A slow input is a finding too: the parent would give a file 24 seconds, a request far less.
    cargo +nightly fuzz run --features server "$target" "found/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 2>&1 | tail -n 12 || failed+=("$target")
done
[ ${#failed[@]} -eq 0 ] || { echo "broken: ${failed[*]}"; exit 1; }
