"""Trains the answer picker: of the sentences and rows that may answer a question, the one that does, or none.

Usage: python training/train_pick.py WORK START OUT [--steps N | --seconds N] [--share S] [--many] [--taught TAUGHT] [--all] …
       python training/train_pick.py WORK START TEACHER --teacher CHECKPOINT …
       python training/train_pick.py WORK START --judge
WORK holds what pick_data.py wrote, START is the folder of the cross-encoder to go on from, or of an embedder, which gets a new head.
With --teacher a larger network is trained from CHECKPOINT instead, which reads START's tokens; TEACHER is then a checkpoint, and
teach_pick.py writes its logits for --taught. Those are followed more than the marks; questions whose answers nobody marked
have nothing else to be learnt from.
Softmax over a list and "none of them", whose logit is 0, so that saying nothing is one of the choices; beside it binary loss for
every candidate. Every twentieth group of a trained set is held out, with its article in other languages; the sets in JUDGED are never
trained on, those in MULTILINGUAL only with --many. In the end the weights are put between START's and the trained ones (--share), which
keeps more of what START knew of other domains. With --all the sets in JUDGED are learnt from too, but XQuAD's: to ship, once the
same has been judged without them. OUT gets the model as it ships, and WORK a file .npz named like it with the
logits of all candidates of the judged and held-out questions. --judge only judges START, a picker.
"""
import argparse
import json
import lzma
import os
import random
import shutil
import zlib

import numpy as np
import torch
import torch.nn.functional as F

from common import checkpoint, log, settings
from descent import add_arguments, descend
from export import shipped, whole, write
from model import DEVICE, CrossEncoder, dense, save
from tokens import CLS, SEP, Tokens, by_budget, pairs, tokenizer

JUDGED = ("xquad", "tatqa", "covidqa", "policyqa", "xquad_crossed", *(f"xquad_{language}" for language in "en es zh ar ru el hi th".split()))
MULTILINGUAL = ("italian", "japanese", "arabic", "chinese", "crossed")
XQUAD = tuple(name for name in JUDGED if name.startswith("xquad"))
UNMARKED = ("medquad_more", "pubmedqa_parts")  # only a teacher knows their answers
SAID_AGAIN = ("italian", "chinese", "crossed")  # articles of other sets: what is held out there is held out here
TIMES = {"tables": 3, "fetaqa": 2, "qed": 2, "medquad": 0.6, "es": 0.7, "zh": 0.8, "italian": 0.3, "chinese": 0.5, "crossed": 0.7}  # in an epoch; 1 otherwise
MARK = " ‖ "  # between a sentence and what stands around it; crates/engine/src/chat/extract/judge.rs writes the same
BEFORE, AFTER = 24, 14  # words of the neighbours
PAIR_TOKENS = 224
MOST_TOKENS = 256
FOLLOWED = 0.6  # how much a teacher's logits count beside the marks
FAR = -9.0  # a teacher's logit of what it did not read: units of anywhere
NONE = 0.2  # share of answerable questions that are asked without their answer


def around(title, unit):
    """A unit as the picker reads it."""
    said, before, after = unit
    before, after = before.split()[-BEFORE:], after.split()[:AFTER]
    return f"{said}{MARK}{title}{MARK}{' '.join(before)}{MARK}{' '.join(after)}"


class Picks:
    def __init__(self, work, folder):
        with lzma.open(f"{work}/picks.json.xz", "rt", encoding="utf-8") as file:
            found = json.load(file)
        self.questions, texts, self.starts = found["questions"], [], []
        for at, (title, units) in enumerate(found["documents"]):
            self.starts.append(len(texts))
            title = "" if at % 3 == 0 else title  # not every document has headings
            texts += [around(title, unit) for unit in units]
        self.sizes = [len(units) for _, units in found["documents"]]
        made = tokenizer(folder)
        self.marks = (made.first, made.separator) if hasattr(made, "separator") else (CLS, SEP)
        self.units = Tokens.of(made, texts, 200)
        self.asked = Tokens.of(made, [question["question"] for question in self.questions], 64)
        for question in self.questions:
            place = lambda part: [self.starts[document] + unit for document, unit in question[part]]
            right, doubtful, wrong = place("right"), place("doubtful"), place("wrong")
            own = range(self.starts[question["own"]], self.starts[question["own"]] + self.sizes[question["own"]])
            known = {*right, *doubtful}
            question.update(right=right, wrong=wrong, beside=[at for at in own if at not in known])
        self.kept_back = {self.article(question) for question in self.questions if self.is_held_out(question)}

    @staticmethod
    def article(question):
        return question.get("article", question["group"])

    @staticmethod
    def is_held_out(question):
        return question["set"] not in JUDGED + SAID_AGAIN and zlib.crc32(question["group"].encode()) % 20 == 0

    def is_judged(self, question):
        return question["set"] in JUDGED or self.is_held_out(question)


class Lists:
    """Draws lists: the right unit first, or -1 in its place where there is none."""

    def __init__(self, picks, count, options):
        self.picks, self.count, self.rng, self.waiting = picks, count, random.Random(options.seed), []
        self.left_out = (XQUAD if options.all else JUDGED) + (() if options.many else MULTILINGUAL) + (() if options.taught else UNMARKED)

    def epoch(self):
        rng, kept = self.rng, []
        for at, question in enumerate(self.picks.questions):
            kept_back = question["set"] not in JUDGED and self.picks.article(question) in self.picks.kept_back
            if question["set"] in self.left_out or kept_back:
                continue
            times = TIMES.get(question["set"], 1)
            kept += [at] * (int(times) + (rng.random() < times - int(times)))
        rng.shuffle(kept)
        return kept

    def next(self, batch):
        while len(self.waiting) < batch:
            self.waiting.extend(self.epoch())
        taken, self.waiting = self.waiting[:batch], self.waiting[batch:]
        return taken, np.array([self.drawn(self.picks.questions[at]) for at in taken])

    def drawn(self, question):
        rng, room = self.rng, self.count - 1
        first = -1 if not question["right"] or rng.random() < NONE else rng.choice(question["right"])
        beside = question.get("scored", question["beside"])
        beside = rng.sample(beside, min(len(beside), room * 2 // 3))
        wrong = question["wrong"][:room]
        others = beside + rng.sample(wrong, min(len(wrong), room - len(beside)))
        while len(others) < room:  # of anywhere
            others.append(rng.randrange(len(self.picks.units.lengths)))
        return [first, *others]


class Taught:
    """A teacher's logits of the units that each question may be asked beside."""

    def __init__(self, path):
        found = np.load(path)
        places = zip(found["question"].tolist(), found["unit"].tolist())
        self.scores = dict(zip(places, found["score"].tolist()))

    def of(self, taken, drawn):
        return np.array([[self.scores.get((question, unit), FAR) for unit in units] for question, units in zip(taken, drawn.tolist())],
                        np.float32)


def choices(scores, there):
    """None of them, or one."""
    return torch.cat([torch.zeros_like(scores[:, :1]), scores.masked_fill(~there, -1e4)], 1)


def loss_of(scores, there, marked, taught=None):
    """`there`: whether the first of each list is a candidate at all; `marked`: whether somebody said what is right."""
    wanted = torch.zeros_like(scores)
    wanted[:, 0] = 1
    binary = lambda wanted: (F.binary_cross_entropy_with_logits(scores, wanted, reduction="none") * there).mean(1)
    hard = F.cross_entropy(choices(scores, there), there[:, 0].long(), reduction="none") + 0.5 * binary(wanted)
    if taught is None:
        return hard.mean()
    follow = F.kl_div(F.log_softmax(choices(scores, there), 1), F.softmax(choices(taught, there), 1), reduction="none").sum(1)
    follow = follow + 0.5 * binary(taught.sigmoid())
    return (FOLLOWED * follow + (1 - FOLLOWED) * hard * marked).mean()


@torch.no_grad()
def judge(network, picks):
    """Logits of every candidate of the judged and held-out questions, and how often the best one of each is right."""
    network.eval()
    rows = [(at, place, kind) for at, question in enumerate(picks.questions) if picks.is_judged(question)
            for kind, part in ((2, question["right"]), (1, question["beside"]), (0, question["wrong"])) for place in part]
    asked, units, kinds = (np.array(column) for column in zip(*rows))
    scores = np.zeros(len(rows), np.float32)
    for group in by_budget(picks.units.lengths[units] + picks.asked.lengths[asked], 60_000):
        scores[group] = network(pairs(picks.asked, asked[group], picks.units, units[group], PAIR_TOKENS, picks.marks)).float().cpu().numpy()
    names = np.array([picks.questions[at]["set"] for at in asked])
    for name in sorted(set(names)):
        right, told, best_right, best_without = [], [], [], []
        mine = np.flatnonzero(names == name)
        for rows in np.split(mine, np.flatnonzero(np.diff(asked[mine])) + 1):
            answers = kinds[rows] == 2
            if answers.any():
                own = rows[kinds[rows] > 0]
                right.append(kinds[own[scores[own].argmax()]] == 2)
                told.append(kinds[rows[scores[rows].argmax()]] == 2)
                best_right.append(scores[rows[answers]].max())
            if (~answers).any():
                best_without.append(scores[rows[kinds[rows] == 0]].max() if (kinds[rows] == 0).any() else -9)
        share = lambda values: f"{100 * np.mean(values):.1f}%" if values else "-"
        log(f"{name}: {len(right)} questions, right in its passage {share(right)}, among near ones {share(told)}; answers above 0 "
            f"{share([value > 0 for value in best_right])}, near ones without an answer below 0 {share([value < 0 for value in best_without])}")
    network.train()
    return {"question": asked, "unit": units, "kind": kinds, "score": scores, "set": names}


def export(start_folder, out, weights):
    """The model as it ships: layers in 8 bits, START's tables and vocabulary where they are."""
    os.makedirs(out, exist_ok=True)
    write(f"{out}/model.safetensors", shipped(weights))
    known = settings(start_folder)
    base = f"../{os.path.basename(os.path.normpath(start_folder))}"
    said = {"id": os.path.basename(os.path.normpath(out)), "max_tokens": MOST_TOKENS,
            "tables": known.get("tables", f"{base}/model.safetensors")}
    if os.path.exists(f"{start_folder}/vocabulary.unigram"):
        said["vocabulary"] = f"{base}/vocabulary.unigram"
    for name in ("config.json", "tokenizer.json", "LICENSE"):
        if os.path.exists(f"{start_folder}/{name}"):
            shutil.copyfile(f"{start_folder}/{name}", f"{out}/{name}")
    with open(f"{out}/quire.json", "w", encoding="utf-8") as file:
        json.dump(said, file, indent=2)
        file.write("\n")


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "out"):
        arguments.add_argument(name, nargs="?" if name == "out" else None)
    arguments.add_argument("--share", type=float, default=0.6, help="of what was trained; the rest is START's")
    arguments.add_argument("--many", action="store_true", help="learn from the sets in many languages, too")
    arguments.add_argument("--taught", help="what teach_pick.py wrote")
    arguments.add_argument("--teacher", help="train this checkpoint instead")
    arguments.add_argument("--all", action="store_true", help="learn from the judged sets, too, but XQuAD's")
    arguments.add_argument("--judge", action="store_true", help="judge START and do nothing else")
    arguments.add_argument("--judge-start", action="store_true", help="judge the cross-encoder that training starts from, too")
    add_arguments(arguments, rate=6e-5, batch=64, length=10, seed=1)
    options = arguments.parse_args()
    torch.manual_seed(options.seed)
    start = checkpoint(options.teacher or options.start)
    picks = Picks(options.work, options.start)
    log("questions", len(picks.questions), "units", len(picks.units.lengths), "tokens", int(picks.units.lengths.sum()))
    network = CrossEncoder(start).to(DEVICE).train()
    if options.judge or options.judge_start:
        judge(network, picks)
    if options.judge:
        return
    lists, taught = Lists(picks, options.list, options), Taught(options.taught) if options.taught else None
    if taught:
        for at, question in enumerate(picks.questions):
            question["scored"] = [unit for unit in question["beside"] if (at, unit) in taught.scores]
    log("lists in an epoch", len(lists.epoch()))

    def next_loss():
        taken, drawn = lists.next(options.batch)
        there = torch.as_tensor(drawn >= 0).to(DEVICE)
        packed = pairs(picks.asked, np.repeat(taken, options.list), picks.units, drawn.clip(0).ravel(), PAIR_TOKENS, picks.marks)
        scores = network(packed).view(len(taken), options.list)
        marked = torch.tensor([picks.questions[at]["set"] not in UNMARKED for at in taken]).to(DEVICE)
        followed = torch.as_tensor(taught.of(taken, drawn)).to(DEVICE) if taught else None
        return loss_of(scores, there, marked, followed), lambda: f"right {((scores.argmax(1) == 0) & there[:, 0]).float().sum().item() / max(1, there[:, 0].sum().item()):.2f}"

    descend(network, options, next_loss)
    if options.teacher:
        save(network, start, options.out)
        judge(network, picks)
        return
    tables = {name: value for name, value in start.items() if name.startswith("embeddings.")}
    trained = {name: value.cpu() for name, value in network.named().items()}
    mixed = {**tables, **{name: options.share * value + (1 - options.share) * dense(start, name) if options.share < 1 else value
                          for name, value in trained.items()}}
    export(options.start, options.out, mixed)
    log("as it ships:")
    np.savez_compressed(f"{options.work}/{os.path.basename(os.path.normpath(options.out))}.npz", **judge(CrossEncoder(whole(mixed)).to(DEVICE), picks))


if __name__ == "__main__":
    main()
