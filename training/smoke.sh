#!/usr/bin/env bash
# Every step of the training on a handful of passages, on two cores, in a few minutes. Needs no GPU and no data but the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${QUIRE_TRAINING_PYTHON:-training/.venv/bin/python}
if ! "$python" -c 'import torch, numpy, safetensors, tokenizers' 2>/dev/null; then
    python=training/.venv/bin/python
    if ! { python3 -m venv training/.venv && "$python" -m pip install --quiet --requirement training/requirements.txt; }; then
        echo "skipped: PyTorch cannot be installed here"
        exit 0
    fi
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} TOKENIZERS_PARALLELISM=false
"$python" training/smoke.py "$folder"
