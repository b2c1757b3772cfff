"""The loop that every training shares: rate up and straight down, gradients cut, a moving average of the weights, a log."""
import time

import torch

from common import log
from model import DEVICE, ON_GPU, Average, compile_steps

CUT = 1.0  # the gradient's length at most


def add_arguments(arguments, rate, batch, length, seed):
    arguments.add_argument("--init", help="a checkpoint to go on from; START's otherwise")
    arguments.add_argument("--steps", type=int, default=0)
    arguments.add_argument("--seconds", type=float, default=0, help="as many steps as fit, by the speed of the first")
    arguments.add_argument("--batch", type=int, default=batch)
    arguments.add_argument("--list", type=int, default=length)
    arguments.add_argument("--rate", type=float, default=rate)
    arguments.add_argument("--seed", type=int, default=seed)


def share_of_rate(step, steps, warm=0.06):
    """Up, then straight down."""
    return min(1, (step + 1) / max(1, warm * steps)) * max(0.02, 1 - step / steps)


def descend(network, options, next_loss, others=()):
    """`next_loss` draws a batch and gives its loss and what there is to say of it. `others`: further parameters and their rate.
    The network ends as the average of its last steps."""
    if DEVICE == "cuda":
        compile_steps()
    groups = [{"params": [p for p in network.parameters() if p.ndim > 1], "weight_decay": 0.01, "base": options.rate},
              {"params": [p for p in network.parameters() if p.ndim < 2], "weight_decay": 0.0, "base": options.rate}]
    groups += [{"params": [parameter], "weight_decay": 0.0, "base": rate} for parameter, rate in others]
    optimizer = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), **ON_GPU)
    average, steps, step, marks = Average(network), options.steps or 3000, 0, []
    while step < steps:
        loss, say = next_loss()
        for group in optimizer.param_groups:
            group["lr"] = group["base"] * share_of_rate(step, steps)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), CUT)
        optimizer.step()
        average.update(step)
        step += 1
        if options.seconds and step in (20, 60):
            loss.item()
            marks.append(time.time())
            if step == 60:
                steps = 60 + int(options.seconds / ((marks[1] - marks[0]) / 40))
                log(f"{40 * options.batch / (marks[1] - marks[0]):.0f} lists/s; steps: {steps}")
        if step % 100 == 0 or step == steps or steps < 50:
            log(f"step {step}/{steps} loss {loss.item():.3f} {say()}")
    average.apply()
