# The verbs of everyday work; `just` lists them.

default:
    @just --list

# Everything CI runs
test:
    ./test

# Only the fast checks
check:
    cargo fmt --check && cargo clippy --workspace --all-targets -- -D warnings

# Write the OpenAPI document that the golden test compares with
openapi:
    cargo run -q -p server -- openapi > docs/openapi.json

# Try quire
run:
    ./run
