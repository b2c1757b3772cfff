#!/usr/bin/env python3
"""Uses a server for hours as people would, and looks whether anything grows: memory, handles, disk, latencies.

    python3 bench/reliability/soak.py [MINUTES, default 120] [--picture FILE.svg] [--report FILE.json]

Uploads, searches, asks, reads and deletes all the time, such that the number of files stays the same after a warm-up; restarts the server
every half hour. Every minute is a row of the report. Ends with 1 if, between the first and the last quarter after the warm-up, memory
grew by more than 50 MB, handles by more than 20, or originals and index by more than a tenth; if in the last quarter a median latency is
more than one and a half times that of a new server with as many files, which is used in the same way at the same time (so that
whatever else the machine does slows both down); or if anything that was asked failed. The catalog is shown apart: it grows by the lines of
the audit log and by questions that went wrong, until those are as old or as many as are kept. Needs target/release/quire (or QUIRE_BINARY)."""

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import SHARED, Server  # noqa: E402

FILES, PAUSE = 300, 1.2
WARM_UP = 0.15
RESTART_S = 1800
KINDS = ("upload", "search", "chat", "read", "delete")


class Use:
    """One client after the other, on one server; what each request took and whether it was answered."""

    def __init__(self, server, texts):
        self.server, self.texts, self.chance = server, texts, random.Random(5)
        self.times, self.failed = collections.defaultdict(list), collections.Counter()
        self.files, self.lock, self.may = [], threading.Lock(), threading.Event()
        self.may.set()
        self.stopped = False
        self.number = 0

    def timed(self, kind, work):
        began = time.perf_counter()
        status, answer = work()
        with self.lock:
            self.times[kind].append(time.perf_counter() - began)
            if status >= 400:
                self.failed[f"{kind} {status} {answer.get('error', {}).get('cause', '')[:80]}"] += 1
        return status, answer

    def words(self):
        return " ".join(self.chance.choice(self.texts).split()[:9])

    def change(self):
        """A file comes, and once there are enough another goes."""
        self.number += 1
        text = "\n\n".join(self.chance.sample(self.texts, 5))
        body = {"name": f"{self.number}.txt", "text": f"Number {self.number}\n\n{text}"}
        status, answer = self.timed("upload", lambda: self.server.post(f"/boxes/{self.server.box}/files", body))
        if status == 201:
            self.files.append(answer["data"]["fileId"])
        if len(self.files) > FILES:
            gone = self.files.pop(self.chance.randrange(len(self.files) - 20))
            self.timed("delete", lambda: self.server.ask("DELETE", f"/files/{gone}"))

    def question(self):
        box = self.server.box
        self.timed("search", lambda: self.server.post(f"/boxes/{box}/retrieve-documents", {"query": self.words()}))
        if self.chance.random() < 0.3:
            body = {"model": box, "messages": [{"role": "user", "content": self.words() + "?"}]}
            self.timed("chat", lambda: self.server.post("/chat/completions", body))
        if len(self.files) > 40:
            file = self.files[self.chance.randrange(20)]
            self.timed("read", lambda: self.server.ask("GET", f"/files/{file}"))

    def begin(self):
        self.threads = [threading.Thread(target=self.go_on, args=(what,), daemon=True) for what in (self.change, self.question, self.question)]
        for thread in self.threads:
            thread.start()
        return self

    def end(self):
        self.stopped = True
        self.may.set()
        for thread in self.threads:
            thread.join()
        self.server.stop()
        shutil.rmtree(self.server.data, ignore_errors=True)

    def go_on(self, what):
        while not self.stopped:
            self.may.wait()
            try:
                what()
            except (OSError, http.client.HTTPException) as error:
                if self.may.is_set():
                    self.failed[f"{what.__name__}: {error!r}"[:100]] += 1
            time.sleep(PAUSE)

    def take(self):
        """Medians and p99 in milliseconds since the last time."""
        with self.lock:
            times, self.times = self.times, collections.defaultdict(list)
        return {kind: {"count": len(each), "p50": round(statistics.median(each) * 1e3, 1),
                       "p99": round(sorted(each)[int(len(each) * .99)] * 1e3, 1)} for kind, each in times.items()}


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def a_new_one(texts):
    """A server that was just started, with as many files as the other, and used in the same way."""
    use = Use(Server().set_up().start(), texts)
    while len(use.files) < FILES and not use.failed:
        use.change()
    use.server.wait_until_read()
    use.take()
    return use.begin()


def look(server, use, minute):
    pid = server.process.pid
    return {"minute": minute, "memory_mb": server.memory_kb() / 1024, "handles": len(os.listdir(f"/proc/{pid}/fd")),
            "disk_mb": round(size(server.data / "index") + size(server.data / "blobs"), 1),
            "catalog_mb": round(size(server.data) - size(server.data / "index") - size(server.data / "blobs"), 1), "files": len(use.files), "ms": use.take()}


def quarter(rows, last):
    count = max(1, len(rows) // 4)
    return rows[-count:] if last else rows[:count]


def judge(rows, failed):
    """What grew."""
    rows = rows[int(len(rows) * WARM_UP):]
    mean = lambda part, value: statistics.mean(value(row) for row in part)
    first, last = quarter(rows, False), quarter(rows, True)
    grew = [f"failed: {failed}"] if failed else []
    for name, most in (("memory_mb", lambda was: was + 50), ("handles", lambda was: was + 20), ("disk_mb", lambda was: was * 1.1)):
        was, now = (mean(part, lambda row: row[name]) for part in (first, last))
        print(f"{name}: {was:.0f} in the first quarter, {now:.0f} in the last")
        grew += [name] if now > most(was) else []
    median = lambda part, whose, kind: statistics.median(row[whose][kind]["p50"] for row in part if kind in row.get(whose, {}))
    for kind in KINDS:
        was, now, new = median(first, "ms", kind), median(last, "ms", kind), median(last, "ms_of_a_new_one", kind)
        print(f"{kind}: p50 {was:.1f} ms in the first quarter, {now:.1f} in the last, where a new server has {new:.1f}: {now / new:.2f} times")
        grew += [kind] if now > new * 1.5 else []
    return grew


def picture(rows, path):
    """Small multiples, one line each, over the minutes."""
    lines = {"memory, MB": lambda row: row["memory_mb"], "handles": lambda row: row["handles"], "originals and index, MB": lambda row: row["disk_mb"],
             "catalog, MB": lambda row: row["catalog_mb"],
             "search p50, ms": lambda row: row["ms"].get("search", {}).get("p50"), "search p99, ms": lambda row: row["ms"].get("search", {}).get("p99"),
             "chat p50, ms": lambda row: row["ms"].get("chat", {}).get("p50"), "upload p50, ms": lambda row: row["ms"].get("upload", {}).get("p50")}
    width, height, left, top = 740, 84, 180, 16
    end = max(row["minute"] for row in rows) or 1
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {len(lines) * height + 30}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="#fff"/>']
    for at, (name, value) in enumerate(lines.items()):
        points = [(row["minute"], value(row)) for row in rows if value(row) is not None]
        most = max(number for _, number in points) or 1
        x = lambda minute: left + (width - left - 20) * minute / end
        y = lambda number: at * height + top + (height - 24) * (1 - number / (most * 1.15))
        drawn = " ".join(f"{x(minute):.1f},{y(number):.1f}" for minute, number in points)
        parts += [f'<text x="8" y="{at * height + top + 34}" fill="#333">{name}</text>',
                  f'<text x="{left - 6}" y="{y(most) + 4:.1f}" text-anchor="end" fill="#777">{most:.0f}</text>',
                  f'<text x="{left - 6}" y="{y(0) + 4:.1f}" text-anchor="end" fill="#777">0</text>',
                  f'<line x1="{left}" x2="{width - 20}" y1="{y(0):.1f}" y2="{y(0):.1f}" stroke="#ccc"/>',
                  f'<polyline points="{drawn}" fill="none" stroke="#2457c5" stroke-width="1.5"/>']
    parts += [f'<text x="{left}" y="{len(lines) * height + 20}" fill="#777">0</text>',
              f'<text x="{width - 20}" y="{len(lines) * height + 20}" text-anchor="end" fill="#777">{end} minutes</text>', "</svg>"]
    pathlib.Path(path).write_text("\n".join(parts) + "\n")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("minutes", nargs="?", type=float, default=120)
    options.add_argument("--picture")
    options.add_argument("--report")
    options = options.parse_args()
    if options.minutes < 30:
        raise SystemExit("less than half an hour shows nothing: files are deleted only once there are 300 of them")
    corpus = SHARED / "quality" / "cranfield" / "corpus.jsonl"
    texts = [json.loads(line)["text"] for line in open(corpus)]
    texts = [text for text in texts if len(text) > 200]
    server = Server().set_up().start()
    use, new = Use(server, texts).begin(), None
    last_quarter = options.minutes * 60 * (1 - (1 - WARM_UP) / 4) - 60
    rows, began, restarted, restarts = [], time.monotonic(), time.monotonic(), 0
    try:
        while time.monotonic() - began < options.minutes * 60:
            time.sleep(60)
            if time.monotonic() - restarted > RESTART_S:
                use.may.clear()
                time.sleep(10)
                server.stop()
                server.start()
                use.may.set()
                restarted, restarts = time.monotonic(), restarts + 1
            rows.append(look(server, use, round((time.monotonic() - began) / 60)))
            if new:
                rows[-1]["ms_of_a_new_one"] = new.take()
            elif time.monotonic() - began > last_quarter:
                new = a_new_one(texts)
                use.take()
            print(json.dumps(rows[-1]), flush=True)
    finally:
        for each in filter(None, (use, new)):
            each.end()
    print(f"{restarts} restarts")
    grew = judge(rows, dict(use.failed + new.failed))
    if options.report:
        pathlib.Path(options.report).write_text(json.dumps(rows, indent=1) + "\n")
    if options.picture:
        picture(rows, options.picture)
    print(f"grew or failed: {grew}" if grew else "all flat")
    sys.exit(bool(grew))


if __name__ == "__main__":
    main()
