"""Searches by many at once against a small quota, the server killed in the middle: never more than the quota is charged, and
what is charged is what the answers say.

    python3 bench/search/units.py [SEARCHES, 1000] [QUOTA, 500] [KILLS, 3] [SEED, 1]"""

import concurrent.futures
import http.client
import json
import pathlib
import random
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server

searches, quota, kills, seed = (int(a) for a in (sys.argv[1:] + ["1000", "500", "3", "1"][len(sys.argv) - 1:]))
chance = random.Random(seed)
server = Server(env={"QUIRE__UNITS__MONTHLY": str(quota)}).set_up().start()
with tempfile.TemporaryDirectory() as folder:
    for number in range(40):
        path = pathlib.Path(folder) / f"{number}.txt"
        path.write_text(f"Report {number}: the warranty lasts {number} years and the workshop is in town {number}.")
        server.upload(path)
server.wait_until_read()

lock = threading.Lock()
told, refused, lost, others = [], 0, 0, []


def one(number):
    global refused, lost
    try:
        status, answer = server.post(f"/boxes/{server.box}/retrieve-documents", {"query": f"warranty of report {number}"})
    except (OSError, http.client.HTTPException, json.JSONDecodeError):
        with lock:
            lost += 1
        time.sleep(0.05)
        return
    with lock:
        if status == 200:
            told.append(answer["data"]["usage"]["intelligence_units_consumed"])
        elif status == 402:
            refused += 1
        else:
            others.append((status, answer["error"]["reason"]))


done = threading.Event()


def kill():
    for _ in range(kills):
        time.sleep(chance.uniform(0.1, 0.6))
        if done.is_set():
            return
        server.kill()
        server.start()


killer = threading.Thread(target=kill)
killer.start()
with concurrent.futures.ThreadPoolExecutor(64) as pool:
    list(pool.map(one, range(searches)))
done.set()
killer.join()
_, usage = server.ask("GET", "/usage")
used = usage["data"]["used"]
server.stop()
print(f"{searches} searches at once against {quota} units, {kills} kills: {len(told)} answered for {sum(told)} units, "
      f"{refused} refused, {lost} cut off, others {others}; the ledger says {used}")
# An answer may be charged and then cut off before it is read; it is the only way the two may differ.
assert used <= quota, "more was charged than there is"
assert sum(told) <= used <= sum(told) + 5 * lost, "what was charged is not what was answered"
if not lost:
    assert used == sum(told)
