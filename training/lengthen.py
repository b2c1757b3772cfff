"""Adds what people ask at length: descriptions of what is looked for, as queries of their own; and of many questions a version between
other sentences, in a pile of words, or misspelt.

Usage: python training/lengthen.py WORK
After vary.py. Descriptions go into WORK/queries.jsonl.gz, what is left of their passages into WORK/passages.jsonl.gz; a second run
adds none. Versions go into WORK/versions.jsonl.gz, each with the place of its question: they keep the question's passages and what the
teacher said of them, so that the student learns to find the question in the text around it.
"""
import random
import re
import sys

import build_data
import text

DESCRIBED, VERSIONS = 0.14, 0.5  # of the passages, of the questions
FEWEST, MOST = 30, 150  # words
KIND = "description"
SAID = (
    "Hi all,", "Good morning,", "Sorry if this was asked before.", "Not sure where this belongs.", "Quick question for whoever knows.",
    "I am writing on behalf of our team.", "We are trying to sort this out before the next release.",
    "My notes from the workshop are incomplete.",
    "The person who used to know has left.", "I searched for an hour and found only outdated pages.", "This came up in a review today.",
    "For context, I am no expert in this field.", "Here is what I understood so far.", "Any pointer is welcome.", "Thanks a lot!",
    "Please include the source if you can.", "I only need the relevant part.", "Two people told me two different things about this.",
    "It is for a summary that I have to hand in.", "Maybe I am using the wrong words for it.", "I remember reading it once.",
)


def count(words):
    return len(words.split())


def described(passage, rng):
    """Some sentences of a passage and the rest of it; nothing where it is too short."""
    parts = text.sentences(passage)
    if len(parts) < 4:
        return None
    wanted, taken = rng.randint(FEWEST, MOST), []
    for at in rng.sample(range(len(parts)), len(parts) // 2):
        if sum(count(parts[one]) for one in taken) + count(parts[at]) <= wanted:
            taken.append(at)
    query = " ".join(parts[at] for at in sorted(taken))
    rest = " ".join(part for at, part in enumerate(parts) if at not in taken)
    return (query, rest) if count(query) >= FEWEST and count(rest) >= 20 else None


def surrounded(question, near, rng):
    """The question between phrases and sentences of passages that do not answer it."""
    wanted = rng.randint(max(FEWEST, count(question) + 10), max(MOST, count(question) + 20))
    others = [part for passage in near for part in text.sentences(passage) if count(part) <= 40 and not part.endswith("?")]
    borrowed = rng.choice((0.0, 0.2, 0.5)) if others else 0.0
    parts = [question.strip()]
    for _ in range(30):
        left = wanted - sum(map(count, parts))
        if left < 3:
            break
        sentence = rng.choice(others) if rng.random() < borrowed else rng.choice(SAID)
        if count(sentence) <= left and sentence not in parts:
            parts.insert(rng.choice((0, len(parts))), sentence)
    return " ".join(parts)


def piled(question, passage, rng):
    """Words of the question and of what answers it, in no order."""
    kept = lambda one: [w.lower() for w in re.findall(r"[^\W\d_][\w'-]+", one) if w.lower() not in text.STOP_WORDS]
    own, others = kept(question), sorted(set(kept(passage)))
    pile = list(dict.fromkeys(own + rng.sample(others, min(len(others), rng.randint(0, 10)))))
    rng.shuffle(pile)
    return " ".join(pile)


def misspelt(question, rng):
    """A letter left out, doubled or exchanged with the next in one or two words; sometimes without case and marks."""
    words = question.split()
    long = [at for at, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    for at in rng.sample(long, min(len(long), rng.randint(1, 2))):
        word, place = words[at], rng.randrange(1, len(words[at]) - 1)
        words[at] = rng.choice((word[:place] + word[place + 1:], word[:place] + word[place] + word[place:],
                                word[:place] + word[place + 1] + word[place] + word[place + 2:]))
    said = " ".join(words)
    return said.lower().rstrip("?!. ") if rng.random() < 0.5 else said


def version(query, near, passages, rng):
    how = rng.random()
    if how < 0.55 and query["kind"] in ("q", "title", "stmt"):
        return surrounded(query["query"], near, rng)
    if how < 0.75:
        return piled(query["query"], passages[query["positives"][0]]["text"], rng)
    return misspelt(query["query"], rng)


def main():
    work, rng = sys.argv[1], random.Random(23)
    passages, queries = text.read_lines(f"{work}/passages.jsonl.gz"), text.read_lines(f"{work}/queries.jsonl.gz")
    if not any(query["kind"] == KIND for query in queries):
        for at in range(len(passages)):
            passage, domain = passages[at], passages[at]["domain"]
            left_out = domain in build_data.TEST + build_data.SCOPED or "taken_from" in passage or domain.startswith("xq")
            made = None if left_out or rng.random() >= DESCRIBED else described(passage["text"], rng)
            if made:
                queries.append({"domain": domain, "kind": KIND, "query": made[0], "positives": [len(passages)], "negatives": [],
                                "scoped": False, "but_not": at})
                passages.append({"domain": domain, "text": made[1], "taken_from": at})
        text.write_lines(f"{work}/passages.jsonl.gz", passages)
        text.write_lines(f"{work}/queries.jsonl.gz", queries)
    by_domain, versions = {}, []
    for passage in passages:
        by_domain.setdefault(passage["domain"], []).append(passage["text"])
    for at, query in enumerate(queries):
        if query["kind"] in (KIND, "words", "keywords") or query["domain"].startswith("xq") or rng.random() >= VERSIONS:
            continue
        # Sentences of the question's own document where it is known, else of its field.
        known = [passages[one]["text"] for one in query["negatives"][:6]]
        near = rng.sample(known, min(2, len(known))) if known else rng.sample(by_domain[query["domain"]], 2)
        versions.append({"of": at, "query": version(query, near, passages, rng)})
    text.write_lines(f"{work}/versions.jsonl.gz", versions)
    print(len(queries), "queries,", sum(query["kind"] == KIND for query in queries), "descriptions;", len(versions), "versions")


if __name__ == "__main__":
    main()
