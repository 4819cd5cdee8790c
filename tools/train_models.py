"""Train the course's two transformers (the target and draft C) and write their weights as half precision.

Needs CPU torch, which the course itself never uses:

    python -m venv /tmp/torch && /tmp/torch/bin/pip install torch==2.13.0 numpy
    /tmp/torch/bin/python tools/train_models.py            # about 10 minutes on one thread
    /tmp/torch/bin/python tools/train_models.py --only draft --steps 200   # a quick try

The model, as `specdec_helpers/lm/transformer.py` computes it in NumPy: characters, pre-norm (root mean square, no
gain), causal attention with a linear distance bias per head (ALiBi: Press, Smith, Lewis 2022, arXiv 2108.12409),
ReLU layers, no biases, separate input and output embeddings. Matrices are trained with Muon (momentum made orthogonal
by five Newton-Schulz steps: Jordan et al. 2024), the embeddings with Adam. The seed fixes the weights, the order of
the text and so, on one kind of machine and one thread, the result.
"""

from __future__ import annotations

import argparse
import lzma
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from extract_text import ALPHABET  # noqa: E402  (the one place that fixes the alphabet)

DATA = ROOT / "specdec_helpers" / "lm" / "data"
HELD_OUT = 100_000  # characters at the end of the text, never trained on


@dataclass(frozen=True)
class Plan:
    """One model: its shape and its training."""

    layers: int
    width: int
    heads: int
    hidden: int
    steps: int
    context: int = 256
    batch: int = 16
    muon_rate: float = 0.035
    adam_rate: float = 0.004
    decay: bool = False  # let the rates fall to nothing over the last half
    seed: int = 2023


PLANS = {
    "target": Plan(layers=8, width=64, heads=4, hidden=256, steps=1200),
    "draft": Plan(layers=1, width=32, heads=4, hidden=256, steps=2500, decay=True),
}


class Block(nn.Module):
    """Attention, then a ReLU layer, each added to the stream."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        d, self.heads = plan.width, plan.heads
        self.qkv = nn.ParameterList([nn.Parameter(torch.randn(d, d) / math.sqrt(d)) for _ in range(3)])
        self.mix = nn.Parameter(torch.zeros(d, d))
        self.up = nn.Parameter(torch.randn(d, plan.hidden) / math.sqrt(d))
        self.down = nn.Parameter(torch.zeros(plan.hidden, d))

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """(B, T, d) -> (B, T, d)."""
        b, t, d = x.shape
        h = rms(x)
        q, k, v = ((h @ w).view(b, t, self.heads, -1).transpose(1, 2) for w in self.qkv)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = x + a.transpose(1, 2).reshape(b, t, d) @ self.mix
        return x + F.relu(rms(x) @ self.up) @ self.down


class Model(nn.Module):
    """Characters in, logits of the next character out."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self.embed = nn.Parameter(torch.randn(len(ALPHABET), plan.width))
        self.blocks = nn.ModuleList(Block(plan) for _ in range(plan.layers))
        self.out = nn.Parameter(torch.zeros(plan.width, len(ALPHABET)))
        slopes = torch.tensor([2.0 ** (-8 * (h + 1) / plan.heads) for h in range(plan.heads)])
        distance = torch.arange(plan.context)[:, None] - torch.arange(plan.context)[None, :]
        bias = -slopes[:, None, None] * distance
        self.register_buffer("bias", bias.masked_fill(distance < 0, -torch.inf)[None])

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) -> (B, T, V)."""
        t = tokens.shape[1]
        x = self.embed[tokens]
        for block in self.blocks:
            x = block(x, self.bias[..., :t, :t])
        return rms(x) @ self.out

    def weights(self) -> dict[str, np.ndarray]:
        """The arrays that the NumPy side loads; the attention scale is folded into the query matrices."""
        scale = 1 / math.sqrt(self.plan.width // self.plan.heads)
        stack = {
            "qkv": [torch.cat([b.qkv[0] * scale, b.qkv[1], b.qkv[2]], dim=1) for b in self.blocks],
            "mix": [b.mix for b in self.blocks],
            "up": [b.up for b in self.blocks],
            "down": [b.down for b in self.blocks],
        }
        arrays = {name: torch.stack(parts) for name, parts in stack.items()}
        arrays |= {"embed": self.embed, "out": self.out}
        return {name: a.detach().numpy().astype(np.float16) for name, a in arrays.items()}


def rms(x: Tensor) -> Tensor:
    """Each row divided by its root mean square."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


class Muon(torch.optim.Optimizer):
    """Momentum whose step is made nearly orthogonal: all directions of a matrix learn at one speed."""

    def __init__(self, params: list[Tensor], lr: float, momentum: float = 0.95) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """One update of every matrix."""
        for group in self.param_groups:
            for p in group["params"]:
                buf = self.state[p].setdefault("momentum", torch.zeros_like(p))
                buf.lerp_(p.grad, 1 - group["momentum"])
                g = p.grad.lerp(buf, group["momentum"])
                p.add_(orthogonal(g), alpha=-group["lr"] * math.sqrt(max(1.0, p.shape[1] / p.shape[0])))


def orthogonal(g: Tensor, steps: int = 5) -> Tensor:
    """Nearly the nearest orthogonal matrix to g, by a quintic Newton-Schulz iteration."""
    x = g / (g.norm() + 1e-7)
    tall = g.shape[0] > g.shape[1]
    x = x.T if tall else x
    for _ in range(steps):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.T if tall else x


def read_text() -> Tensor:
    """The text as token numbers."""
    text = lzma.decompress((DATA / "austen.txt.xz").read_bytes()).decode("ascii")
    table = np.full(128, -1)
    table[[ord(c) for c in ALPHABET]] = np.arange(len(ALPHABET))
    return torch.from_numpy(table[np.frombuffer(text.encode("ascii"), np.uint8)])


@torch.no_grad()
def held_out_loss(model: Model, text: Tensor) -> float:
    """Mean nats per character on the held-out end, each window judged on its second half."""
    width, half = model.plan.context, model.plan.context // 2
    end = text[-HELD_OUT:]
    starts = range(0, len(end) - width - 1, half)
    losses = []
    for i in range(0, len(starts), 32):
        rows = torch.stack([end[s : s + width + 1] for s in starts[i : i + 32]])
        logits = model(rows[:, :-1])[:, half:]
        losses.append(F.cross_entropy(logits.flatten(0, 1), rows[:, half + 1 :].flatten(), reduction="none"))
    return float(torch.cat(losses).mean())


def train(name: str, plan: Plan, text: Tensor, saved: Path) -> Model:
    """Train one model, printing the held-out loss now and then.

    What is done lies in the file `saved` at every 100 steps; a run that was stopped goes on from there.
    """
    torch.manual_seed(plan.seed)
    model = Model(plan)
    matrices = [p for n, p in model.named_parameters() if n.startswith("blocks")]
    muon = Muon(matrices, lr=plan.muon_rate)
    adam = torch.optim.Adam([model.embed, model.out], lr=plan.adam_rate, betas=(0.9, 0.99))
    count = sum(p.numel() for p in model.parameters())
    print(
        f"{name}: {count:,} weights, {plan.steps} steps of {plan.batch} x {plan.context} characters",
        flush=True,
    )
    order = np.random.default_rng(plan.seed)
    began, smooth, first = time.perf_counter(), 4.0, 0
    if saved.exists():
        state = torch.load(saved, weights_only=False)
        first, smooth, order = state["step"], state["smooth"], state["order"]
        for part, key in ((model, "model"), (muon, "muon"), (adam, "adam")):
            part.load_state_dict(state[key])
    rates = [  # made after loading, which replaces the groups
        (group, rate)
        for opt, rate in ((muon, plan.muon_rate), (adam, plan.adam_rate))
        for group in opt.param_groups
    ]
    for step in range(first, plan.steps):
        if step > first and step % 100 == 0:
            parts = {"model": model.state_dict(), "muon": muon.state_dict(), "adam": adam.state_dict()}
            torch.save({"step": step, "smooth": smooth, "order": order, **parts}, saved)
        starts = order.integers(0, len(text) - HELD_OUT - plan.context - 1, plan.batch)
        rows = torch.stack([text[s : s + plan.context + 1] for s in starts])
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        for opt in (muon, adam):
            opt.zero_grad()
        loss.backward()
        done = step / plan.steps
        for group, rate in rates:  # a short warm-up, then level
            group["lr"] = rate * min(1.0, (step + 1) / 50, 2 * (1 - done) if plan.decay else 1.0)
        for opt in (muon, adam):
            opt.step()
        smooth += (loss.item() - smooth) * 0.05
        if (step + 1) % 200 == 0 or step + 1 == plan.steps:
            seconds, loss_now = time.perf_counter() - began, held_out_loss(model, text)
            print(
                f"{name} step {step + 1} train {smooth:.3f} held out {loss_now:.4f}, {seconds:.0f} s",
                flush=True,
            )
    return model


def main() -> int:
    """Train what is asked for and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", choices=sorted(PLANS), help="train one of the two, keep the other's weights"
    )
    parser.add_argument("--steps", type=int, help="fewer steps, for a quick try")
    parser.add_argument("--output", type=Path, default=DATA / "weights.npz")
    args = parser.parse_args()
    torch.set_num_threads(1)
    text = read_text()
    old = np.load(args.output) if args.output.exists() else {}
    arrays = {key: old[key] for key in old}
    for name, plan in PLANS.items():
        if args.only in (None, name):
            plan = Plan(**{**plan.__dict__, "steps": args.steps or plan.steps})
            saved = args.output.with_name(f"{name}-in-training.pt")
            model = train(name, plan, text, saved)
            saved.unlink(missing_ok=True)
            arrays = {key: a for key, a in arrays.items() if not key.startswith(f"{name}.")}
            arrays |= {f"{name}.{key}": a for key, a in model.weights().items()}
    np.savez(args.output, **arrays)
    print(f"{args.output.name}: {args.output.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
