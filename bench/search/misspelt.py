"""What is lost where questions are misspelt: 50 of the handbook's and of xquad-en's, well-spelt and misspelt, through the HTTP API.

    python3 bench/search/misspelt.py             # measures; a set's documents are uploaded once
    python3 bench/search/misspelt.py --show      # prints the misspelt questions, and asks nothing

Every second word of three letters or more has one typing error: a letter left out, doubled, swapped with the next, or
exchanged for one beside it on the keyboard. The seed is fixed, so the questions are always the same."""

import json
import math
import pathlib
import random
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import SHARED, Server

QUALITY = SHARED / "quality"
SEED, COUNT = 20, 50
WAYS = {
    "keyword": {"mode": "keyword", "rerank": False},
    "hybrid": {"mode": "hybrid", "rerank": False},
    "reranked": {"mode": "hybrid", "rerank": True},
}
ROWS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8") if line.strip()]


def beside(letter):
    """The keys around a letter's."""
    for at, row in enumerate(ROWS):
        if letter in row:
            place = row.index(letter)
            near = [row[p] for p in (place - 1, place + 1) if 0 <= p < len(row)]
            near += [ROWS[r][place] for r in (at - 1, at + 1) if 0 <= r < len(ROWS) and place < len(ROWS[r])]
            return near
    return ["e"]


def slip(word, chance):
    while True:
        kind, at = chance.randrange(4), chance.randrange(len(word))
        wrong = [
            word[:at] + word[at + 1:],
            word[:at] + word[at:at + 2][::-1] + word[at + 2:],
            word[:at] + chance.choice(beside(word[at].lower())) + word[at + 1:],
            word[:at] + word[at] + word[at:],
        ][kind]
        if wrong != word:
            return wrong


def misspelt(question, chance):
    seen = 0

    def each(match):
        nonlocal seen
        seen += 1
        return slip(match[0], chance) if seen % 2 == 0 and len(match[0]) > 2 else match[0]

    return re.sub(r"[^\W\d_]+", each, question)


def questions():
    """By set: question, misspelt question, and the places that answer it."""
    chance = random.Random(SEED)
    asked = {"handbook": [], "xquad-en": []}
    for line in lines(QUALITY / "handbook" / "questions.jsonl"):
        gold = {part.split("]")[0] for part in line["truth"].split("[")[1:]}
        asked["handbook"].append((line["question"], gold))
    gold = {}
    for line in open(QUALITY / "xquad-en" / "qrels" / "test.tsv").read().splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            gold.setdefault(query, set()).add(document)
    asked["xquad-en"] = [(line["text"], gold[line["_id"]]) for line in lines(QUALITY / "xquad-en" / "queries.jsonl")
                         if line["_id"] in gold]
    return {name: [(question, misspelt(question, chance), gold) for question, gold in chance.sample(all, COUNT)]
            for name, all in asked.items()}


def ndcg(found, gold):
    gain = sum(1 / math.log2(at + 2) for at, place in enumerate(found[:10]) if place in gold)
    return gain / sum(1 / math.log2(at + 2) for at in range(min(len(gold), 10)))


def main():
    asked = questions()
    if "--show" in sys.argv:
        for name, rows in asked.items():
            for question, wrong, _ in rows:
                print(f"{name}\t{question}\t{wrong}")
        return
    server = Server().set_up().start()
    for name, rows in asked.items():
        server.box = server.command("box", "add", name, "--owner", "bench@example.org")["boxId"]
        if name == "handbook":
            for path in sorted((QUALITY / "handbook").glob("*.pdf")):
                server.upload(path)
            place = lambda passage: f"{passage['fileName']}#page={passage['page']}"
        else:
            scratch = pathlib.Path(server.data) / "texts"
            scratch.mkdir()
            for document in lines(QUALITY / name / "corpus.jsonl"):
                path = scratch / f"{document['_id']}.txt"
                path.write_text(document["text"], encoding="utf-8")
                server.upload(path)
            place = lambda passage: passage["fileName"].rsplit(".", 1)[0]
        server.wait_until_read(1.0)
        for way, how in WAYS.items():
            values = [[], []]
            for question, wrong, gold in rows:
                for side, text in enumerate([question, wrong]):
                    body = {"query": text, "top_k": 50, **how}
                    status, answer = server.post(f"/boxes/{server.box}/retrieve-documents", body)
                    assert status == 200, answer
                    found = dict.fromkeys(place(passage) for passage in answer["data"]["documents"][0]["documents"])
                    values[side].append(100 * ndcg(list(found), gold))
            right, wrong = map(statistics.mean, values)
            print(f"{name:9} {way:9} well-spelt {right:.2f}, misspelt {wrong:.2f}: {wrong - right:+.2f}", flush=True)
    server.stop()


main()
