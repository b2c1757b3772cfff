"""Writes XQuAD's paragraphs and questions as sets in the BEIR layout, for bench/search/quality.py.

    python3 bench/search/xquad.py --xquad FOLDER --out FOLDER [LANGUAGE…]

FOLDER holds XQuAD's own files, xquad.es.json and so on (github.com/google-deepmind/xquad, CC BY-SA 4.0). A language written as en-es asks
in the first about the paragraphs of the second."""

import argparse
import json
import pathlib

LANGUAGES = ["es", "de", "zh", "ar", "hi", "th", "ru", "el", "en-es", "es-en", "en-zh", "zh-en", "de-es"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--xquad", required=True, type=pathlib.Path)
    options.add_argument("--out", required=True, type=pathlib.Path)
    options.add_argument("languages", nargs="*", default=LANGUAGES)
    options = options.parse_args()
    for language in options.languages:
        asked_in, _, written_in = language.partition("-")
        folder = options.out / language
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        corpus = [{"_id": number, "title": "", "text": paragraph["context"].strip()} for number, paragraph in paragraphs(options.xquad, written_in or asked_in)]
        questions = [(number, question) for number, paragraph in paragraphs(options.xquad, asked_in) for question in paragraph["qas"]]
        write(folder / "corpus.jsonl", corpus)
        write(folder / "queries.jsonl", [{"_id": question["id"], "text": question["question"]} for _, question in questions])
        judged = ["query-id\tcorpus-id\tscore"] + [f"{question['id']}\t{number}\t1" for number, question in questions]
        (folder / "qrels" / "test.tsv").write_text("\n".join(judged) + "\n")


def paragraphs(folder, language):
    """Each paragraph with its number, which is the same in every language."""
    for at, article in enumerate(json.loads((folder / f"xquad.{language}.json").read_text("utf-8"))["data"]):
        for within, paragraph in enumerate(article["paragraphs"]):
            yield f"{at}-{within}", paragraph


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


main()
