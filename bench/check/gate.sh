#!/usr/bin/env bash
# What do the key check, the role check and the limit check cost together, without the network?
cd "$(dirname "$0")/../.." && cargo run --release -q -p server --example gate
