"""Passages, queries and pairs a second beside ONNX Runtime int8: same texts, same core, turn by turn, processor time."""
import sys
from common import *

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
paths = sys.argv[2].split(",") if len(sys.argv) > 2 else ["amx", "vnni", "avxvnni", "avx2"]
count = 32
texts = passages(count)
encoded = tokenizer().encode_batch(texts)
print(f"passages: {count}, {np.mean([len(e.ids) for e in encoded]):.0f} tokens each; medians of {rounds} rounds, processor time")
_, ints = export()
os.sched_setaffinity(0, {0})
theirs = Runtime(ints)
ours = {path: Ours(path=path) for path in paths}
ours = {path: one for path, one in ours.items() if one.loaded["path"] == path}
times = {}


def note(name, seconds):
    times.setdefault(name, []).append(seconds)


for turn in range(rounds + 1):
    for batch in (1, 2, 4, 16):
        start = processor()
        theirs.embed(encoded, batch)
        if turn:
            note(f"onnxruntime int8, batch {batch}", processor() - start)
    for path, one in ours.items():
        answer = one.ask(texts=texts)
        if turn:
            note(f"ours {path}", answer["cpu"])
best = min(median(t) for name, t in times.items() if name.startswith("onnx"))
for name, taken in times.items():
    print(f"{name:28} {count / median(taken):7.1f} passages a second  x{best / median(taken):.2f}")

query = "how long is the notice period during the trial"
print(f"\nquery of {len(tokenizer().encode(query).ids)} tokens")
single = tokenizer().encode_batch([query])
wall, runtime_wall = {path: [] for path in ours}, []
for turn in range(200):
    start = time.perf_counter()
    theirs.embed(single, 1)
    runtime_wall.append(time.perf_counter() - start)
    for path, one in ours.items():
        wall[path].append(one.ask(texts=[query], role="query")["wall"])
print(f"{'onnxruntime int8':20} p50 {1e3 * median(runtime_wall):.2f} ms")
for path, taken in wall.items():
    print(f"ours {path:15} p50 {1e3 * median(taken):.2f} ms  p95 {1e3 * float(np.percentile(taken, 95)):.2f} ms")

counted = next(iter(ours.values())).ask(texts=texts, count=50)
size = 50 * sum(len(t) for t in texts) / 1e6
print(f"\ncounting tokens: {size / counted['cpu']:.0f} MB a second")
for one in ours.values():
    one.close()

print("\ntwo threads, wall clock (meaningful only while both cores are free)")
os.sched_setaffinity(0, {0, 1})
single, double = Ours(threads=1, cores="0"), Ours(threads=2, cores="0,1")
taken = {1: [], 2: []}
for turn in range(rounds + 1):
    for threads, one in ((1, single), (2, double)):
        answer = one.ask(texts=texts)
        if turn:
            taken[threads].append((answer["wall"], answer["cpu"]))
fastest = {threads: min(wall for wall, _ in pairs) for threads, pairs in taken.items()}
for threads, pairs in taken.items():
    print(f"{threads} thread(s): fastest {count / fastest[threads]:.1f}, median {count / median([w for w, _ in pairs]):.1f} passages a second; processor {1e3 * median([c for _, c in pairs]) / count:.2f} ms each")
print(f"fastest rounds: x{fastest[1] / fastest[2]:.2f}")
single.close(), double.close()
