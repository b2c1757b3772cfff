#!/usr/bin/env bash
# Counts, in an emulator, the instructions that an embedder takes on 64-bit ARM for a text of 12 and one of 200 tokens, on each path:
# instructions.sh [MODEL...]
set -euo pipefail
cd "$(dirname "$0")/../.."
. ./.ci/steps
. bench/models/aarch64
need_compiler
built=${CARGO_TARGET_DIR:-target}
cargo build --locked -p models --release --example measure --target "$ARM"
measure=$built/$ARM/release/examples/measure
plugin=$built/instructions.so
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for version in 1 2 3 4 5 none; do
    [ $version != none ] || missing "this QEMU takes no plugin of a version that we know"
    cc -O2 -Wall -shared -fPIC "-DVERSION=$version" -o "$plugin" bench/models/instructions.c
    ! emulate -plugin "$plugin" "$measure" 2>/dev/null || break
done

# Ten tokens, with those at both ends twelve; and 198, two hundred.
sentence="how long is the notice period during the trial ?"
short=$sentence long=""
for _ in {1..19}; do long+="$sentence "; done
long+="how long is the notice period during the"

# Each text twice, as the first one also makes room: a line a text.
asked() { printf '{"texts": ["%s"]}\n' "$short" "$short" "$long" "$long"; }

[ $# -ne 0 ] || set -- quire-embed-1 quire-embed-2
printf '%-14s %-9s %17s %17s\n' model path "12 tokens" "200 tokens"
for model in "$@"; do
    base=()
    for path in portable dotprod i8mm; do
        asked | emulate -plugin "$plugin" -d plugin -D "$log" "$measure" embedder "models/$model" "$path" 1 >/dev/null
        # The lines are: loaded, short, short again, long, long again.
        mapfile -t counts < <(sed -n '3p;5p' "$log")
        [ $path != portable ] || base=("${counts[@]}")
        awk -v model="$model" -v path="$path" -v a="${counts[0]}" -v b="${counts[1]}" -v p="${base[0]}" -v q="${base[1]}" \
            'BEGIN { printf "%-14s %-9s %9.1f M x%4.2f %9.1f M x%4.2f\n", model, path, a / 1e6, p / a, b / 1e6, q / b }'
    done
done
