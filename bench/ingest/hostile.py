#!/usr/bin/env python3
"""Feeds every hostile file to a running server, and asks /check all the while.

    bench/ingest/hostile.py [folder, default ../shared/data/hostile]
"""

import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import SHARED, Server, children

FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED / "hostile"


def main():
    if not FOLDER.exists():
        print(f"skipped: there is no {FOLDER}")
        return
    server = Server().set_up().start()
    waits, peak, stop = [], {}, threading.Event()

    def check():
        connection = server.connect()
        while not stop.is_set():
            began = time.perf_counter()
            server.ask("GET", "/check", connection=connection)
            waits.append(time.perf_counter() - began)
            time.sleep(0.01)

    def watch():
        while not stop.is_set():
            for child in children(server.process.pid):
                try:
                    for line in open(f"/proc/{child}/status"):
                        if line.startswith("VmHWM:"):
                            peak[child] = max(peak.get(child, 0), int(line.split()[1]))
                except OSError:
                    pass
            time.sleep(0.02)

    threads = [threading.Thread(target=check), threading.Thread(target=watch)]
    for thread in threads:
        thread.start()
    bad = 0
    for path in sorted(p for p in FOLDER.rglob("*") if p.is_file()):
        peak.clear()
        began = time.time()
        status, answer = server.upload(path)
        if status not in (200, 201):
            print(f"{path.name:40} refused: {answer['error']['cause']}")
            continue
        while True:
            _, answer = server.ask("GET", f"/files/{answer['data']['fileId']}")
            if answer["data"]["status"] not in ("queued", "processing"):
                break
            time.sleep(0.05)
        took, memory = time.time() - began, max(peak.values(), default=0) / 1024
        file = answer["data"]
        bad += took > 30 or memory > 1200
        print(f"{path.name:40} {file['status']:20} {took:6.1f} s {memory:6.0f} MB  {file['error'] or '; '.join(file['warnings'])}")
    stop.set()
    for thread in threads:
        thread.join()
    waits.sort()
    print(f"/check beside it: {len(waits)} asked, median {waits[len(waits) // 2] * 1e3:.1f} ms, "
          f"99% {waits[len(waits) * 99 // 100] * 1e3:.1f} ms, worst {waits[-1] * 1e3:.1f} ms")
    print(f"server memory at most {server.memory_kb('VmHWM') / 1024:.0f} MB")
    server.stop()
    sys.exit(1 if bad else 0)


main()
