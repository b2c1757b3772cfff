"""Builds what the answer picker learns from: questions, documents cut into sentences and rows, and which of these answer.

Usage: python training/pick_data.py SETS DATA OUT
SETS holds the original sets with their marked answers (README.md says which files), DATA the folder with training/. Writes
OUT/picks.json.xz: documents as [title, units], questions as {set, question, right: [[document, unit], …], doubtful, near: [documents]}.
A unit is [what it says, what stands before it, what stands after it]; `wrong` are the likeliest wrong units of near documents. A unit that holds the words of an answer without being
known to answer is doubtful: neither right nor wrong. A question without right units is one that its documents do not answer.
The sets in train_pick.py's UNMARKED have no marks and are for a teacher to mark; those in MULTILINGUAL are for the multilingual picker alone; leaving them out leaves the others as they are.
"""
import csv
import glob
import html
import json
import lzma
import math
import os
import random
import re
import sys

import text
from common_words import content_words

ABBREVIATIONS = set("al approx art bzw ca cf co corp dept dr ed eg eq est etc fig figs hr ie inc jr ltd max min mr mrs ms no nos nr p "
                    "para pp prof ref refs resp rev sec sr st str u.s vgl vol vs".split())
NEAR = 6  # other documents of a question
WRONG = 10  # their units that are kept
CHINESE = 3_000
MEDQUAD = 3_500
UNMARKED = 3_500
JAPANESE = 4_000


def sentences(passage):
    """Near to crates/engine/src/ingest/chunk/sentences.rs."""
    found = []
    for part in re.split(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<=[。！？।])|\n+", passage):
        part = " ".join((part or "").split())
        if not part:
            continue
        last = re.search(r"([^\s(\[\"]*)\.$", found[-1]) if found else None
        if last and (last[1].lower().replace(".", "") in ABBREVIATIONS or re.fullmatch("[A-Z]", last[1])):
            found[-1] += " " + part
        else:
            found.append(part)
    return found


def flat(string):
    return " ".join(string.split()).lower()


class Builder:
    def __init__(self):
        self.documents, self.questions, self.places = [], [], {}
        self.versions = {}  # of a question that was translated, by its id: language, question, document, answers, title

    def forget_unused(self):
        """Numbers the documents anew that questions need."""
        used = sorted({question["own"] for question in self.questions} | {
            document for question in self.questions for part in ("right", "doubtful", "wrong") for document, _ in question[part]})
        place = {old: new for new, old in enumerate(used)}
        self.documents = [self.documents[old] for old in used]
        for question in self.questions:
            question["own"] = place[question["own"]]
            for part in ("right", "doubtful", "wrong"):
                question[part] = [[place[document], at] for document, at in question[part]]

    def prose(self, title, passage):
        """The number of a passage of sentences."""
        key = (title, passage)
        if key not in self.places:
            parts = sentences(passage)
            units = [[part, parts[at - 1] if at else "", parts[at + 1] if at + 1 < len(parts) else ""] for at, part in enumerate(parts)]
            self.places[key] = self.add(title, units)
        return self.places[key]

    def add(self, title, units):
        self.documents.append([title, units])
        return len(self.documents) - 1

    def ask(self, name, question, document, right, doubtful=(), near=(), **more):
        self.questions.append({"set": name, "question": " ".join(question.split()), "own": document, "right": sorted(right),
                               "doubtful": sorted(doubtful), "near": list(near), **more})

    def marked(self, name, question, document, answers, **more):
        """Asks a question whose answers are texts: the unit that holds one answers, the likeliest where several do."""
        units = self.documents[document][1]
        answers = [flat(answer) for answer in answers if answer.strip()]
        holding = [at for at, unit in enumerate(units) if any(answer in flat(unit[0]) for answer in answers)]
        if not holding:
            return False
        asked = content_words(question)
        shared = [len(asked & content_words(units[at][0])) for at in holding]
        best = max(shared)
        right = [at for at, count in zip(holding, shared) if count == best]
        doubtful = [at for at in holding if at not in right]
        self.ask(name, question, document, [[document, at] for at in right], [[document, at] for at in doubtful], answers=answers, **more)
        return True


def squad_style(builder, name, path, skip=lambda paragraph: False, keep=lambda qa: True, translated=False):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)["data"]
    for article in data:
        title = article.get("title", "").replace("_", " ").strip()
        for paragraph in article["paragraphs"]:
            context = paragraph["context"].lstrip("\ufeff")
            if skip(paragraph):
                continue
            document = builder.prose(title, context)
            for qa in paragraph["qas"]:
                if keep(qa):
                    answers = [answer["text"] for answer in qa["answers"]]
                    builder.marked(name, qa["question"], document, answers, group=title)
                    if translated:
                        builder.versions.setdefault(qa["id"], []).append((name, qa["question"], document, answers, title))


def squad(builder, sets, judged):
    """SQuAD's dev set as its site shows it, both versions; the paragraphs of XQuAD are left out."""
    for version in ("1.1", "2.0"):
        for path in sorted(glob.glob(f"{sets}/squad-{version}/*.html")):
            page, title = open(path, encoding="utf-8").read(), os.path.basename(path)[:-5].replace("_", " ")
            for block in page.split('<div class="para-wrap">')[1:]:
                passage = html.unescape(re.search(r"<pre>(.*?)</pre>", block, re.S)[1])
                asked = re.findall(r'data-id="(\w+)".*?<strong class="question">(.*?)</strong>(.*?)</ul>', block, re.S)
                if any(number in judged for number, _, _ in asked):
                    continue
                document = builder.prose(title, passage)
                for number, question, rest in asked:
                    answers = [html.unescape(answer) for answer in re.findall(r'<span class="answer">(.*?)</span>', rest, re.S)]
                    answers = [answer for answer in answers if answer.strip() and not answer.startswith("<No Answer")]
                    if answers and version == "1.1":
                        builder.marked("squad", html.unescape(question), document, answers, group=title)
                        builder.versions.setdefault(number, []).append(("en", html.unescape(question), document, answers, title))
                    elif not answers and version == "2.0":
                        builder.ask("squad-none", html.unescape(question), document, [], group=title)


def pubmedqa(builder, passages, queries):
    """Questions that an abstract answers; no sentence is marked, so it is one unit."""
    for query in queries:
        if query["set"] == "pubmedqa":
            document = builder.add("", [[" ".join(passages[query["positives"][0]]["text"].split())[:900], "", ""]])
            builder.ask("pubmedqa", query["query"], document, [[document, 0]], group=str(document % 20))


def more_languages(builder, sets, judged, rng):
    """What only the multilingual picker learns from: Italian, Japanese, Arabic, and questions in one language about a text in another."""
    squad_style(builder, "italian", f"{sets}/squad-it.json", skip=lambda paragraph: any(qa["id"] in judged for qa in paragraph["qas"]),
                translated=True)
    before = len(builder.questions)
    for path in sorted(glob.glob(f"{sets}/jaquad/*.json")):
        squad_style(builder, "japanese", path)
    builder.questions[before:] = rng.sample(builder.questions[before:], min(JAPANESE, len(builder.questions) - before))
    squad_style(builder, "arabic", f"{sets}/arcd-train.json")
    for number, versions in sorted(builder.versions.items()):
        if len(versions) > 1:
            (_, question, *_), (_, _, document, answers, title) = rng.sample(versions, 2)
            builder.marked("crossed", question, document, answers, group=title)
    name_articles(builder)


def name_articles(builder):
    """Of the titles that an article has in different languages, one stands for all."""
    same = {}

    def first(title):
        while same.get(title, title) != title:
            title = same[title]
        return title
    for versions in builder.versions.values():
        titles = {first(version[-1]) for version in versions}
        same |= dict.fromkeys(titles, min(titles))
    for question in builder.questions:
        question["article"] = first(question["group"])


def more_judged(builder, sets, odd):
    """Judged, not trained on: XQuAD's odd questions in languages whose XQuAD is not trained on, also asked of the English text."""
    english = {}
    with open(f"{sets}/xquad.en.json", encoding="utf-8") as file:
        for article in json.load(file)["data"]:
            for paragraph in article["paragraphs"]:
                document = builder.prose(article["title"].replace("_", " "), paragraph["context"].lstrip("\ufeff"))
                english |= {qa["id"]: (document, [answer["text"] for answer in qa["answers"]]) for qa in paragraph["qas"] if qa["id"] in odd}
    for language in ("en", "es", "zh", "ar", "ru", "el", "hi", "th"):
        squad_style(builder, f"xquad_{language}", f"{sets}/xquad.{language}.json", keep=lambda qa: qa["id"] in odd)
        with open(f"{sets}/xquad.{language}.json", encoding="utf-8") as file:
            asked = [qa for article in json.load(file)["data"] for paragraph in article["paragraphs"] for qa in paragraph["qas"]]
        if language != "en":
            for qa in (qa for qa in asked[1::8] if qa["id"] in english):
                builder.marked("xquad_crossed", qa["question"], *english[qa["id"]], group=qa["id"])


def qed(builder, sets):
    with open(f"{sets}/qed-dev.jsonlines", encoding="utf-8") as file:
        for line in map(json.loads, file):
            document = builder.prose(line["title_text"], line["paragraph_text"])
            answers = [answer["string"] for given in line["original_nq_answers"] for answer in given]
            builder.marked("qed", line["question_text"] + "?", document, answers, group=line["title_text"])


def shared(data):
    passages = {line["id"]: line for line in text.read_lines(f"{data}/training/passages.jsonl.gz")}
    return passages, text.read_lines(f"{data}/training/queries.jsonl.gz")


def medquad(builder, passages, queries, rng):
    """No answers are marked, but each passage is an answer, and says what it is about in the first sentence."""
    chosen = [query for query in queries if query["set"] == "medquad"]
    rng.shuffle(chosen)
    for query in chosen[:MEDQUAD]:
        document = builder.prose("", passages[query["positives"][0]]["text"][:1500])
        first = builder.documents[document][1][:1]
        if first and len(content_words(query["query"]) & content_words(first[0][0])) > 0 and len(first[0][0]) > 30:
            rest = [[document, at] for at in range(1, len(builder.documents[document][1]))]
            builder.ask("medquad", query["query"], document, [[document, 0]], rest, group=str(document % 20))
    return chosen[MEDQUAD:]


def unmarked(builder, passages, queries):
    """Questions and the sentences that may answer them, for a teacher to say which do: by the name of their set."""
    for name, found in queries.items():
        for query in random.Random(1).sample(found, min(len(found), UNMARKED)):
            document = builder.prose("", passages[query["positives"][0]]["text"][:1500])
            builder.ask(name, query["query"], document, [], group=str(document % 20))


def cuad(builder, passages, queries, rng):
    """Headings of contracts as people would ask for them; the clauses of the same contract are wrong."""
    forms = ["What is the {}?", "What does the contract say about {}?", "{}?", "Is there anything on {}?", "What was agreed on {}?"]
    for query in queries:
        clause = passages[query["positives"][0]]["text"]
        if query["set"] == "cuad" and 40 < len(clause) < 700:
            document = builder.add("", [[" ".join(clause.split()), "", ""]])
            near = [builder.add("", [[" ".join(passages[at]["text"].split())[:700], "", ""]]) for at in query["hard_negatives"][:8]]
            heading = query["query"] if rng.random() < 0.5 else query["query"].lower()
            builder.ask("cuad", rng.choice(forms).format(heading), document, [[document, 0]], near=near, group=str(document % 20))


def is_number(value):
    return bool(value) and all(c.isdigit() or c in "#-." for c in value)


class Rows:
    """A table as crates/engine/src/chat/table.rs reads it."""

    def __init__(self, title, columns, rows):
        self.title, self.columns, self.rows = title[:120], columns, rows

    def label(self, row, at):
        return f"{self.columns[at]} {row[at]}" if is_number(row[at]) and self.columns[at] else row[at]

    def cell(self, row, column, named):
        labels = [self.label(row, at) for at in named if at != column]
        if column != 0 and 0 not in named and row[0]:
            labels.insert(0, self.label(row, 0))
        name, labels = self.columns[column], ", ".join(labels)
        said = ", ".join(part for part in (labels, name) if part)
        return self.below(f"{said}: {row[column]}" if said else row[column])

    def whole(self, row):
        parts = []
        for at, value in enumerate(row):
            if value:
                bare = not self.columns[at] or self.columns[at] == value or (at == 0 and not is_number(value))
                parts.append(value if bare else f"{self.columns[at]}: {value}")
        return self.below(", ".join(parts))

    def below(self, said):
        return f"{self.title} – {said}" if self.title and flat(self.title) not in flat(said) else said

    def units(self, asked, column):
        """Each row as it would be said where this column is asked for, or whole."""
        found = []
        for row in self.rows:
            named = [at for at, value in enumerate(row) if asked & content_words(value)]
            whole = self.whole(row)
            spoken = whole if column is None or not row[column] else self.cell(row, column, named)
            found.append([spoken, whole if spoken != whole else "", ""])
        return found


def table_question(builder, name, title, table, question, right, column, rng, group):
    """Asks of a table: the rows as they are said for the column that is asked for, the right rows also by another column."""
    asked = content_words(question)
    said = column if column is not None and rng.random() < 0.65 else None
    units = table.units(asked, said)
    if said is not None:
        for at in right[:2]:
            others = [other for other in range(len(table.columns)) if other != said and table.rows[at][other]
                      and not asked & content_words(table.rows[at][other])]
            for other in rng.sample(others, min(2, len(others))):
                units.append([table.cell(table.rows[at], other, []), table.whole(table.rows[at]), ""])
    document = builder.add(title, [[unit[:600] for unit in row] for row in units])
    builder.ask(name, question, document, [[document, at] for at in right], group=group)


def wiki_tables(builder, sets, rng):
    """Questions that one row answers: it holds the answer and a word of the question, as no other does."""
    about = {line["contextId"]: line for line in csv.DictReader(open(f"{sets}/misc/table-metadata.tsv", encoding="utf-8"),
                                                                delimiter="\t", quoting=csv.QUOTE_NONE)}
    for line in csv.DictReader(open(f"{sets}/wtq.tsv", encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE):
        try:
            read = list(csv.reader(open(f"{sets}/{line['context']}", encoding="utf-8"), escapechar="\\"))
        except OSError:
            continue
        columns = [" ".join(cell.split()) for cell in read[0]] if read else []
        rows = [[" ".join(cell.split()) for cell in row] for row in read[1:] if len(row) == len(columns)][:60]
        answer = flat(line["targetValue"])
        held = [(at, column) for at, row in enumerate(rows) for column, cell in enumerate(row) if flat(cell) == answer]
        asked = content_words(line["utterance"])
        if len(held) != 1 or len(rows) < 3:
            continue
        at, column = held[0]
        words = [set().union(*(content_words(cell) for cell in row)) for row in rows]
        telling = [word for word in asked & words[at] if sum(word in there for there in words) == 1 and word not in content_words(answer)]
        if telling:
            known = about.get(line["context"], {})
            title = (known.get("headers") or "").split("|")[-1] or known.get("title") or ""
            table = Rows(title, columns, rows)
            table_question(builder, "tables", known.get("title") or "", table, line["utterance"], [at], column, rng, line["context"])


LOOKUPS = ["What is the {column} of {label}?", "{label} {column}", "What was the {column} for {label}?", "How much {column} did {label} have?",
           "What {column} does {label} have?", "Tell me the {column} of {label}."]
IN_YEARS = ["What was {label} in {column}?", "How much was {label} in {column}?", "What is the amount of {label} in {column}?",
            "What were {label} for {column}?", "{label} {column}?"]
PER_TABLE = 4


def lookups(builder, sets, rng):
    """Made of tables themselves: a row by its name, a column by its own. The title of the page is often in the question too."""
    about = {line["contextId"]: line for line in csv.DictReader(open(f"{sets}/misc/table-metadata.tsv", encoding="utf-8"),
                                                                delimiter="\t", quoting=csv.QUOTE_NONE)}
    for context, known in sorted(about.items()):
        if not os.path.exists(f"{sets}/{context}"):
            continue
        read = [[" ".join(cell.split()) for cell in row] for row in csv.reader(open(f"{sets}/{context}", encoding="utf-8"), escapechar="\\")]
        rows = [row for row in read[1:] if len(row) == len(read[0])][:40]
        if len(rows) < 3 or len(read[0]) < 2:
            continue
        title = (known.get("headers") or "").split("|")[-1] or known.get("title") or ""
        for turned in (False, True):  # as it is, and with the rows as columns: years often head the columns of reports
            grid = [read[0], *rows] if not turned else [list(column) for column in zip(*([read[0], *rows[:6]]))]
            table = Rows(title, grid[0], grid[1:])
            names = [row[0] for row in table.rows]
            telling = [at for at, name in enumerate(names) if content_words(name) and names.count(name) == 1 and len(name) < 60]
            columns = [at for at, name in enumerate(table.columns) if at and content_words(name) and len(name) < 40]
            for _ in range(PER_TABLE // 2):
                if not telling or not columns or len(table.rows) < 3:
                    break
                at, column = rng.choice(telling), rng.choice(columns)
                if not table.rows[at][column] or table.columns.count(table.columns[column]) > 1:
                    continue
                year = re.fullmatch(r".*\b(19|20)\d\d\b.*", table.columns[column])
                form = rng.choice(IN_YEARS if year or turned else LOOKUPS)
                lower = (lambda name: name.lower()) if rng.random() < 0.7 else (lambda name: name)
                question = form.format(label=lower(names[at]), column=lower(table.columns[column]))
                if rng.random() < 0.3 and known.get("title"):
                    question = question.rstrip("?") + f" of {known['title']}?"
                table_question(builder, "lookups", known.get("title") or "", table, question, [at], column, rng, context)


def fetaqa(builder, sets, rng):
    for part in ("dev", "test"):
        with open(f"{sets}/fetaqa-{part}.jsonl", encoding="utf-8") as file:
            for line in map(json.loads, file):
                array = line["table_array"]
                columns, rows = array[0], array[1:61]
                marked = [(at - 1, column) for at, column in line["highlighted_cell_ids"] if 0 < at <= len(rows)]
                right = sorted({at for at, _ in marked})
                if 1 <= len(right) <= 3 and len(rows) > 3 and all(len(row) == len(columns) for row in rows):
                    table = Rows(line["table_section_title"], columns, rows)
                    table_question(builder, "fetaqa", line["table_page_title"], table, line["question"], right, None, rng, line["table_page_title"])


def tatqa(builder, sets):
    """Judged, not trained on: questions that one row or one sentence answers."""
    for part in ("dev", "test"):
        for entry in json.load(open(f"{sets}/tatqa-{part}.json", encoding="utf-8")):
            array = [[" ".join(cell.split()) for cell in row] for row in entry["table"]["table"]]
            head = 1
            while head < min(3, len(array)) and not array[head][0]:
                head += 1
            columns = [" ".join(dict.fromkeys(row[at] for row in array[:head] if row[at])) for at in range(len(array[0]))]
            table = Rows("", columns, array[head:])
            rows = [[table.whole(row), "", ""] for row in array[head:] if any(row[1:])]
            passages = [paragraph["text"] for paragraph in entry["paragraphs"]]
            base = builder.add("", rows)
            prose = [builder.prose("", passage) for passage in passages]
            for question in entry["questions"]:
                answer = question["answer"] if isinstance(question["answer"], list) else [question["answer"]]
                if question["answer_type"] != "span" or len(answer) != 1:
                    continue
                answer = flat(str(answer[0]))
                places = [[document, at] for document in [base, *prose] for at, unit in enumerate(builder.documents[document][1])
                          if re.search(r"(?<![\w.,])" + re.escape(answer) + r"(?![\w])", flat(unit[0]))]
                if 1 <= len(places) <= 2:
                    builder.ask("tatqa", question["question"], base, places, near=prose, answers=[answer], group=entry["table"]["uid"])


def by_question(builder, name, answers, passages, queries):
    """Judged, not trained on: the shared questions, with the marked answers of the original set."""
    for query in queries:
        marked = answers.get(flat(query["query"]))
        if query["set"] != name or not marked:
            continue
        near = [builder.prose("", passages[at]["text"]) for at in query["hard_negatives"][:7]]
        for at in query["positives"][:1]:
            document = builder.prose("", passages[at]["text"])
            builder.marked(name, query["query"], document, marked, near=near, group=str(document % 50))


def original(paths):
    answers = {}
    for path in paths:
        for article in json.load(open(path, encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for qa in paragraph["qas"]:
                    answers.setdefault(flat(qa["question"]), []).extend(answer["text"] for answer in qa["answers"])
    return answers


def add_near(builder):
    """The documents of the same set that share most rare words with each question, without its own answers."""
    members = {}
    for question in builder.questions:
        members.setdefault(family(question["set"]), set()).update([question["own"], *question["near"]])
    for name, documents in members.items():
        group = {question["own"]: question["group"] for question in builder.questions if family(question["set"]) == name}
        words = {at: set().union(*(content_words(unit[0]) for unit in builder.documents[at][1][:40]), set()) for at in documents}
        postings = {}
        for at, there in words.items():
            for word in there:
                postings.setdefault(word, []).append(at)
        for question in builder.questions:
            if family(question["set"]) != name or question["near"]:
                continue
            scores = {}
            for word in content_words(question["question"]):
                there = postings.get(word, ())
                if 0 < len(there) < max(50, len(documents) // 8):
                    weight = math.log(1 + len(documents) / len(there))
                    for at in there:
                        scores[at] = scores.get(at, 0) + weight
            scores.pop(question["own"], None)
            if name in ("tables", "lookups", "fetaqa"):  # the same table, read for another question
                scores = {at: score for at, score in scores.items() if group.get(at) != question["group"]}
            question["near"] = sorted(scores, key=scores.get, reverse=True)[:NEAR]


def add_wrong(builder):
    """The units of near documents that share most with the question, but none that holds the words of an answer."""
    for question in builder.questions:
        asked, taken, answers = content_words(question["question"]), {tuple(place) for place in question["right"] + question["doubtful"]}, question.pop("answers", [])
        found = []
        for document in question["near"]:
            for at, unit in enumerate(builder.documents[document][1][:40]):
                if (document, at) not in taken and not any(answer in flat(unit[0]) for answer in answers):
                    found.append((-len(asked & content_words(unit[0])), document, at))
        question["wrong"] = [[document, at] for _, document, at in sorted(found)[:WRONG]]
        del question["near"]


def family(name):
    return name.split("-")[0]


def main():
    sets, data, out = sys.argv[1:4]
    os.makedirs(out, exist_ok=True)
    rng, builder = random.Random(1), Builder()
    articles = json.load(open(f"{sets}/xquad.en.json", encoding="utf-8"))["data"]
    order = [qa["id"] for article in articles for paragraph in article["paragraphs"] for qa in paragraph["qas"]]  # bench/chat's
    judged, odd = set(order), set(order[1::2])
    squad(builder, sets, judged)
    squad_style(builder, "es", f"{sets}/squad-es.json", skip=lambda paragraph: any(qa["id"] in judged for qa in paragraph["qas"]),
                translated=True)
    for language in ("de", "ro", "tr", "vi"):
        squad_style(builder, language, f"{sets}/xquad.{language}.json", keep=lambda qa: qa["id"] not in odd, translated=True)
    for name, path in (("zh", "drcd-dev"), ("zh", "drcd-test"), ("zh", "cmrc-dev")):
        squad_style(builder, name, f"{sets}/{path}.json")
    qed(builder, sets)
    passages, queries = shared(data)
    rest = medquad(builder, passages, queries, rng)
    cuad(builder, passages, queries, rng)
    wiki_tables(builder, sets, rng)
    lookups(builder, sets, rng)
    fetaqa(builder, sets, rng)
    squad_style(builder, "xquad", f"{sets}/xquad.en.json", keep=lambda qa: qa["id"] not in odd)
    tatqa(builder, sets)
    by_question(builder, "covidqa", original(glob.glob(f"{sets}/covidqa-*.json")), passages, queries)
    by_question(builder, "policyqa", original(glob.glob(f"{sets}/policyqa-*.json")), passages, queries)
    chinese = [question for question in builder.questions if question["set"] == "zh"]
    left_out = {id(question) for question in rng.sample(chinese, max(0, len(chinese) - CHINESE))}
    for question in builder.questions:
        if id(question) in left_out:
            question["set"] = "chinese"
    pubmedqa(builder, passages, queries)
    more_languages(builder, sets, judged, rng)
    more_judged(builder, sets, odd)
    unmarked(builder, passages, {"medquad_more": rest, "pubmedqa_parts": [query for query in queries if query["set"] == "pubmedqa"]})
    add_near(builder)
    add_wrong(builder)
    builder.forget_unused()
    counts = {}
    for question in builder.questions:
        counts[question["set"]] = counts.get(question["set"], 0) + 1
    print(counts, len(builder.documents), "documents", file=sys.stderr)
    with lzma.open(f"{out}/picks.json.xz", "wt", preset=4, encoding="utf-8") as file:
        json.dump({"documents": builder.documents, "questions": builder.questions}, file, ensure_ascii=False)


if __name__ == "__main__":
    main()
