#!/usr/bin/env bash
# How long each package takes in a fresh minimal Debian without Rust, from its file to an answered /check: a minute at most.
#
#   bench/packaging/fresh.sh [EXECUTABLE]      target/static/quire if there is one, else target/release/quire
#
# Needs mmdebstrap, root and Debian's archive. The root file system is made once, in target/packaging/; remove debian.tar there for a
# newer one. tests/packaging/run.py builds the packages, installs each in a copy of its own and asks.
set -euo pipefail
cd "$(dirname "$0")/../.."

executable=${1:-target/static/quire}
[ -e "$executable" ] || executable=target/release/quire
make=$([ -e target/packaging/debian.tar ] || echo --debian)
result=$(mktemp)
trap 'rm -f "$result"' EXIT

QUIRE_BINARY=$executable python3 tests/packaging/run.py $make tar deb wheel npm oci | tee "$result"
awk '/installed in/ {
    match($0, /installed in [0-9.]+/); installed = substr($0, RSTART + 13, RLENGTH - 13)
    match($0, /check after [0-9.]+/); answered = substr($0, RSTART + 12, RLENGTH - 12)
    total = installed + answered; tried++
    printf "%-6s %5.1f s together%s\n", $1, total, (total > 60 ? ", too long" : "")
    if (total > 60) late++
} END { exit tried < 5 || late }' "$result"
