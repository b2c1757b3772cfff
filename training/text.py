"""Words, keyword versions of questions, and chunks: what data and evaluation share. Needs nothing but the standard library
and, to build data, PyStemmer and tokenizers."""
import gzip
import json
import random
import re
import unicodedata

STOP_WORDS = set(
    "a an the of in on at to for from by with and or is are was were be been being do does did how what when where which who "
    "whom whose why that this these those it its as into about can could would should will shall may might must has have had "
    "not no if then than there their they them he she his her you your we our i my me us any all some such there's what's "
    "called name kind type many much".split()
)
STEMMERS = {"en": "english", "de": "german", "es": "spanish"}
CHUNK_TOKENS = 200  # what crates/engine cuts documents into


def read_lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_lines(path, lines):
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=6) as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def fold(word):
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def words(text, language="en"):
    """The words of a text, unstemmed; Chinese by overlapping pairs of characters."""
    if language == "zh":
        found = []
        for run in re.findall(r"[\u3400-\u9fff]+|[a-z0-9]+", text.lower()):
            pairs = len(run) > 1 and run[0] >= "\u3400"
            found += [run[at:at + 2] for at in range(len(run) - 1)] if pairs else [run]
        return found
    return re.findall(r"\w+", text.lower())


def stems(texts, language):
    """Each word of the texts with the term it is found by."""
    import Stemmer

    found = {word for text in texts for word in words(text, language)}
    if language not in STEMMERS:
        return {word: fold(word) for word in found}
    stemmer = Stemmer.Stemmer(STEMMERS[language])
    before = fold if language == "en" else (lambda word: word)
    plain = lambda word: word if any(c.isdigit() for c in word) else stemmer.stemWord(before(word))
    return {word: fold(plain(word)) for word in found}


def keywords(text, rng):
    """Two to five words of a question, as people type them into a search box; nothing where it has too few."""
    kept = [w.rstrip(".") for w in re.findall(r"[^\W_][\w'\-.]*", text) if w.lower().rstrip(".") not in STOP_WORDS]
    if len(kept) < 3:
        return None
    count = rng.randint(2, 5)
    if len(kept) > count:
        kept = [kept[at] for at in sorted(rng.sample(range(len(kept)), count))]
    joined = " ".join(kept)
    return joined.lower() if rng.random() < 0.7 else joined


def sentences(text):
    return [part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]


def chunks(text, count_tokens, most=CHUNK_TOKENS):
    """Whole sentences, up to `most` tokens together; a longer one is cut by words."""
    pieces = []
    for sentence in sentences(text):
        if count_tokens(sentence) <= most:
            pieces.append(sentence)
            continue
        parts = sentence.split()
        step = max(1, most * len(parts) // (count_tokens(sentence) + 1))
        pieces += [" ".join(parts[at:at + step]) for at in range(0, len(parts), step)] or [sentence]
    found, taken = [[]], 0
    for piece in pieces:
        size = count_tokens(piece)
        if found[-1] and taken + size > most:
            found.append([])
            taken = 0
        found[-1].append(piece)
        taken += size
    return ["\n".join(part) for part in found if part] or [text]


def keyword_queries(queries, seed):
    """A keyword version of each query that has one, with its place."""
    rng = random.Random(seed)
    made = [(at, keywords(query, rng)) for at, query in enumerate(queries)]
    return [(at, query) for at, query in made if query]
