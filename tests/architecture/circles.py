#!/usr/bin/env python3
"""Fails where rooms of a crate import each other in a circle.

    python3 tests/architecture/circles.py

A room is a file or a folder of modules. The rooms on top of each crate may not stand in a circle; in the crates of DEEP neither may
the rooms within a room. What a folder's mod.rs and its own rooms take from each other is no circle, nor is anything that only
tests import. Reads `use` lines and `crate::…`, `super::…` and `self::…` paths, through re-exports; needs nothing but Python."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEEP = {"engine", "server"}
# Comments, strings and characters, in which nothing is imported.
SILENT = re.compile(r"""//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^\\'])'""", re.S)
OF_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*[^;{]*")
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
PATH = re.compile(r"\b(?:crate|super|self)(?:\s*::\s*\w+)+")


def without_tests(text):
    """Source without comments, strings and what is compiled for tests only."""
    text = SILENT.sub(lambda found: "" if found[0][0] == "/" else '""', text)
    while found := OF_TESTS.search(text):
        # An item ends with its braces or a semicolon; a `use` has braces too and ends with the semicolon after them.
        end, depth = found.end() + 1, int(text[found.end()] == "{")
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if re.search(r"\buse\s", found[0]):
            end = text.index(";", end - 1) + 1
        text = text[: found.start()] + text[end:]
    return text


def names(tree):
    """`a::{b, c::d}` as ["a", "b"] and ["a", "c", "d"]."""
    tree = re.sub(r"\s+as\s+\w+", "", tree.strip())
    head, brace, rest = tree.partition("{")
    head = [name.strip() for name in head.split("::") if name.strip()]
    if not brace:
        yield head
        return
    depth, start = 0, 0
    rest = rest.rstrip()[:-1] + ","
    for at, letter in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if rest[start:at].strip():
                yield from (head + tail for tail in names(rest[start:at]))
            start = at + 1


class Crate:
    """The modules of a crate, by path, and what each imports."""

    def __init__(self, source):
        self.texts, self.exports = {}, {}
        for file in sorted(source.rglob("*.rs")):
            module = file.relative_to(source).with_suffix("").parts
            module = module[:-1] if module[-1] in ("mod", "lib") else module
            if module != ("main",) and module[-1:] != ("tests",):
                self.texts[module] = without_tests(file.read_text())
        for module, text in self.texts.items():
            for public, tree in USE.findall(text):
                for path in names(tree) if public else ():
                    if target := self.absolute(module, path):
                        self.exports[module + (path[-1],)] = target

    def absolute(self, module, path):
        """A path seen from the crate's root; `None` where it leads elsewhere."""
        if path[0] == "crate":
            return tuple(path[1:])
        if path[0] in ("self", "super"):
            up = path.count("super")
            return module[: len(module) - up] + tuple(name for name in path if name not in ("self", "super"))
        return module + tuple(path) if module + (path[0],) in self.texts else None

    def owner(self, path):
        """The module that a path leads to, however it was re-exported."""
        for _ in range(5):
            known = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in self.exports), None)
            path = self.exports[known] + path[len(known) :] if known else path
        while path not in self.texts:
            path = path[:-1]
        return path

    def imports(self):
        """Pairs of modules: the first imports from the second."""
        for module, text in self.texts.items():
            paths = [path for _, tree in USE.findall(text) for path in names(tree)]
            rest = re.sub(r"pub\(in[^)]*\)", "", USE.sub("", text))
            paths += [re.split(r"\s*::\s*", path) for path in PATH.findall(rest)]
            for path in paths:
                if (target := self.absolute(module, path)) is not None:
                    yield module, self.owner(target)


def circle(rooms):
    """Rooms that lead back to their first, if there are any."""
    done = set()

    def walk(room, way):
        if room in way:
            return way[way.index(room) :] + [room]
        if room in done:
            return None
        found = next((found for after in sorted(rooms.get(room, ())) if (found := walk(after, way + [room]))), None)
        done.add(room)
        return found

    return next((found for room in sorted(rooms) if (found := walk(room, []))), None)


def main():
    findings, looked_at = [], 0
    for source in sorted((ROOT / "crates").glob("*/src")):
        name, houses, seen = source.parent.name, {}, {}
        for module, target in Crate(source).imports():
            shared = next((at for at, (one, other) in enumerate(zip(module, target)) if one != other), None)
            if shared is not None and (shared == 0 or name in DEEP):
                house, pair = module[:shared], (module[shared], target[shared])
                houses.setdefault(house, {}).setdefault(pair[0], set()).add(pair[1])
                seen.setdefault((house, *pair), f"    {'/'.join(module)} imports {'/'.join(target)}")
                looked_at += 1
        for house, rooms in sorted(houses.items()):
            if way := circle(rooms):
                findings.append(f"{'/'.join((name, *house))}: {' → '.join(way)}")
                findings += [seen[house, *pair] for pair in zip(way, way[1:])]
    print("\n".join(findings) or f"no room imports itself in a circle ({looked_at} imports between rooms)")
    # Fewer would mean that this script no longer understands the source.
    sys.exit(1 if findings or looked_at < 500 else 0)


if __name__ == "__main__":
    main()
