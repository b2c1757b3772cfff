"""The encoder's forward pass in numpy, written from the definition, for centres and for comparing the runtime with."""
import math

import numpy as np


def erf(x):
    """Abramowitz and Stegun 7.1.26: off by at most 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    sum_ = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - sum_ * np.exp(-x * x))


class Encoder:
    def __init__(self, values, layers, heads, epsilon=1e-12, words=None):
        """`values`: a tensor in f32 by its name. `words`: rows of the word table by id, where it stays packed."""
        self.layers, self.heads, self.epsilon = layers, heads, epsilon
        names = [f"encoder.layer.{at}.{part}" for at in range(layers) for part in
                 [f"{linear}.{kind}" for linear in ("attention.self.query", "attention.self.key", "attention.self.value",
                                                    "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense",
                                                    "output.dense", "output.LayerNorm") for kind in ("weight", "bias")]]
        names += ["embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight",
                  "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
        self.values = {name: np.ascontiguousarray(values(name)) for name in names}
        self.words = words if words else lambda ids: values("embeddings.word_embeddings.weight")[ids]

    def linear(self, name, x):
        return x @ self.values[name + ".weight"].T + self.values[name + ".bias"]

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon)
        return x * self.values[name + ".weight"] + self.values[name + ".bias"]

    def hidden(self, ids, second_from=None):
        """The last hidden states of one text, or of two where a second begins; special tokens included."""
        x = self.words(np.asarray(ids)) + self.values["embeddings.position_embeddings.weight"][:len(ids)]
        kinds = (np.arange(len(ids)) >= (len(ids) if second_from is None else second_from)).astype(int)
        x = self.norm("embeddings.LayerNorm", x + self.values["embeddings.token_type_embeddings.weight"][kinds])
        split = lambda x: x.reshape(len(ids), self.heads, -1).transpose(1, 0, 2)
        for at in range(self.layers):
            name = f"encoder.layer.{at}."
            query, key, value = (split(self.linear(f"{name}attention.self.{part}", x)) for part in ("query", "key", "value"))
            scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            shares /= shares.sum(-1, keepdims=True)
            context = (shares @ value).transpose(1, 0, 2).reshape(len(ids), -1)
            x = self.norm(name + "attention.output.LayerNorm", x + self.linear(name + "attention.output.dense", context))
            inner = self.linear(name + "intermediate.dense", x)
            inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
            x = self.norm(name + "output.LayerNorm", x + self.linear(name + "output.dense", inner))
        return x
