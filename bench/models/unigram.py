"""Records how the original `tokenizers` package cuts texts of many languages, as digests that a unit test of ours compares with.

    python bench/models/unigram.py     needs the package `tokenizers`; writes crates/models/src/tokens/unigram_reference.json

The normal form before it (replaced characters, NFC) is Python's own."""

import json
import pathlib
import sys

import tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "models"), str(ROOT / "training")]
import vocabulary  # noqa: E402
from tokens import digests, mixtures  # noqa: E402

FRAGMENTS = ["the", "unaffable", "Walking", "ÄÖÜ", "naïve", "e\u0301", "o\u0302\u0323", "中文字", "日本語", "東京都の人口", " ", "  ", "\t", "\n", "\u00a0",
             "\u3000", "\u200b", "\ufffd", ".", ",", "!?", "—", "’s", "</s>", "<mask>", "x1y2", "İ", "ﬁ", "½", "\U0001f600", "ᄒ\u1161\u11ab", "한국어", "ǅ",
             "ΑΣ", "µ", "٣", "\ufeff", "'", "\"", "Сколько людей", "ёж", "ما هي", "عاصمة", "भारत की", "राजधानी", "กรุงเทพมหานคร", "Việt Nam", "ｶﾞｷﾞ", "①",
             "¿Cuántos puntos", "dejaron", "Straßenbahn", "ĳ", "שלום", "\u0378", "\U00020000", "𝒜", "㌔", "Ⅳ", "ﷺ", "…", "10,5", "a"]


class Original:
    """What `digests` asks for."""

    def __init__(self):
        self.model = vocabulary.Original(ROOT / "models" / "quire-multi-1" / "vocabulary.unigram")

    def encode(self, text, add_special_tokens=False):
        self.ids = self.model.encode(text)
        return self


def characters():
    """Every character below U+30000, alone and inside of a word. Not before a mark: which marks swap places changes with Unicode's version."""
    every = [chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(every), 500):
        yield "".join(f" {each} the{each}un" for each in every[start:start + 500])


def main():
    original = Original()
    reference = {"original": f"tokenizers {tokenizers.__version__}", "fragments": FRAGMENTS, "characters": digests(original, characters(), 1),
                 "mixtures": digests(original, mixtures(FRAGMENTS), 100)}
    path = ROOT / "crates" / "models" / "src" / "tokens" / "unigram_reference.json"
    path.write_text(json.dumps(reference, ensure_ascii=True, indent=0) + "\n")
    print(f"{len(reference['characters'])} and {len(reference['mixtures'])} digests in {path.name}")


main()
