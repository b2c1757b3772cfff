"""quire-pick-multi-1: what float32 makes of pairs of a question and a sentence, for the unit test of the runtime.

    python bench/models/pick.py    writes crates/models/src/reference_pick.json; needs numpy, safetensors, tokenizers

Float32 is a forward pass in plain numpy (training/forward.py) over the shipped, unpacked weights."""

import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "training")]
import vocabulary  # noqa: E402
from e5 import unpacked  # noqa: E402
from forward import Encoder  # noqa: E402

MODEL = ROOT / "models" / "quire-pick-multi-1"
PAIRS = [("How long is the warranty?", "The warranty lasts 24 months. ‖ Terms ‖ Lamps are made in Norway. ‖"),
         ("How long is the warranty?", "Lamps are made in Norway. ‖ Terms ‖  ‖ The warranty lasts 24 months."),
         ("¿Cuánto dura la garantía?", "La garantía es de 24 meses. ‖  ‖ Las lámparas se fabrican en Noruega. ‖"),
         ("¿Cuánto dura la garantía?", "Las lámparas se fabrican en Noruega. ‖  ‖  ‖ La garantía es de 24 meses."),
         ("保修期多长？", "保修期为二十四个月。 ‖  ‖  ‖"),
         ("保修期多长？", "灯在挪威生产。 ‖  ‖  ‖ 保修期为二十四个月。"),
         ("كم مدة الضمان؟", "مدة الضمان أربعة وعشرون شهرا. ‖  ‖  ‖"),
         ("Сколько длится гарантия?", "The warranty lasts 24 months. ‖ Terms ‖  ‖"),
         ("What does the K2-35 weigh?", "Devices – K2-35, Weight (kg): 4.2 ‖ Devices ‖ K2-35, Weight (kg): 4.2, Price: 310 EUR ‖")]


class Float32:
    def __init__(self):
        said = json.loads((MODEL / "quire.json").read_text())
        tables = load_file(str(MODEL / said["tables"]))
        held = {**{name: value for name, value in tables.items() if name.startswith("embeddings.")}, **load_file(str(MODEL / "model.safetensors"))}

        def values(name, at=slice(None)):
            scale = held.get(name + ".scale")
            if scale is None:
                return held[name][at]
            return unpacked(held[name][at], scale[at]) if held[name].dtype == np.uint8 else held[name][at] * scale[at][:, None]
        self.model = Encoder(values, 12, 12, words=lambda ids: values("embeddings.word_embeddings.weight", ids))
        self.tokens = vocabulary.Original(MODEL / said["vocabulary"])
        self.head = [values(name) for name in ("pooler.dense.weight", "pooler.dense.bias", "classifier.weight", "classifier.bias")]

    def score(self, question, sentence):
        asked, said = self.tokens.encode(question), self.tokens.encode(sentence)
        ids = [self.tokens.first, *asked, self.tokens.separator, *said, self.tokens.separator]
        hidden = self.model.hidden(ids, second_from=len(asked) + 2)[0]
        pooler, bias, weight, constant = self.head
        return float((weight @ np.tanh(pooler @ hidden + bias))[0] + constant[0])


def main():
    model = Float32()
    pairs = [{"question": question, "sentence": sentence, "score": round(model.score(question, sentence), 4)} for question, sentence in PAIRS]
    path = ROOT / "crates" / "models" / "src" / "reference_pick.json"
    about = {"model": MODEL.name, "made_by": "bench/models/pick.py: numpy float32"}
    path.write_text(json.dumps({**about, "pairs": pairs}, ensure_ascii=False, indent=0) + "\n")
    for pair in pairs:
        print(f"{pair['score']:8.3f}  {pair['question']}  {pair['sentence']}")


if __name__ == "__main__":
    main()
