"""Whether the page of a report on which a table's cell stands is among the first five: asked of the report, and of the whole box.

    python3 bench/search/reports.py FOLDER [--keep DATA] [--misses]

FOLDER holds the PDFs that `reports.jsonl` names: forty annual reports, as the repository patronus-ai/financebench
keeps them, without `_10K` in their names. Each question was made from a cell; its pages are all those on which the cell
stands beside its row's name. With --keep, DATA is the server's data folder and stays: a second run only searches."""

import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import WAYS, Server

QUESTIONS = pathlib.Path(__file__).with_name("reports.jsonl")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--keep")
    options.add_argument("--misses", action="store_true")
    options = options.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.open(encoding="utf-8")]
    names = sorted({question["document"] for question in questions})
    kept = pathlib.Path(options.keep or "/nonexistent") / "bench.json"
    server = Server(data=options.keep)
    if kept.exists():
        known = json.loads(kept.read_text())
        server.box, server.key, files = known["box"], known["key"], known["files"]
        server.start()
    else:
        server.set_up().start()
        started = time.time()
        for name in names:
            status, answer = server.upload(options.folder / name)
            assert status == 201, answer
        read = server.wait_until_read(1)
        files = {file["name"]: file["fileId"] for file in read}
        pages = sum(file.get("pages") or 0 for file in read)
        print(f"{len(names)} reports, {pages} pages in {time.time() - started:.0f} s, "
              f"{server.processor_seconds():.0f} CPU seconds", flush=True)
        if options.keep:
            kept.write_text(json.dumps({"box": server.box, "key": server.key, "files": files}))
    for way, how in WAYS.items():
        first = {"report": 0, "box": 0}
        five = {"report": 0, "box": 0}
        for question in questions:
            for scope in first:
                only = {"sources": [files[question["document"]]]} if scope == "report" else {}
                status, answer = server.post(f"/boxes/{server.box}/retrieve-documents",
                                             {"query": question["question"], "top_k": 20, **how, **only})
                assert status == 200, answer
                found = []
                for passage in answer["data"]["documents"][0]["documents"]:
                    place = passage["fileName"], passage["page"]
                    if place not in found:
                        found.append(place)
                right = [(question["document"], page) for page in question["pages"]]
                rank = next((rank for rank, place in enumerate(found, 1) if place in right), 99)
                first[scope] += rank == 1
                five[scope] += rank <= 5
                if options.misses and rank > 5 and way == "reranked":
                    print(f"  {scope:6} {rank:2} {question['document']} {question['pages']} {question['question']}"
                          f" -> {[f'{name[:-4]} {page}' for name, page in found[:5]]}")
        print(f"{way:9} " + "  ".join(
            f"{scope}: first {first[scope]}, among five {five[scope]} ({100 * five[scope] / len(questions):.0f}%)"
            for scope in first) + f" of {len(questions)}", flush=True)
    server.stop()


main()
