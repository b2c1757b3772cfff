#!/usr/bin/env python3
"""How much does the server's memory rise while a PDF of 1,000 pages comes in, and while it is read back?

    bench/ingest/memory.py [pages, default 1000]
"""

import pathlib
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server, text_pdf

PAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 1000


def main():
    server = Server().set_up().start()
    with tempfile.NamedTemporaryFile(suffix=".txt") as warm:
        pathlib.Path(warm.name).write_text("warm")
        server.upload(warm.name)
        server.wait_until_read()
    before, highest, stop = server.memory_kb(), 0, threading.Event()

    def watch():
        nonlocal highest
        while not stop.is_set():
            highest = max(highest, server.memory_kb())
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        pathlib.Path(file.name).write_bytes(text_pdf(PAGES))
        began = time.time()
        _, answer = server.upload(file.name)
        uploaded = time.time()
        server.wait_until_read(0.05)
        read = time.time()
    pages = server.pages(answer["data"]["fileId"])
    back = time.time()
    stop.set()
    watcher.join()
    server.stop()
    characters = sum(map(len, pages))
    print(f"{len(pages)} pages, {characters:,} characters: upload {uploaded - began:.2f} s, reading {read - uploaded:.2f} s, "
          f"retrieval {back - read:.2f} s")
    print(f"server memory: {before / 1024:.0f} MB before, {highest / 1024:.0f} MB at most, rise {(highest - before) / 1024:.0f} MB")
    sys.exit(0 if len(pages) == PAGES and highest - before < 150 * 1024 else 1)


main()
