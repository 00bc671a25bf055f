"""A trained run in PyTorch: strict loading, the same predictions and losses. Needs PyTorch and the program: LOCUS_BINARY, or
build/release/locus. python3 -m unittest discover python/tests."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "locus"))
BINARY = os.environ.get("LOCUS_BINARY", os.path.join(ROOT, "build", "release", "locus"))

try:
    import torch
except ImportError:
    raise unittest.SkipTest("PyTorch is not installed")
if not os.path.exists(BINARY):
    raise unittest.SkipTest("the program is not built")

import reference

SETTINGS = ["lst.pool_seed=1", "lst.per_difficulty=60", "model.layers=2", "model.width=16", "model.heads=2", "train.batch=16",
            "optim.lr=0.003", "stop.epochs=3"]
KINDS = {
    "learned": [],
    "none": ["model.attention_mask=causal"],
    "sinusoidal": ["pe.positions=grid"],
    "laplacian": ["pe.eigenvectors=3"],
    "rotary": ["pe.positions=grid"],
    "relative": ["pe.value_term=true", "pe.shared=true"],
    "t5": ["pe.buckets=8"],
    "alibi": ["pe.placement=input", "model.readout=mean"],
}


def run(folder, *arguments):
    return subprocess.run([BINARY, *arguments], cwd=folder, check=True, capture_output=True, text=True,
                          env={**os.environ, "LOCUS_CACHE": os.path.join(folder, "cache")}).stdout


class TrainedRunTest(unittest.TestCase):
    def test_models_load_strictly_and_give_the_same_losses_and_predictions(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "empty.toml"), "w", encoding="utf-8").close()
            run(folder, "lst", "generate", "puzzles", "--seed", "1", "--per-difficulty", "60", "--quiet")
            for kind, more in KINDS.items():
                with self.subTest(kind):
                    self.check(folder, kind, more)

    def check(self, folder, kind, more):
        run(folder, "train", "empty.toml", *SETTINGS, f"pe.kind={kind}", *more, "--out", kind, "--quiet")
        with open(os.path.join(folder, kind, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        exported = os.path.join(folder, f"{kind}.csv")
        evaluated = json.loads(run(folder, "eval", kind, "--split", "test", "--json", "--export", exported))
        self.assertEqual(evaluated["test.loss"], summary["test.loss"])
        model = reference.from_checkpoint(os.path.join(folder, kind, "final"))
        with open(os.path.join(folder, "puzzles", "test.csv"), encoding="utf-8", newline="") as file:
            puzzles = list(csv.DictReader(file))
        with open(exported, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["solution"] for row in rows], [puzzle["solutions"] for puzzle in puzzles])
        ids = torch.tensor([[int(cell) - 1 for cell in puzzle["puzzles"]] for puzzle in puzzles])
        labels = torch.tensor([int(puzzle["solutions"]) - 1 for puzzle in puzzles])
        with torch.no_grad():
            output = model(ids)
        self.assertEqual([int(row["prediction"]) - 1 for row in rows], output.argmax(1).tolist())
        self.assertAlmostEqual(float(model.loss(output, labels)), summary["test.loss"], delta=1e-5)


if __name__ == "__main__":
    unittest.main()
