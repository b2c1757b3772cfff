"""Load time and memory of both models, and a minute of mixed work: memory must not grow."""
import random, sys
from common import *

seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
need(ARCTIC)
loads = {}
for turn in range(5):
    for folder in (MINILM, ARCTIC):
        one = Ours(folder=folder, threads=2, cores="0,1")
        loads.setdefault(folder.name, []).append(one.loaded)
        one.close()
for name, all_loads in loads.items():
    print(f"{name}: loaded in {median([l['load_ms'] for l in all_loads]):.0f} ms (processor {median([l['load_cpu_ms'] for l in all_loads]):.0f} ms), {median([l['resident_mb'] for l in all_loads]):.0f} MB")
texts = passages(64)
both = [Ours(folder=folder, threads=2, cores="0,1") for folder in (MINILM, ARCTIC)]
end, seen = time.time() + seconds, []
while time.time() < end:
    for one in both:
        one.ask(texts=[t[: random.randint(20, len(t))] for t in random.sample(texts, random.randint(1, 24))])
        one.ask(texts=[texts[0][:60]], role="query")
    seen.append(sum(one.ask(memory=True)["resident_mb"] for one in both))
tenth = max(1, len(seen) // 10)
print(f"soak of {seconds} s, {len(seen)} rounds: {median(seen[tenth : 2 * tenth]):.1f} MB early, {median(seen[-tenth:]):.1f} MB late, peak {max(seen):.1f} MB for both")
