#!/usr/bin/env bash
# Every step of the training on a handful of passages, on two cores, in a few minutes. Needs no GPU and no data but the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
. ./.ci/steps
python=${QUIRE_TRAINING_PYTHON:-target/training/bin/python}
ready() { "$python" -c 'import torch, numpy, safetensors, tokenizers, Stemmer' 2>/dev/null; }
if ! ready; then
    python=target/training/bin/python
    # Debian's PyTorch is a twentieth of the registry's, which brings the libraries of a GPU along.
    debian python3-torch python3-numpy python3-venv libopenblas0-pthread || true
    if /usr/bin/python3 -c 'import torch' 2>/dev/null; then
        /usr/bin/python3 -m venv --system-site-packages target/training
        "$python" -m pip install --quiet safetensors tokenizers PyStemmer || true
    else
        python3 -m venv target/training && "$python" -m pip install --quiet --requirement training/requirements.txt || true
    fi
fi
if ! ready; then
    echo "skipped: PyTorch cannot be installed here"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} TOKENIZERS_PARALLELISM=false
"$python" training/smoke.py "$folder"
