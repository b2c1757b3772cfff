"""Holds the dependencies to deny.toml without cargo-deny: licences, sources and bans, of everything Cargo.lock names for our targets.

    python3 tests/architecture/dependencies.py      needs cargo

cargo-deny says the same and more (advisories among it), but no registry carries a current build of it and compiling it takes minutes;
./test uses it where it is installed."""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGISTRY = "registry+"


def packages(targets):
    """Every package that is built for one of these targets, by its id."""
    found = {}
    for target in targets:
        line = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1", "--filter-platform", target]
        told = json.loads(subprocess.run(line, cwd=ROOT, check=True, capture_output=True).stdout)
        used = {node["id"] for node in told["resolve"]["nodes"]}
        found |= {package["id"]: package for package in told["packages"] if package["id"] in used}
    return found


def permitted(expression, allowed):
    """Whether a licence expression can be met with the licences allowed. AND binds closer than OR; a slash is an old way to write OR."""
    words = iter(re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR ")))

    def either():
        met, word = every()
        while word == "OR":
            other, word = every()
            met = met or other
        return met, word

    def every():
        met, word = one()
        while word == "AND":
            other, word = one()
            met = met and other
        return met, word

    def one():
        word = next(words)
        if word == "(":
            met, _ = either()
            return met, next(words, None)
        following = next(words, None)
        if following == "WITH":
            word = f"{word} WITH {next(words)}"
            following = next(words, None)
        return word in allowed, following

    return either()[0]


def wrongs(rules):
    allowed = set(rules["licenses"]["allow"])
    banned = {each["name"] for each in rules["bans"]["deny"]}
    for package in packages(rules["graph"]["targets"]).values():
        name = f"{package['name']} {package['version']}"
        ours = package["source"] is None
        if not package["license"]:
            yield f"{name} names no licence"
        elif not permitted(package["license"], allowed):
            yield f"{name} has a licence that is not allowed: {package['license']}"
        if not ours and not package["source"].startswith(REGISTRY):
            yield f"{name} is not from the registry: {package['source']}"
        if package["name"] in banned:
            yield f"{name} is banned"
        if ours:
            yield from (f"{name} takes any version of {each['name']}" for each in package["dependencies"]
                        if each["req"] == "*" and not each.get("path"))


def main():
    assert permitted("MIT OR (Apache-2.0 AND X)", {"MIT"}) and not permitted("MIT AND (X OR Y)", {"MIT"})
    found = list(wrongs(tomllib.loads((ROOT / "deny.toml").read_text())))
    for wrong in found:
        print(f"error: {wrong}", file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
