"""How well questions in other languages than English are answered by quoting, through the HTTP API.

    python3 bench/chat/languages.py --xquad FOLDER [--questions N] [--half odd|even] [LANGUAGE …]

FOLDER holds XQuAD's own files, xquad.es.json and so on (github.com/google-deepmind/xquad, CC BY-SA 4.0). Each language's paragraphs are
one multilingual box. 1. Does the answer contain a gold answer? 2. Is nothing said where the question's paragraph is left out? 3. Does
every quote stand on its page at its offsets? A language written as es-en asks in the first about the paragraphs of the second."""

import argparse
import json

from quality import Measurement, flat


def paragraphs(folder, language):
    """Texts, and for each question its paragraph and its gold answers."""
    texts, about = [], {}
    for article in json.load(open(f"{folder}/xquad.{language}.json", encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            about |= {qa["id"]: (len(texts), [answer["text"] for answer in qa["answers"]], qa["question"]) for qa in paragraph["qas"]}
            texts.append(paragraph["context"].strip())
    return texts, about


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--xquad", required=True)
    options.add_argument("--questions", type=int, default=120)
    options.add_argument("--half", choices=["odd", "even"], default="odd")
    options.add_argument("--out")
    options.add_argument("languages", nargs="*", default=["es", "zh", "ar", "ru"])
    options = options.parse_args()
    run, results = Measurement(), []
    for language in options.languages:
        asked_in, _, written_in = language.partition("-")
        texts, about = paragraphs(options.xquad, written_in or asked_in)
        asked = {number: entry[2] for number, entry in paragraphs(options.xquad, asked_in)[1].items()}
        box = run.server.command("box", "add", language, "--owner", "bench@example.org", "--language", "multilingual")["boxId"]
        files = list(run.pool.map(lambda entry: run.upload(box, f"{entry[0]}.md", entry[1] + "\n"), enumerate(texts)))
        run.server.box = box
        run.server.wait_until_read(1.0)
        half = list(about)[{"even": 0, "odd": 1}[options.half]::2]
        half = half[::max(1, len(half) // options.questions)][:options.questions]

        def answered(number):
            own, gold, _ = about[number]
            text, citations = run.question(box, asked[number])
            rest = [file for at, file in enumerate(files) if at != own]
            without = run.question(box, asked[number], sources=rest)[1]
            right = bool(citations) and any(flat(answer) in flat(text) for answer in gold)
            return {"language": language, "question": asked[number], "answer": text, "answered": bool(citations), "right": right,
                    "refused": not without}

        here = list(run.pool.map(answered, half))
        results += here
        count = lambda name: sum(result[name] for result in here)
        print(f"{language}: {count('right')} of {len(here)} answers contain a gold answer, {len(here) - count('answered')} not answered; "
              f"without the paragraph {count('refused')} not answered", flush=True)
    print(f"quotes: {run.quotes - run.wrong_quotes} of {run.quotes} stand on their page at their offsets")
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(results, file, ensure_ascii=False, indent=0)
    run.server.stop()


if __name__ == "__main__":
    main()
