"""The encoder of all-MiniLM-L6-v2, gte-small and multilingual-e5-small in plain PyTorch, over sequences packed one after the other, and its heads.

The embedding tables are frozen as 8-bit steps with one scale a row, or blocks of 4 bits: shipped models share one copy of them, and are
trained on exactly the numbers that ship. The teacher, all-mpnet-base-v2, is the same encoder, wider and deeper and with a
bias by distance in its attention; sizes are read off the weights.
"""
import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:  # older than 2.10
    varlen_attn = None

VARLEN = [varlen_attn] if varlen_attn else []  # emptied where the kernel does not run
HEADS, WIDTH, INNER, EPSILON = 12, 384, 1536, 1e-12  # of what ships; the teacher has as many heads
GROUPS = 4  # of like length, where attention needs padding: more are more calls, fewer are more padding
TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ON_GPU = {"fused": True} if DEVICE == "cuda" else {}  # what an optimizer is told; unknown before PyTorch 2.0
PRECISION = torch.bfloat16 if DEVICE == "cuda" else torch.float32
LINEAR = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "intermediate.dense", "output.dense")
PARTS = "joined joined_bias output output_bias gain1 bias1 up up_bias down down_bias gain2 bias2".split()
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


def quantized(matrix):
    """8-bit steps and one scale a row."""
    scale = matrix.abs().amax(1).clamp(min=1e-9) / 127
    return (matrix / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale


def dense(weights, name):
    """A tensor as f32, whether it is stored as 8-bit steps, as blocks of 4 bits (e5.py) or as it is."""
    value = weights[name]
    if value.dtype == torch.uint8:
        blocks = value.view(len(value), -1, 16)
        both = torch.cat([blocks & 15, blocks >> 4], 2).float() - 8
        return (both * weights[name + ".scale"].float()[:, :, None]).flatten(1)
    return value.float() * weights[name + ".scale"][:, None] if value.dtype == torch.int8 else value.float()


def layers(weights):
    """How many a checkpoint has."""
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))


def compact(weights):
    """A checkpoint as it travels and starts training: tables in 8 bits, the rest in half precision."""
    small = {}
    for name, value in weights.items():
        name = name.removeprefix("bert.")
        if any(table in name for table in TABLES):
            small[name], small[name + ".scale"] = quantized(value.float())
        elif value.is_floating_point() and not name.startswith("pooler"):
            small[name] = value.half()
    return small


def project(x, weight, bias):
    return F.linear(x, weight.to(x.dtype), bias.to(x.dtype)).view(-1, 3, HEADS, weight.shape[1] // HEADS)


def finish(x, attended, output, output_bias, gain1, bias1, up, up_bias, down, down_bias, gain2, bias2, drop):
    kind, width = x.dtype, gain1.shape
    y = F.linear(attended, output.to(kind), output_bias.to(kind))
    y = F.dropout(y, drop, drop > 0)
    x = F.layer_norm((x + y).float(), width, gain1, bias1, EPSILON).to(kind)
    y = F.linear(F.gelu(F.linear(x, up.to(kind), up_bias.to(kind))), down.to(kind), down_bias.to(kind))
    y = F.dropout(y, drop, drop > 0)
    return F.layer_norm((x + y).float(), width, gain2, bias2, EPSILON).to(kind)


STEPS = {"project": project, "finish": finish}


def compile_steps():
    """Lets the compiler fuse what lies between the products; worth it on a GPU alone. Where it fails, plain steps run."""
    torch._dynamo.config.suppress_errors = True
    STEPS.update(project=torch.compile(project, dynamic=True), finish=torch.compile(finish, dynamic=True))


def plain_attention(query, key, value, attn_mask):
    """For PyTorch before 2.0, as Debian has it."""
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return (scores + attn_mask).softmax(-1) @ value


whole_attention = getattr(F, "scaled_dot_product_attention", plain_attention)


def attend(joined, packed, relative=None):
    """Attention within each sequence; `relative` is a bias by bucket of distance and head."""
    if relative is None and VARLEN and joined.is_cuda:
        bounds, longest = packed.bounds, packed.longest
        parts = (part.contiguous() for part in joined.unbind(1))
        try:
            return varlen_attn(*parts, bounds, bounds, longest, longest).flatten(1)
        except RuntimeError as error:
            print("no attention over packed sequences here:", error, file=sys.stderr)
            VARLEN.clear()
    there, back, groups = padding(packed, relative, joined.dtype)
    wide, found = Moved.apply(joined, there, back).split([count * longest for count, longest, _ in groups]), []
    for part, (count, longest, bias) in zip(wide, groups):
        query, key, value = part.view(count, longest, *part.shape[1:]).permute(2, 0, 3, 1, 4)
        found.append(whole_attention(query, key, value, attn_mask=bias).transpose(1, 2).reshape(len(part), -1))
    return Moved.apply(torch.cat(found), back, there)


class Moved(torch.autograd.Function):
    """Rows put elsewhere, nothing where a place is below zero. Each row goes to one place at most, so that the way back is
    another picking of rows and not a sum."""

    @staticmethod
    def forward(context, rows, there, back):
        context.save_for_backward(back)
        return picked(rows, there)

    @staticmethod
    def backward(context, gradient):
        return picked(gradient, *context.saved_tensors), None, None


def picked(rows, at):
    return rows[at.clamp(min=0)] * (at >= 0).view(-1, *[1] * (rows.ndim - 1))


@torch.no_grad()
def padding(packed, relative, kind):
    """Sequences of like length side by side: which token stands at each place, the place of each token, and of each group its
    size and what attention adds."""
    if packed.padding is None:
        there, groups = [], []
        for group in packed.lengths.argsort().chunk(GROUPS if packed.total > 20_000 else 1):
            lengths = packed.lengths[group]
            longest = -(-int(lengths.max()) // 8) * 8  # the kernels want rows of sixteen bytes
            place = torch.arange(longest, device=lengths.device)
            inside = place < lengths[:, None]
            there.append(torch.where(inside, packed.bounds[group].long()[:, None] + place, -1).flatten())
            bias = torch.zeros(inside.shape, device=lengths.device).masked_fill(~inside, -1e4)[:, None, None]
            if relative is not None:
                bias = bias + relative.float()[bucket(place[None] - place[:, None])].permute(2, 0, 1)[None]
            groups.append((len(group), longest, bias.to(kind).contiguous()))  # else no fast kernel takes it
        there = torch.cat(there)
        back = torch.empty(packed.total, dtype=torch.long, device=there.device)
        held = (there >= 0).nonzero().squeeze(1)
        back[there[held]] = held
        packed.padding = there, back, groups
    return packed.padding


def bucket(distance, half=16, exact=8, furthest=128):
    """MPNet's 32 buckets: sixteen a side, the nearest eight by themselves, the others on a logarithmic scale."""
    far = distance.abs()
    log = exact + (torch.log(far.clamp(min=1).float() / exact) / math.log(furthest / exact) * (half - exact)).long()
    return (distance > 0).long() * half + torch.where(far < exact, far, log.clamp(max=half - 1))


class Encoder(nn.Module):
    def __init__(self, weights, drop=0.0):
        super().__init__()
        self.drop = drop
        for table in TABLES:
            self.register_buffer(table, dense(weights, f"embeddings.{table}.weight").to(PRECISION), persistent=False)
        for part in ("weight", "bias"):
            self.register_buffer(f"norm_{part}", weights[f"embeddings.LayerNorm.{part}"].float(), persistent=False)
        self.layers = nn.ModuleList(nn.ParameterDict(self.layer(weights, index)) for index in range(layers(weights)))
        self.register_buffer("relative", weights.get("encoder.relative"), persistent=False)
        for kind in ("vector", "tokens"):
            self.register_buffer(f"centre_{kind}", weights.get(f"centre.{kind}"), persistent=False)

    @staticmethod
    def layer(weights, index):
        get = lambda part: dense(weights, f"encoder.layer.{index}.{part}")
        joined = {kind: torch.cat([get(f"{part}.{kind}") for part in LINEAR[:3]]) for kind in ("weight", "bias")}
        parts = [joined["weight"], joined["bias"]]
        for name in (LINEAR[3], NORMS[0], LINEAR[4], LINEAR[5], NORMS[1]):
            parts += [get(f"{name}.weight"), get(f"{name}.bias")]
        return {name: nn.Parameter(part.clone()) for name, part in zip(PARTS, parts)}

    def forward(self, packed):
        x = self.word_embeddings[packed.ids] + self.position_embeddings[packed.place] + self.token_type_embeddings[packed.kinds]
        x = F.layer_norm(x.float(), x.shape[-1:], self.norm_weight, self.norm_bias, EPSILON).to(PRECISION)
        drop = self.drop if self.training else 0.0
        for layer in self.layers:
            parts = [layer[name] for name in PARTS]
            joined = STEPS["project"](x, *parts[:2])
            x = STEPS["finish"](x, attend(joined, packed, self.relative), *parts[2:], drop)
        return x

    def centred(self, unit, kind="vector"):
        """Unit vectors without what all of them share, where the checkpoint says what that is."""
        centre = getattr(self, f"centre_{kind}")
        return unit if centre is None else F.normalize(unit - centre, dim=-1)

    def named(self):
        """The layers' weights by the names that checkpoints use."""
        found = {}
        for index, layer in enumerate(self.layers):
            at = f"encoder.layer.{index}."
            for kind, key in (("weight", "joined"), ("bias", "joined_bias")):
                for name, part in zip(LINEAR[:3], layer[key].detach().chunk(3)):
                    found[f"{at}{name}.{kind}"] = part
            rest = zip((LINEAR[3], NORMS[0], LINEAR[4], LINEAR[5], NORMS[1]),
                       (("output", "output_bias"), ("gain1", "bias1"), ("up", "up_bias"), ("down", "down_bias"), ("gain2", "bias2")))
            for name, (weight, bias) in rest:
                found[f"{at}{name}.weight"], found[f"{at}{name}.bias"] = layer[weight].detach(), layer[bias].detach()
        return found


class CrossEncoder(nn.Module):
    """Query and passage read together: pooler over the first token, then one number."""

    def __init__(self, weights, drop=0.1):
        super().__init__()
        self.encoder = Encoder(weights, drop)
        width = len(weights["embeddings.LayerNorm.weight"])
        self.pooler, self.classifier, self.drop = nn.Linear(width, width), nn.Linear(width, 1), nn.Dropout(drop)
        for name, part in (("pooler.dense", self.pooler), ("classifier", self.classifier)):
            if f"{name}.weight" in weights and "classifier.weight" in weights:
                part.weight.data.copy_(dense(weights, f"{name}.weight"))
                part.bias.data.copy_(weights[f"{name}.bias"].float())
            else:
                nn.init.normal_(part.weight, std=0.02)
                nn.init.zeros_(part.bias)

    def forward(self, packed):
        first = self.encoder(packed)[packed.bounds[:-1].long()].float()
        return self.classifier(self.drop(torch.tanh(self.pooler(first)))).squeeze(-1)

    def named(self):
        head = {"pooler.dense.weight": self.pooler.weight, "pooler.dense.bias": self.pooler.bias,
                "classifier.weight": self.classifier.weight, "classifier.bias": self.classifier.bias}
        return {**self.encoder.named(), **{name: value.detach() for name, value in head.items()}}


def pooled(hidden, packed):
    """One unit vector a text: the mean of its tokens."""
    sums = torch.zeros(packed.count, WIDTH, device=hidden.device).index_add_(0, packed.owner, hidden.float())
    return F.normalize(sums, dim=1)


def save(model, start, path):
    """The layers and head in half precision, beside the tables the training started with."""
    tables = {name: value for name, value in start.items() if name.startswith("embeddings.") or name == "encoder.relative"}
    trained = {name: value.half().cpu().contiguous() for name, value in model.named().items()}
    save_file({**{name: value.contiguous() for name, value in tables.items()}, **trained}, path)


def load(path):
    return load_file(path)


class Average:
    """An exponential moving average of a model's parameters."""

    def __init__(self, model):
        self.parameters = list(model.parameters())
        self.means = [parameter.detach().clone() for parameter in self.parameters]

    @torch.no_grad()
    def update(self, step):
        kept = min(0.998, (1 + step) / (10 + step))
        torch._foreach_mul_(self.means, kept)
        torch._foreach_add_(self.means, self.parameters, alpha=1 - kept)

    @torch.no_grad()
    def apply(self):
        for parameter, mean in zip(self.parameters, self.means):
            parameter.copy_(mean)
