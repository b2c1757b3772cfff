"""How many questions of sets with marked answers are answered by quoting, through the HTTP API.

    python3 bench/chat/marked.py PICKS [--sets covidqa,policyqa,tatqa] [--questions N]

PICKS is what training/pick_data.py wrote (picks.json.xz). The picker that ships has learnt the sets named: judge one that has not
(training/README.md; QUIRE__MODELS__PICKER names its folder). Each set gets a box
of its own with the passages of its questions, one passage a file; a row of a table is a paragraph, read with its header. An answer is right if it quotes a sentence or row
that holds the marked answer. A question is also asked without the documents that answer it: then saying nothing is right."""

import argparse
import json
import lzma
import random
import re

from quality import Measurement


def words(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("picks")
    options.add_argument("--sets", default="covidqa,policyqa,tatqa")
    options.add_argument("--questions", type=int, default=200)
    options = options.parse_args()
    with lzma.open(options.picks, "rt", encoding="utf-8") as file:
        picks = json.load(file)
    run = Measurement()
    for name in options.sets.split(","):
        asked = [question for question in picks["questions"] if question["set"] == name and question["right"]]
        asked = random.Random(1).sample(asked, min(options.questions, len(asked)))
        used = sorted({question["own"] for question in asked} | {at for q in asked for part in ("right", "wrong") for at, _ in q[part]})
        box = run.box(name)
        text = lambda at: "\n\n".join(unit[0] for unit in picks["documents"][at][1])
        files = dict(run.pool.map(lambda at: (at, run.upload(box, f"{at}.md", text(at) + "\n")), used))
        run.server.box = box
        run.server.wait_until_read(1.0)

        def answered(question):
            said, citations = run.question(box, question["question"])
            held = [words(picks["documents"][at][1][unit][0]) for at, unit in question["right"]]
            quotes = [words(citation["quote"]) for citation in citations]
            return bool(citations), any(quote in one or one in quote for quote in quotes if quote for one in held)

        def refused(question):
            right = {question["own"], *(at for at, _ in question["right"])}
            rest = [file for at, file in files.items() if at not in right]
            return not run.question(box, question["question"], sources=rest)[1]

        results = list(run.pool.map(answered, asked))
        without = list(run.pool.map(refused, asked[:100]))
        right = sum(result[1] for result in results)
        print(f"{name}: {len(used)} passages; {right} of {len(asked)} right ({right / len(asked):.1%}), "
              f"{len(asked) - sum(result[0] for result in results)} not answered; "
              f"{sum(without)} of {len(without)} not answered without the passage", flush=True)
    print(f"quotes: {run.quotes - run.wrong_quotes} of {run.quotes} stand on their page at their offsets")
    run.server.stop()


if __name__ == "__main__":
    main()
