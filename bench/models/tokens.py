"""Records how the original `tokenizers` package splits texts, as digests that a unit test of ours compares with.

    python bench/models/tokens.py      needs the package `tokenizers`; writes crates/models/src/tokens/wordpiece_reference.json

The package is too large to compile for every test run, and what it answers does not change."""

import hashlib
import itertools
import json
import pathlib

import tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRAGMENTS = ["the", "unaffable", "Walking", "ÄÖÜ", "naïve", "e\u0301\u0323", "中文字", "日本", " ", "  ", "\t", "\n", "\u00a0", "\u200b", "\ufffd", "\0", ".", ",",
             "!?", "—", "’s", "[SEP]", "[CLS", "[[MASK]]", "[unk]", "x1y2", "İ", "ﬁ", "½", "\U0001f600", "ᄒ\u1161\u11ab", "한국어", "ǅ", "ΑΣ", "µ", "٣", "\ufeff", "'", "\""]


def characters():
    """Every character below U+30000, many at a time, each in three places: alone, inside of a word, and before a mark."""
    every = [chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(every), 500):
        yield "".join(f" {each} the{each}un {each}\u0301" for each in every[start:start + 500])


def mixtures(fragments, count=20_000):
    """Fragments put together by a generator that is easy to write again."""
    state = 11

    def draw(below):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % below
    for _ in range(count):
        yield "".join(fragments[draw(len(fragments))] for _ in range(draw(12)))


def long_words():
    for length in (99, 100, 101, 500):
        yield "a" * length
        yield "é" * length


def digests(original, texts, together):
    """One digest for so many texts: of their ids as little-endian numbers."""
    found, hashed = [], hashlib.sha256()
    for number, text in enumerate(texts, 1):
        for token in original.encode(text, add_special_tokens=False).ids:
            hashed.update(token.to_bytes(4, "little"))
        if number % together == 0:
            found.append(hashed.hexdigest()[:12])
            hashed = hashlib.sha256()
    return [*found, hashed.hexdigest()[:12]]


def main():
    original = tokenizers.Tokenizer.from_file(str(ROOT / "models" / "quire-embed-1" / "tokenizer.json"))
    original.no_truncation()
    original.no_padding()
    reference = {"original": f"tokenizers {tokenizers.__version__}", "fragments": FRAGMENTS, "characters": digests(original, characters(), 1),
                 "mixtures": digests(original, itertools.chain(mixtures(FRAGMENTS), long_words()), 100)}
    path = ROOT / "crates" / "models" / "src" / "tokens" / "wordpiece_reference.json"
    path.write_text(json.dumps(reference, ensure_ascii=True, indent=0) + "\n")
    print(f"{len(reference['characters'])} and {len(reference['mixtures'])} digests in {path.name}")


if __name__ == "__main__":
    main()
