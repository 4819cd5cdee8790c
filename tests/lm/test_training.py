"""The shipped weights through the training script's own torch model: the NumPy transformer gives the same logits.

Development only: skipped where CPU torch is not installed.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from specdec_helpers.lm.models import Scorer, network
from specdec_helpers.lm.text import novel_tokens

torch = pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["target", "draft"])
def test_numpy_and_torch_agree_on_the_shipped_weights(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import train_models

    plan = train_models.PLANS[name]
    model = train_models.Model(plan).double()
    with np.load(train_models.DATA / "weights.npz") as arrays, torch.no_grad():
        own = {
            key.split(".")[1]: torch.from_numpy(arrays[key].astype(np.float64))
            for key in arrays
            if key.startswith(name)
        }
        model.embed.copy_(own["embed"])
        model.out.copy_(own["out"])
        scale = 1 / math.sqrt(plan.width // plan.heads)
        for i, block in enumerate(model.blocks):
            q, k, v = own["qkv"][i].chunk(3, dim=1)
            for parameter, value in zip(block.qkv, (q / scale, k, v), strict=True):
                parameter.copy_(value)
            for part in ("mix", "up", "down"):
                getattr(block, part).copy_(own[part][i])
        tokens = novel_tokens()[5000:5200].astype(np.int64)
        theirs = model(torch.from_numpy(tokens)[None])[0].numpy()
    ours = Scorer(network(name, np.float64)).logits([tokens], len(tokens))[0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def test_an_orthogonal_step_treats_all_directions_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import train_models

    for shape in ((16, 16), (8, 32), (32, 8)):
        g = torch.from_numpy(np.random.default_rng(1).normal(size=shape))
        values = torch.linalg.svdvals(train_models.orthogonal(g))
        assert values.min() > 0.5
        assert values.max() < 1.5
