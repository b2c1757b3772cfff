#!/usr/bin/env python3
"""Hostile requests in a loop beside normal use: does memory stay flat, and do others notice?

    bench/security/hostile.py [--minutes 30] [--rounds 1] [--only KIND,…] [--report FILE]

Starts a server of its own (QUIRE_BINARY, else target/release/quire) and talks to it over loopback only. Normal clients search,
list, upload and delete all the time: alone at first, then beside every kind of attack in attacks.py. Exits 1 if memory grew by
more than 50 MB after the warm-up, if the normal clients' p99 more than doubled, if they saw an error, or if the server died.
With more than one round, quiet and attacked minutes alternate, so that a machine that others use too slows both down alike.
The attackers run in a process of their own, which gets only what the server leaves of the processor: they would have machines of
their own.
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import threading
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))
from service import SHARED, Server  # noqa: E402

import attacks  # noqa: E402

GROWTH_MB = 50
SLOWER = 2
# A p99 below this is noise of the machine: twice nothing is nothing.
LEAST_P99_MS = 25
# Seconds after an attack in which what it left to do is done.
AFTERMATH = 30


class Normal(threading.Thread):
    """Somebody who uses the service as it is meant, on one connection, ten times a second."""

    def __init__(self, server, key, box, what, log):
        super().__init__(daemon=True)
        self.server, self.key, self.box, self.what, self.log = server, key, box, what, log
        self.stop, self.connection = False, None

    def ask(self, method, path, body=None, kind="application/json"):
        self.connection = self.connection or self.server.connect()
        try:
            self.connection.request(method, f"/api/public/v1{path}", body=body,
                                    headers={"Authorization": f"Bearer {self.key}", "Content-Type": kind})
            answer = self.connection.getresponse()
            return answer.status, answer.read(), answer.getheader("connection") == "close"
        except Exception:
            self.connection.close()
            self.connection = None
            raise

    def once(self):
        if self.what == "search":
            return self.timed("POST", f"/boxes/{self.box}/retrieve-documents", json.dumps({"query": "How long is the warranty?"}))
        if self.what == "list":
            return self.timed("GET", f"/boxes/{self.box}/files?limit=20")
        boundary = uuid.uuid4().hex
        body = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{boundary}.txt\"\r\n\r\n"
                f"A small file about {boundary}.\r\n--{boundary}--\r\n").encode()
        added = self.timed("POST", f"/boxes/{self.box}/files", body, f"multipart/form-data; boundary={boundary}")
        if added:
            self.timed("DELETE", f"/files/{json.loads(added)['data']['fileId']}")

    def timed(self, method, path, body=None, kind="application/json"):
        name = "delete" if method == "DELETE" else self.what
        begin = time.monotonic()
        try:
            status, answer, close = self.ask(method, path, body, kind)
            if close:
                self.connection.close()
                self.connection = None
            self.log.append((time.time(), name, (time.monotonic() - begin) * 1000, status))
            return answer if status in (200, 201) else None
        except Exception as error:
            self.log.append((time.time(), name, (time.monotonic() - begin) * 1000, type(error).__name__))
            return None

    def run(self):
        while not self.stop:
            begin = time.monotonic()
            self.once()
            time.sleep(max(0.02, 0.1 - (time.monotonic() - begin)))


def attack(me, kind, pause, answers):
    while not me.stop:
        try:
            answers[kind.__name__][str(kind(me))] += 1
        except Exception as error:
            answers[kind.__name__][type(error).__name__] += 1
        end = time.monotonic() + pause
        while not me.stop and time.monotonic() < end:
            time.sleep(0.1)


def attack_all(server, kinds, account, file, revoked, over, told):
    """All attackers, until it is over; then says what each was answered."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    answers, attackers = collections.defaultdict(collections.Counter), []
    for number, (kind, pause) in enumerate(kinds.items()):
        me = attacks.Attacker(server, f"127.66.0.{number + 1}", *account, revoked, attacks.hostile_files(SHARED))
        me.file = file
        attackers.append(me)
        threading.Thread(target=attack, args=(me, kind, pause, answers), daemon=True).start()
    over.wait()
    for me in attackers:
        me.stop = True
    time.sleep(1)
    told.send({name: dict(counts) for name, counts in sorted(answers.items())})


def sample(server, samples, done):
    while not done.is_set() and server.process.poll() is None:
        try:
            # Pages of files that are mapped are the kernel's to take back, and are told apart.
            samples.append((time.time(), server.memory_kb() / 1024, server.memory_kb("RssFile") / 1024))
        except OSError:
            return
        done.wait(1)


def set_up(server):
    """A normal account and an attacker's, each with a box; the attacker also has a key that was revoked."""
    people = {}
    for name in ("owner", "attacker"):
        server.command("user", "add", f"{name}@example.org")
        box = server.command("box", "add", name, "--owner", f"{name}@example.org")["boxId"]
        people[name] = (box, server.command("key", "add", "--user", f"{name}@example.org")["key"])
    revoked = server.command("key", "add", "--user", "attacker@example.org")
    server.command("key", "revoke", revoked["prefix"])
    server.start()
    # Models are loaded when first needed: all of them are before anything is measured, so that none counts as growth.
    for name in people:
        other = server.command("box", "add", f"{name} in another language", "--owner", f"{name}@example.org", "--language", "multilingual")
        server.box, server.key = other["boxId"], people[name][1]
        path = server.data / "beispiel.txt"
        path.write_text("Die Garantie der Maschine dauert zwei Jahre ab dem Kauf.")
        assert server.upload(path)[0] == 201
        server.wait_until_read()
    files = {}
    for name, (box, key) in people.items():
        server.box, server.key = box, key
        path = server.data / "sample.txt"
        path.write_text("\n\n".join(f"Part {n} of {name}. The warranty lasts {n} years. {'Words and more words. ' * 40}" for n in range(200)))
        status, answer = server.upload(path)
        assert status == 201, answer
        server.wait_until_read()
        files[name] = answer["data"]["fileId"]
    return people, files, revoked["key"]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def latencies(log, spans):
    found = collections.defaultdict(list)
    for at, name, milliseconds, status in list(log):
        if any(begin <= at < end for begin, end in spans) and status in (200, 201):
            found[name].append(milliseconds)
    return {name: {"p50": round(percentile(values, 0.5), 1), "p99": round(percentile(values, 0.99), 1), "requests": len(values)}
            for name, values in sorted(found.items())}


def memory(samples, begin, end):
    return [size for at, size, _ in samples if begin <= at < end]


def highest_minute(samples, begin, end):
    """The highest median of a minute: a peak of a second is no growth."""
    minutes = collections.defaultdict(list)
    for at, size, _ in samples:
        if begin <= at < end:
            minutes[int((at - begin) // 60)].append(size)
    return max((statistics.median(sizes) for sizes in minutes.values() if len(sizes) >= 10), default=0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=1, help="how often quiet and attacked minutes alternate")
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--only", help="only these kinds of attack, with commas between them")
    options = parser.parse_args()
    seconds = options.minutes * 60
    quiet_seconds, warm_up = min(180, seconds * 0.25), min(180, seconds * 0.2)
    server = Server()
    people, files, revoked = set_up(server)
    log, samples, done = [], [], threading.Event()
    threading.Thread(target=sample, args=(server, samples, done), daemon=True).start()
    box, key = people["owner"]
    normal = [Normal(server, key, box, what, log) for what in ("search", "list", "upload")]
    for client in normal:
        client.start()
    time.sleep(5)
    kinds = {kind: pause for kind, pause in attacks.KINDS.items() if not options.only or kind.__name__ in options.only.split(",")}
    quiet, hostile, answers = [], [], {}
    for number in range(options.rounds):
        time.sleep(AFTERMATH if number else 0)
        begin = time.time()
        time.sleep(quiet_seconds / options.rounds)
        quiet.append((begin, time.time()))
        arguments = (server, kinds, people["attacker"], files["attacker"], revoked)
        span, told = attacked_for((seconds - quiet_seconds) / options.rounds, server, arguments)
        hostile.append(span)
        for name, counts in told.items():
            answers[name] = dict(collections.Counter(answers.get(name, {})) + collections.Counter(counts))
    for client in normal:
        client.stop = True
    alive = server.process.poll() is None
    done.set()
    result = judge(quiet, hostile, warm_up, log, samples, answers, alive)
    if alive:
        stopping = time.time()
        server.stop()
        result["seconds_to_stop"] = round(time.time() - stopping, 1)
    print(json.dumps(result, indent=2))
    if options.report:
        options.report.write_text(json.dumps(result, indent=2))
    sys.exit(bool(result["failed"]))


def attacked_for(seconds, server, arguments):
    """Attacks for so long: from when to when, and what each attacker was answered."""
    told, telling = multiprocessing.Pipe(duplex=False)
    over = multiprocessing.Event()
    attackers = multiprocessing.Process(target=attack_all, args=(*arguments, over, telling), daemon=True)
    begin = time.time()
    attackers.start()
    while time.time() - begin < seconds and server.process.poll() is None:
        time.sleep(1)
    end = time.time()
    over.set()
    answers = told.recv() if told.poll(60) else {}
    attackers.kill()
    return (begin, end), answers


def judge(quiet_spans, hostile_spans, warm_up, log, samples, answers, alive):
    begin, attacked, end = quiet_spans[0][0], hostile_spans[0][0], hostile_spans[-1][1]
    quiet, hostile = latencies(log, quiet_spans), latencies(log, hostile_spans)
    warm = statistics.median(memory(samples, attacked + warm_up / 2, attacked + warm_up) or [0])
    highest = highest_minute(samples, attacked + warm_up, end)
    errors = collections.Counter(f"{name}: {status}" for at, name, _, status in log if at >= begin and status not in (200, 201))
    failed = [] if alive else ["the server died"]
    if highest - warm > GROWTH_MB:
        failed.append(f"memory grew by {highest - warm:.0f} MB after the warm-up")
    for name, values in hostile.items():
        most = max(LEAST_P99_MS, quiet.get(name, values)["p99"]) * SLOWER
        if values["p99"] > most:
            failed.append(f"p99 of {name} is {values['p99']} ms under attack; quiet it is {quiet.get(name, values)['p99']} ms")
    if errors:
        failed.append(f"normal clients saw {sum(errors.values())} errors")
    sizes = [size for _, size, _ in samples] or [0]
    minutes = [[round(size), round(of_files)] for _, size, of_files in samples[::60]]
    return {"seconds": round(end - begin), "quiet": quiet, "under_attack": hostile, "errors_of_normal_clients": errors,
            "memory_mb": {"start": round(sizes[0]), "quiet_end": round(statistics.median(memory(samples, attacked - 20, attacked) or [0])),
                          "after_warm_up": round(warm), "highest_minute": round(highest), "end": round(sizes[-1]), "max": round(max(sizes)), "each_minute_all_and_of_files": minutes},
            "attacks": answers, "failed": failed}


if __name__ == "__main__":
    main()
