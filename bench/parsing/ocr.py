#!/usr/bin/env python3
"""Word F1 and speed of text recognition on pictures of pages, clean and degraded, beside tesseract's.

    apt-get install poppler-utils fonts-liberation fonts-wqy-microhei tesseract-ocr tesseract-ocr-{spa,deu,fra,chi-sim}
    pip install pillow numpy
    cargo build --release -p parsers --example parse
    bench/parsing/ocr.py draw PAGES [--data ../shared/data] [--each 20]
    bench/parsing/ocr.py read PAGES [--tesseract] [--worst 3]

`draw` makes pictures: pages of the English PDFs of the data as they are, and pages typeset from the Spanish, German and Chinese
paragraphs there and from French ones below, at 150 and at 300 dpi; each clean and degraded (a skew of up to 2°, blur, grey paper,
noise). Beside each picture lies what it says: the words of the PDF's text layer (pages on which it is turned or hardly there are
left out), or the paragraphs. `read` compares the bags of words, as quality.py does; each CJK character is a word. Seconds are CPU
seconds of this process and its children, with tesseract on one thread.
"""
import argparse, collections, json, os, pathlib, random, re, subprocess, sys, unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
FONTS = pathlib.Path(os.environ.get("FONTS", "/usr/share/fonts/truetype"))
TESSERACT = {"en": "eng", "es": "spa", "de": "deu", "fr": "fra", "zh": "chi_sim"}
FRENCH = """Les hommes naissent et demeurent libres et égaux en droits. Les distinctions sociales ne peuvent être fondées que sur l'utilité commune.
Le but de toute association politique est la conservation des droits naturels et imprescriptibles de l'homme. Ces droits sont la liberté, la propriété, la sûreté et la résistance à l'oppression.
La liberté consiste à pouvoir faire tout ce qui ne nuit pas à autrui : ainsi, l'exercice des droits naturels de chaque homme n'a de bornes que celles qui assurent aux autres membres de la société la jouissance de ces mêmes droits. Ces bornes ne peuvent être déterminées que par la loi.
La loi est l'expression de la volonté générale. Tous les citoyens ont droit de concourir personnellement, ou par leurs représentants, à sa formation. Elle doit être la même pour tous, soit qu'elle protège, soit qu'elle punisse.
Nul homme ne peut être accusé, arrêté ni détenu que dans les cas déterminés par la loi, et selon les formes qu'elle a prescrites. Ceux qui sollicitent, expédient, exécutent ou font exécuter des ordres arbitraires doivent être punis.
Tout homme étant présumé innocent jusqu'à ce qu'il ait été déclaré coupable, s'il est jugé indispensable de l'arrêter, toute rigueur qui ne serait pas nécessaire pour s'assurer de sa personne doit être sévèrement réprimée par la loi.
La libre communication des pensées et des opinions est un des droits les plus précieux de l'homme ; tout citoyen peut donc parler, écrire, imprimer librement, sauf à répondre de l'abus de cette liberté dans les cas déterminés par la loi.
Pour l'entretien de la force publique, et pour les dépenses d'administration, une contribution commune est indispensable ; elle doit être également répartie entre tous les citoyens, en raison de leurs facultés.
La société a le droit de demander compte à tout agent public de son administration. Toute société dans laquelle la garantie des droits n'est pas assurée, ni la séparation des pouvoirs déterminée, n'a point de constitution.
Le règlement intérieur de l'établissement, affiché dès le 1er août 2019 à l'entrée du bâtiment nº 7, précise que les visiteurs âgés de moins de 12 ans doivent être accompagnés ; le tarif réduit s'élève à 3,50 € et la visite guidée coûte 8 €.
Où çà ? demanda Loïc, tout étonné. Là-bas, près du vieux hêtre, au bord de l'étang gelé, où naguère le garde-chasse et sa sœur aînée venaient cueillir des mûres."""


def words(text):
    text = unicodedata.normalize("NFKC", text).lower()
    text = re.sub(r"([^\W\d_])[-\u2010\xad]\n\s*", r"\1", text)
    return WORD.findall("".join(c for c in text if unicodedata.category(c) not in ("Mn", "Cf")))


def f1(got, expected):
    common = sum((collections.Counter(got) & collections.Counter(expected)).values())
    return 2 * common / max(1, len(got) + len(expected))


def printed(data, count, chance):
    """Pages of English PDFs: file, page, words."""
    found = []
    files = [p for p in sorted(data.rglob("*.pdf")) if not re.search(r"hostile|right_to_left|arabic|geotopo|password", str(p))]
    for file in files:
        text = subprocess.run(["pdftotext", "-q", file, "-"], capture_output=True).stdout.decode(errors="replace")
        for number, page in enumerate(text.split("\f"), 1):
            if 120 <= len(words(page)) <= 900 and page.isascii() | (sum(map(str.isascii, page)) > 0.97 * len(page)):
                found.append((file, number, page))
    by_file = collections.defaultdict(list)
    for page in found:
        by_file[page[0]].append(page)
    queues = [chance.sample(pages, len(pages)) for pages in by_file.values()]
    taken = []
    while len(taken) < count and any(queues):
        taken += [queue.pop() for queue in queues if queue]
    return taken[:count]


def typeset(text, dpi, font_file, size, width=460.0):
    """Paragraphs on a white page of A4, broken into lines."""
    from PIL import Image, ImageDraw, ImageFont
    scale = dpi / 72
    page = Image.new("L", (round(595 * scale), round(842 * scale)), 255)
    draw, font = ImageDraw.Draw(page), ImageFont.truetype(str(font_file), round(size * scale))
    y, written = 60 * scale, []
    for paragraph in text:
        pieces = re.findall(r"[\u3000-\u9fff\uff00-\uffef]|[^\s\u3000-\u9fff\uff00-\uffef]+|\s+", paragraph)
        line, lines = "", []
        for piece in pieces:
            if font.getlength(line + piece) > width * scale and line.strip():
                lines.append(line.strip())
                line = ""
            line += piece
        lines.append(line.strip())
        if y + len(lines) * size * 1.4 * scale > 790 * scale:
            break
        for line in lines:
            draw.text((65 * scale, y), line, font=font, fill=20)
            y += size * 1.4 * scale
        y += size * 0.8 * scale
        written.append(paragraph)
    return page, "\n\n".join(written)


def degraded(page, dpi, chance):
    import numpy
    from PIL import Image, ImageFilter
    page = page.rotate(chance.uniform(-2, 2), resample=Image.BICUBIC, expand=True, fillcolor=255)
    page = page.filter(ImageFilter.GaussianBlur(0.9 * dpi / 150))
    values = numpy.asarray(page).astype(float)
    noise = numpy.random.default_rng(chance.randrange(1 << 30)).normal(0, 14, values.shape)
    values = values * 0.82 + 30 + noise
    return Image.fromarray(values.clip(0, 255).astype("uint8"))


def draw(options):
    from PIL import Image
    target, data = pathlib.Path(options.pages), pathlib.Path(options.data)
    target.mkdir(parents=True, exist_ok=True)
    chance = random.Random(20)

    def keep(name, dpi, page, text):
        for kind, picture in (("clean", page), ("degraded", degraded(page, dpi, chance))):
            stem = f"{name}-{dpi}-{kind}"
            picture.save(target / f"{stem}.png")
            (target / f"{stem}.txt").write_text(text)

    for nth, (file, number, text) in enumerate(printed(data, options.each, chance)):
        for dpi in (150, 300):
            run = subprocess.run(["pdftoppm", "-r", str(dpi), "-gray", "-f", str(number), "-l", str(number), "-png", file],
                                 capture_output=True, check=True)
            (target / "page.png").write_bytes(run.stdout)
            keep(f"en-{nth:03}", dpi, Image.open(target / "page.png").convert("L"), text)
    latin = [FONTS / f"liberation/Liberation{face}-Regular.ttf" for face in ("Serif", "Sans")]
    for language in ("es", "de", "zh", "fr"):
        paragraphs = FRENCH.split("\n")
        if language != "fr":
            rows = open(data / f"quality/xquad-{language}/corpus.jsonl", encoding="utf-8")
            paragraphs = [json.loads(row)["text"] for row in rows]
        for nth in range(max(1, options.each // 4)):
            text = chance.sample(paragraphs, min(len(paragraphs), 8))
            font = FONTS / "wqy/wqy-microhei.ttc" if language == "zh" else latin[nth % 2]
            size = (10, 11, 12)[nth % 3]
            for dpi in (150, 300):
                keep(f"{language}-{nth:03}", dpi, *typeset(text, dpi, font, size))
    (target / "page.png").unlink(missing_ok=True)


def read(options):
    pages = sorted(pathlib.Path(options.pages).glob("*.png"))
    scores, seconds, rows = collections.defaultdict(list), collections.defaultdict(list), []
    for language in sorted({page.name[:2] for page in pages}):
        files = [str(page) for page in pages if page.name.startswith(language)]
        environment = dict(os.environ, OMP_THREAD_LIMIT="1")
        results = []
        if options.tesseract:
            for file in files:
                before = sum(os.times()[2:4])
                run = subprocess.run([options.program, file, "stdout", "-l", TESSERACT[language], "--psm", "3"],
                                     capture_output=True, env=environment)
                results.append((run.stdout.decode(errors="replace"), sum(os.times()[2:4]) - before))
        else:
            run = subprocess.run([options.binary, *files], capture_output=True, text=True, env=environment)
            for line in run.stdout.splitlines():
                found = json.loads(line)
                text = "\n".join(page["text"] for page in (found["document"] or {}).get("pages", []))
                results.append((text, found["cpu_seconds"]))
        for file, (text, took) in zip(files, results, strict=True):
            expected = words(pathlib.Path(file).with_suffix(".txt").read_text())
            score = f1(words(text), expected)
            kind = re.search(r"-(\d+)-(\w+)\.png$", file)
            scores[language, int(kind[1]), kind[2]].append(score)
            seconds[language].append(took)
            rows.append((score, file, words(text), expected))
    for (language, dpi, kind), found in sorted(scores.items()):
        print(f"{language}  {dpi} dpi  {kind:8}  word F1 {sum(found) / len(found):.4f}  ({len(found)} pages, worst {min(found):.3f})")
    for language, found in seconds.items():
        print(f"{language}  {sum(found) / len(found):.2f} CPU seconds a page")
    took = [second for found in seconds.values() for second in found]
    print(f"all  {len(took) / sum(took):.2f} pages a CPU second ({len(took)} pages)")
    for score, file, got, expected in sorted(rows, key=lambda row: row[0])[: options.worst]:
        print(f"  {score:.3f} {file}")
        print(f"        more: {list((collections.Counter(got) - collections.Counter(expected)).elements())[:15]}")
        print(f"        less: {list((collections.Counter(expected) - collections.Counter(got)).elements())[:15]}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = options.add_subparsers(dest="step", required=True)
    step = steps.add_parser("draw")
    step.add_argument("pages")
    step.add_argument("--data", default=str(ROOT.parent / "shared/data"))
    step.add_argument("--each", type=int, default=20, help="English pages; a quarter as many in each other language")
    step = steps.add_parser("read")
    step.add_argument("pages")
    step.add_argument("--tesseract", action="store_true")
    step.add_argument("--program", default="tesseract")
    step.add_argument("--binary", default=str(ROOT / "target/release/examples/parse"))
    step.add_argument("--worst", type=int, default=3)
    options = options.parse_args()
    draw(options) if options.step == "draw" else read(options)


main()
