#!/usr/bin/env bash
# From the data to the shipped cross-encoders: training/all.sh W STEP…, the steps in the order they stand here.
# One GPU, about twenty-five minutes of an H200. models/quire-embed-1 is scored as it is.
set -euo pipefail
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
run() {
    echo "== $*"
    "${PYTHON:-python}" "$@"
}

# DATA holds training/ and quality/, MINILM all-MiniLM-L6-v2 and MPNET all-mpnet-base-v2, each with model.safetensors.
prepare() {
    run prepare.py "$MINILM" "$work/start"
    run prepare_teacher.py "$MPNET" "$work/teacher.st"
    run build_data.py "$DATA" "$MINILM" "$work"
}
data() {
    run vary.py "$work"
    run mine.py "$work" "$work/start"
}
# Instead of `data`: with long questions, piles of words and misspelt ones.
long_data() {
    run vary.py "$work"
    run lengthen.py "$work"
    run mine.py "$work" "$work/start"
}
stages() {
    run score.py "$work" "$work/start" ../models/quire-embed-1 "$work/staged_v" --purpose validation
    run score.py "$work" "$work/start" ../models/quire-embed-1 "$work/staged_t" --purpose test
}
teacher() {
    run train_cross.py "$work" "$work/teacher.st" "$work/teacher_v.st" --leave-out validation --list 8 --rate 4e-5 --steps 1300
    run teach.py "$work" "$work/start" "$work/teacher_v.st" "$work/taught.npz" --list 10
}
# Not needed for the others: an embedder like the one that ships, half-way between MiniLM and what the teacher makes of it.
embedder() {
    run train_late.py "$work" "$work/start" "$work/taught.npz" "$work/late_v.st" --leave-out validation --steps 1040
    run mix.py "$work/start" "$work/late_v.st" "$work/late_m.st"
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
        --seed "${SEED:-2}" --steps 4400
    run quantize.py "$work/cross_${SEED:-2}.st" "$work/cross_q${SEED:-2}.st"
    run read.py "$work" "$work/start" "$work/cross_q${SEED:-2}.st" "$work/staged_t" "$work/scores_t${SEED:-2}"
    run report.py "$work/scores_t${SEED:-2}"
}
# Tried, and not shipped (MODEL_CARD.md). After long_data and teacher: a student of twelve layers, from the gte-small in GTE.
deeper() {
    run prepare.py "$GTE" "$work/deep"
    run train_cross.py "$work" "$work/deep" "$work/deep_v.st" --taught "$work/taught.npz" --versions "$work/start" \
        --leave-out validation --steps 2871
    run train_cross.py "$work" "$work/deep" "$work/deep_2.st" --taught "$work/taught.npz" --versions "$work/start" \
        --init "$work/deep_v.st" --rate 6e-5 --seed 2 --steps 5613
}
# quire-rerank-2. After long_data: quire-rerank-1 as its own teacher, for questions asked at length.
longer() {
    run prepare.py ../models/quire-rerank-1 "$work/rerank"
    run teach.py "$work" "$work/start" "$work/rerank/start.safetensors" "$work/taught_long.npz" --list 10 --sure
    run train_cross.py "$work" "$work/start" "$work/long.st" --taught "$work/taught_long.npz" --versions "$work/start" \
        --init "$work/rerank/start.safetensors" --rate 3e-5 --seed 2 --steps 2368
    run export.py "$work/start" - "$work/long.st" ../models 2 1
}
# What ships, in 8 bits; and the constants of crates/engine/src/search/calibrate.rs.
export_models() {
    run export.py "$work/start" ../models/quire-embed-1 "$work/cross_2.st" ../models
    run calibrate.py "$work/scores_v" "$work/scores_t2"
    mkdir -p "$work/scores_all"
    cp "$work"/scores_v/*.npz "$work"/scores_t2/*.npz "$work/scores_all"
    rm -f "$work"/scores_all/xquad-{de,en,es}.npz
    run calibrate.py "$work/scores_all" --draw ../docs/calibration.svg
}

# The answer picker: a teacher as large as the cross-encoder's, then a student of it that starts from the cross-encoder that ships, to be
# judged, and the same with the judged sets too, to ship. SETS holds the sets with marked answers (README.md).
picker() {
    [ -f "$work/teacher.st" ] || run prepare_teacher.py "$MPNET" "$work/teacher.st"
    run pick_data.py "$SETS" "$DATA" "$work"
    run train_pick.py "$work" ../models/quire-rerank-2 "$work/pick_teacher.st" --teacher "$work/teacher.st" --rate 4e-5 --steps 1356
    run teach_pick.py "$work" ../models/quire-rerank-2 "$work/pick_teacher.st" "$work/picks_taught.npz"
    student() { run train_pick.py "$work" ../models/quire-rerank-2 "$1" --taught "$work/picks_taught.npz" --share 1 --rate 1e-4 "${@:2}"; }
    student "$work/quire-pick-judged" --steps 4607
    student ../models/quire-pick-2 --steps 4646 --all
}
# The one before, without a teacher.
untaught_picker() {
    [ -f "$work/picks.json.xz" ] || run pick_data.py "$SETS" "$DATA" "$work"
    run train_pick.py "$work" ../models/quire-rerank-1 "$work/quire-pick-1" --judge-start --steps 3239
}
# The one for other languages, from the embedder of a hundred languages; after pick_data.py.
multilingual_picker() {
    [ -f "$work/picks.json.xz" ] || run pick_data.py "$SETS" "$DATA" "$work"
    run train_pick.py "$work" ../models/quire-multi-1 ../models/quire-pick-multi-1 --many --share 1 --rate 1.2e-4 --steps 4000
}
# A cross-encoder for other languages, judged beside late interaction alone.
# HELP: usr/share/libreoffice/help of Debian's unpacked packages libreoffice-help-*.
multilingual_embedder() {
    run multi_cross.py data "$SETS" "$DATA" "$work"
    run parallel.py "$HELP" "$work"
    for folder in "$work" "$work/other"; do mkdir -p "$folder" && ln -sfn "$(cd ../models && pwd)/quire-multi-1" "$folder/quire-multi-1"; done
    teach() { run train_multi.py "$work" ../models/quire-multi-1 "$@"; }
    teach "$work/one" --seconds 420 --labels 0.6 --rate 1.5e-4
    teach "$work/other/one" --seconds 420 --labels 0.2 --rate 2.5e-4
    teach "$work/two" --init "$work/one" --seconds 400 --labels 0.8 --rate 1.2e-4 --seed 2
    teach "$work/other/two" --init "$work/other/one" --seconds 380 --labels 0.4 --rate 2e-4 --seed 3
    run average.py "$work" ../models/quire-multi-1 "$work/quire-multi-2" "$work/one" "$work/other/one" "$work/two" "$work/other/two"
}
multilingual_cross() {
    run multi_cross.py data "$SETS" "$DATA" "$work"
    run multi_cross.py train "$work" ../models/quire-multi-1 "$work/quire-rerank-multi-1" --init ../models/quire-pick-multi-1 --rate 6e-5 --seconds 270
}
# Tried, and not shipped: twelve layers for English, from the embedder of new boxes.
deeper_picker() {
    [ -f "$work/picks.json.xz" ] || run pick_data.py "$SETS" "$DATA" "$work"
    run train_pick.py "$work" ../models/quire-embed-2 "$work/quire-pick-2" --share 1 --rate 1e-4 --steps 3500
}

for step in "$@"; do "$step"; done
