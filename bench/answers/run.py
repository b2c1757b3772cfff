"""How well the classes of turns in turns.jsonl are answered, through the HTTP API. README.md says what a line means.

    python3 bench/answers/run.py [--out results.json] [--class NAME,NAME] [--every N] [--failures] [--set FOLDER]

FOLDER holds documents/ and turns.jsonl of another set; this folder unless it is given."""

import argparse
import collections
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from service import Server


def flat(text):
    text = text.lower().replace("’", "'").replace("\u202f", " ").replace("\u00a0", " ")
    return " ".join(text.split())


class Run:
    def __init__(self, folder):
        self.server = Server().set_up().start()
        self.files, self.pages = {}, {}
        self.quotes = self.wrong_quotes = 0
        for path in sorted((folder / "documents").iterdir()):
            status, answer = self.server.upload(path)
            assert status in (200, 201), answer
            self.files[path.name] = answer["data"]["fileId"]
        self.server.wait_until_read(1.0)
        self.connection = self.server.connect()
        # A busy machine is no wrong answer.
        self.connection.timeout = 600

    def ask(self, messages, line):
        body = {"messages": messages}
        if "sources" in line:
            body["sources"] = [self.files[name] for name in line["sources"]]
        if line.get("full_context"):
            body["full_context"] = True
        status, answer = self.server.ask("POST", f"/boxes/{self.server.box}/chat/completions", json.dumps(body),
                                         {"Content-Type": "application/json"}, self.connection)
        assert status == 200, answer
        for citation in answer["citations"]:
            self.check(citation)
        return answer

    def check(self, citation):
        file = citation["fileId"]
        if file not in self.pages:
            self.pages[file] = self.server.pages(file)
        page = self.pages[file][citation["page"] - 1]
        self.quotes += 1
        self.wrong_quotes += page[citation["start"]:citation["end"]] != citation["quote"]

    def answered(self, line):
        messages, answer = [], None
        for turn in line["turns"]:
            if answer:
                said = answer["choices"][0]["message"]["content"]
                messages.append({"role": "assistant", "content": said})
            messages.append({"role": "user", "content": turn})
            answer = self.ask(messages, line)
        return answer


def wrong(line, answer):
    """What is wrong with an answer, in words; empty where it is right."""
    text = answer["choices"][0]["message"]["content"]
    said, cited = flat(text), {citation["fileName"] for citation in answer["citations"]}
    reasons = []
    for fact in line.get("facts", []):
        if not any(flat(one) in said for one in ([fact] if isinstance(fact, str) else fact)):
            reasons.append(f"lacks {fact}")
    reasons += [f"has {text}" for text in line.get("not", []) if flat(text) in said]
    if line.get("file") and line["file"] not in cited:
        reasons.append(f"does not cite {line['file']}")
    if line.get("refuse") and cited:
        reasons.append("answers")
    if line.get("plain") and (cited or answer["usage"]["intelligence_units_consumed"] != 1):
        reasons.append("is no plain sentence for 1 unit")
    if "| " in text and " |" in text:
        reasons.append("has raw bars")
    return reasons


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--out")
    options.add_argument("--class", dest="only")
    options.add_argument("--failures", action="store_true")
    options.add_argument("--every", type=int, default=1, help="only every nth conversation")
    options.add_argument("--set", type=pathlib.Path, default=HERE, metavar="FOLDER")
    options = options.parse_args()
    lines = [json.loads(line) for line in open(options.set / "turns.jsonl", encoding="utf-8") if line.strip()]
    lines = [line for line in lines if not options.only or line["class"] in options.only.split(",")][::options.every]
    run = Run(options.set)
    right, total, results = collections.Counter(), collections.Counter(), []
    for line in lines:
        answer = run.answered(line)
        reasons = wrong(line, answer)
        total[line["class"]] += 1
        right[line["class"]] += not reasons
        text = answer["choices"][0]["message"]["content"]
        results.append({**line, "answer": text, "wrong": reasons})
        if reasons and options.failures:
            print(f"[{line['class']}] {' / '.join(line['turns'])}\n    {text}\n    {'; '.join(reasons)}", flush=True)
    for name in sorted(total):
        print(f"{name:12} {right[name]:3} of {total[name]}")
    asked = [line for line in lines if not line.get("refuse")]
    answerable = sum(not result["wrong"] for result in results if not result.get("refuse"))
    refused = sum(not result["wrong"] for result in results if result.get("refuse"))
    print(f"all          {sum(right.values()):3} of {len(lines)} ({sum(right.values()) / len(lines):.0%}); "
          f"answerable {answerable} of {len(asked)}, refused {refused} of {len(lines) - len(asked)}; "
          f"quotes {run.quotes - run.wrong_quotes} of {run.quotes} at their offsets")
    if options.out:
        json.dump(results, open(options.out, "w", encoding="utf-8"), ensure_ascii=False, indent=1)
    run.server.stop()


if __name__ == "__main__":
    main()
