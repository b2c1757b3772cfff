"""Longer and odder versions of a set's questions: paragraphs as people write them in a mail, descriptions of what is looked for, and
piles of keywords.

Usage: python training/longer.py WORK SET…
Reads WORK/sets/SET.json.gz and writes SET-asked, SET-described and SET-piled beside it. Nothing of this is trained on.

- asked: the question between sentences that say why, of 30 to 150 words
- described: some sentences of what is looked for, of 30 to 150 words; the set's text goes on without them
- piled: keywords of the question and of what answers it, 8 to 20, in no order
"""
import random
import re
import sys

import text
from build_data import write_json
from common import read_json

BEFORE = (
    "Hello everybody, I hope that this is the right place to ask.",
    "I have been going through all the documents that we were given last week, and there is one thing that I could not find.",
    "A colleague of mine came to me yesterday with a question that I was not able to answer on the spot.",
    "I am preparing a short talk for people who are new to the subject, and I want to get the details right.",
    "We had a long discussion about this in our last meeting, and in the end nobody was quite sure.",
    "I am rather new here, so please excuse me if this has been explained somewhere already.",
    "Some time ago I read something about it, but I did not write down where, and now I need it again.",
    "For a report that is due by the end of the month I have to look up a number of facts.",
    "My manager asked me to check this before we go on, since a decision depends on it.",
    "I tried the obvious places first and had no luck, so I am trying it this way.",
)
AFTER = (
    "Could somebody please point me to the passage that says so?",
    "It would help me a lot to know where exactly this is written, so that I can quote it.",
    "If there is more than one answer to this, I would like to see all of them.",
    "A short answer is enough, but I do need to know where it comes from.",
    "I do not need the whole background, only this one point.",
    "Please do not send me the summary that everybody has, because it leaves this out.",
    "If it depends on the circumstances, tell me on which ones.",
    "Thank you very much in advance for your time and your help.",
    "It is not urgent, but I would be glad to have it settled before the weekend.",
    "I have already looked at the table of contents, and the headings did not tell me.",
)
FEWEST, MOST = 30, 150


def count(words):
    return len(words.split())


def asked(question, rng):
    """The question between what people write around it."""
    wanted = rng.randint(max(FEWEST, count(question) + 12), MOST)
    before, after = rng.sample(BEFORE, len(BEFORE)), rng.sample(AFTER, len(AFTER))
    parts = [question.strip()]
    again = text.keywords(question, rng)
    if again and rng.random() < 0.5:
        parts.append(f"What I mean is {again}.")
    while before and after and sum(map(count, parts)) < wanted:
        first = rng.random() < 0.5
        sentence = before.pop() if first else after.pop()
        parts.insert(0, sentence) if first else parts.append(sentence)
    return " ".join(parts)


def described(chunk, rng):
    """Some sentences of a passage, and the passage without them; nothing where it is too short."""
    parts = text.sentences(chunk)
    if len(parts) < 4:
        return None
    order = rng.sample(range(len(parts)), len(parts))
    wanted, taken = rng.randint(FEWEST, MOST), []
    for at in order[:len(parts) // 2]:
        if sum(count(parts[one]) for one in taken) + count(parts[at]) <= wanted:
            taken.append(at)
    query = " ".join(parts[at] for at in sorted(taken))
    rest = " ".join(part for at, part in enumerate(parts) if at not in taken)
    return (query, rest) if FEWEST <= count(query) <= MOST and count(rest) >= 20 else None


def piled(question, chunk, rng):
    """Words of the question and of the passage, in no order."""
    word = lambda one: [w for w in re.findall(r"[^\W\d_][\w'-]+", one) if w.lower() not in text.STOP_WORDS]
    own, others = word(question), sorted(set(word(chunk)))
    pile = list(dict.fromkeys(own + rng.sample(others, min(len(others), max(0, rng.randint(8, 20) - len(own))))))
    rng.shuffle(pile)
    return " ".join(pile).lower()


def versions(judged, seed=21):
    """The three sets that one set makes."""
    rng, name = random.Random(seed), judged["name"]
    chunks_of = {}
    for at, owner in enumerate(judged["owner"]):
        chunks_of.setdefault(owner, []).append(at)
    right = [rng.choice(chunks_of[int(rng.choice(list(relevant)))]) for relevant in judged["relevant"]]
    yield {**judged, "name": f"{name}-asked", "queries": [asked(query, rng) for query in judged["queries"]]}
    yield {**judged, "name": f"{name}-piled",
           "queries": [piled(query, judged["chunks"][at], rng) for query, at in zip(judged["queries"], right)]}
    chunks, queries, kept, seen = list(judged["chunks"]), [], [], set()
    for at, chunk in enumerate(right):
        made = described(judged["chunks"][chunk], rng) if judged["owner"][chunk] not in seen else None
        if made:
            seen.add(judged["owner"][chunk])
            queries.append(made[0])
            chunks[chunk] = made[1]
            kept.append((at, judged["owner"][chunk]))
    boxes = [judged["boxes"][at] for at, _ in kept] if judged["boxes"] else None
    yield {**judged, "name": f"{name}-described", "chunks": chunks, "queries": queries, "boxes": boxes,
           "relevant": [{str(owner): 1} for _, owner in kept]}


def main():
    work = sys.argv[1]
    for name in sys.argv[2:]:
        for made in versions(read_json(f"{work}/sets/{name}.json.gz")):
            if made["queries"]:
                write_json(f"{work}/sets/{made['name']}.json.gz", made)
            print(made["name"], len(made["queries"]), "queries", flush=True)


if __name__ == "__main__":
    main()
