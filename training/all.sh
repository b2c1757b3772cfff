#!/usr/bin/env bash
# From the data to the shipped cross-encoder, step by step: training/all.sh W STEP…; training/README.md says what W holds.
# One GPU, about twenty minutes of an H200. The embedder is not trained anew: models/quire-embed-1 is scored as it is.
set -euo pipefail
cd "$(dirname "$0")"
work=$1
shift
run() {
    echo "== $*"
    "${PYTHON:-python}" "$@"
}

data() {
    run vary.py "$work"
    run mine.py "$work" "$work/start"
}
stages() {
    run score.py "$work" "$work/start" ../models/quire-embed-1 "$work/staged_v" --purpose validation
    run score.py "$work" "$work/start" ../models/quire-embed-1 "$work/staged_t" --purpose test
}
teacher() {
    run train_cross.py "$work" "$work/teacher.st" "$work/teacher_v.st" --leave-out validation --list 8 --rate 4e-5 --steps "${TEACHER_STEPS:-2000}"
    run teach.py "$work" "$work/start" "$work/teacher_v.st" "$work/taught.npz" --list 10
}
# To choose by: never saw the validation domains.
choosing() {
    run train_cross.py "$work" "$work/start" "$work/cross_v.st" --taught "$work/taught.npz" --leave-out validation --steps 2776
    run read.py "$work" "$work/start" "$work/cross_v.st" "$work/staged_v" "$work/scores_v"
    run choose.py "$work/scores_v"
}
# To ship: everything but the test domains. SEED=3 gives another one.
shipping() {
    run train_cross.py "$work" "$work/start" "$work/cross_${SEED:-2}.st" --taught "$work/taught.npz" --init "$work/cross_v.st" --rate 6e-5 \
        --seed "${SEED:-2}" --steps 5219
    run quantize.py "$work/cross_${SEED:-2}.st" "$work/cross_q${SEED:-2}.st"
    run read.py "$work" "$work/start" "$work/cross_q${SEED:-2}.st" "$work/staged_t" "$work/scores_t${SEED:-2}"
    run report.py "$work/scores_t${SEED:-2}"
}

for step in "$@"; do "$step"; done
