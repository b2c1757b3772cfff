"""How well questions are answered by quoting, through the HTTP API.

    python3 bench/chat/quality.py --answers xquad.en.json [--questions N] [--half odd|even]

1. xquad-en: every question over all paragraphs; does the answer contain a gold answer? The set below
   ../shared/data/quality has questions without answers; the answers are in XQuAD's own xquad.en.json
   (github.com/google-deepmind/xquad, CC BY-SA 4.0), joined by question id.
2. Every quote is held against the page at its offsets.
3. What the documents cannot answer: xquad questions with their own paragraph left out of `sources`, Cranfield's questions on
   the handbook, and the handbook's questions on xquad. How many are answered by saying so?
4. The handbook's own questions: is the right page cited?

`--half` asks every other question only: constants are chosen on the even ones and reported on the odd ones."""

import argparse
import concurrent.futures
import http.client
import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import SHARED, Server

QUALITY = SHARED / "quality"


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8") if line.strip()]


def gold_answers(path):
    data = json.load(open(path, encoding="utf-8"))["data"]
    return {qa["id"]: [answer["text"] for answer in qa["answers"]]
            for article in data for paragraph in article["paragraphs"] for qa in paragraph["qas"]}


def flat(text):
    return " ".join(text.split()).lower()


class Measurement:
    def __init__(self):
        self.server = Server().set_up().start()
        self.local = threading.local()
        self.pool = concurrent.futures.ThreadPoolExecutor(4)
        self.pages = {}
        self.quotes = self.wrong_quotes = 0

    def ask(self, method, path, body, headers):
        if not hasattr(self.local, "connection"):
            self.local.connection = self.server.connect()
        try:
            return self.server.ask(method, path, body, headers, self.local.connection)
        except (OSError, http.client.HTTPException):
            # Closed after a while of silence.
            self.local.connection = self.server.connect()
            return self.server.ask(method, path, body, headers, self.local.connection)

    def box(self, name):
        return self.server.command("box", "add", name, "--owner", "bench@example.org")["boxId"]

    def upload(self, box, name, text):
        mark = "quire-bench-boundary"
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + text.encode() + f"\r\n--{mark}--\r\n".encode()
        status, answer = self.ask("POST", f"/boxes/{box}/files", body,
                                  {"Content-Type": f"multipart/form-data; boundary={mark}"})
        assert status in (200, 201), answer
        return answer["data"]["fileId"]

    def question(self, box, text, **more):
        body = json.dumps({"messages": [{"role": "user", "content": text}], **more})
        status, answer = self.ask("POST", f"/boxes/{box}/chat/completions", body, {"Content-Type": "application/json"})
        assert status == 200, answer
        for citation in answer["citations"]:
            self.check(box, citation)
        return answer["choices"][0]["message"]["content"], answer["citations"]

    def check(self, box, citation):
        """Whether a quote stands on its page at its offsets."""
        file = citation["fileId"]
        if file not in self.pages:
            _, answer = self.ask("POST", f"/boxes/{box}/retrieve-full-documents", json.dumps({"sources": [file]}),
                                 {"Content-Type": "application/json"})
            self.pages[file] = {page["page"]: page["text"] for page in answer["data"]["documents"][0]["pages"]}
        page = self.pages[file][citation["page"]]
        self.quotes += 1
        self.wrong_quotes += page[citation["start"]:citation["end"]] != citation["quote"] or not citation["verified"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--answers", required=True)
    options.add_argument("--questions", type=int, default=10 ** 6)
    options.add_argument("--half", choices=["odd", "even"])
    options = options.parse_args()
    gold = gold_answers(options.answers)
    start, step = {"even": (0, 2), "odd": (1, 2), None: (0, 1)}[options.half]

    run = Measurement()
    xquad = run.box("xquad")
    files = dict(run.pool.map(
        lambda d: (d["_id"], run.upload(xquad, f"{d['_id']}.md", d["text"].strip() + "\n")),
        lines(QUALITY / "xquad-en" / "corpus.jsonl")))
    handbook = run.box("handbook")
    run.server.box = handbook
    for path in sorted((QUALITY / "handbook").glob("*.pdf")):
        run.server.upload(path)
    for run.server.box in (xquad, handbook):
        run.server.wait_until_read(1.0)

    own = dict(line.split("\t")[:2] for line in open(QUALITY / "xquad-en" / "qrels" / "test.tsv").read().splitlines()[1:])
    asked = [q for q in lines(QUALITY / "xquad-en" / "queries.jsonl") if q["_id"] in gold][start::step][:options.questions]

    def answered(query):
        text, citations = run.question(xquad, query["text"])
        right = any(flat(answer) in flat(text) for answer in gold[query["_id"]])
        return bool(citations), right, len(text)

    results = list(run.pool.map(answered, asked))
    said, right = sum(r[0] for r in results), sum(r[1] and r[0] for r in results)
    print(f"xquad-en: {right} of {len(results)} answers contain a gold answer ({right / len(results):.1%}); "
          f"{len(results) - said} abstentions; {sum(r[2] for r in results if r[0]) / max(said, 1):.0f} characters on average",
          flush=True)

    questions = lines(QUALITY / "handbook" / "questions.jsonl")
    def page_cited(question):
        _, citations = run.question(handbook, question["question"])
        wanted = {part.split("]")[0] for part in question["truth"].split("[")[1:]}
        return bool(citations), any(f"{c['fileName']}#page={c['page']}" in wanted for c in citations)
    results = list(run.pool.map(page_cited, questions))
    print(f"handbook: {sum(r[0] for r in results)} of {len(results)} answered, {sum(r[1] for r in results)} cite the right page",
          flush=True)

    without = asked[::max(len(asked) // 200, 1)][:200]
    def others(query):
        rest = [file for document, file in files.items() if document != own[query["_id"]]]
        return not run.question(xquad, query["text"], sources=rest)[1]
    left_out = list(run.pool.map(others, without))
    cranfield = lines(QUALITY / "cranfield" / "queries.jsonl")[start::step][:100]
    foreign = list(run.pool.map(lambda q: not run.question(handbook, q["text"])[1], cranfield))
    foreign += list(run.pool.map(lambda q: not run.question(xquad, q["question"])[1], questions))
    both = sum(left_out[:len(left_out) // 4 * 4]) / max(len(left_out) // 4 * 4, 1), sum(foreign) / len(foreign)
    print(f"unanswerable: {sum(left_out)} of {len(left_out)} abstentions without the paragraph ({both[0]:.1%}), "
          f"{sum(foreign)} of {len(foreign)} on foreign documents ({both[1]:.1%}); of 100, half of each: "
          f"{50 * both[0] + 50 * both[1]:.0f}")
    print(f"quotes: {run.quotes - run.wrong_quotes} of {run.quotes} stand on their page at their offsets")
    run.server.stop()


if __name__ == "__main__":
    main()
