"""Trains the PyTorch reference on the authors' Latin squares with PyTorch's own initialisation and shuffling: is the spread over
seeds that of Locus?

Usage: python3 train_lst.py DATA OUT --sigma 0.7 --seeds 11 12 13 14 [--epochs 200]. DATA is the folder of the four CSV files; a JSON
file a seed is written into OUT, in the form of `locus results keep`. Rule of the end: training loss below 0.001 for five epochs.
"""
import argparse
import csv
import json
import os
import time

import torch

from reference import LocusEncoder, ReferenceConfig, make_optimizer

KINDS = ("binary", "ternary", "quaternary")
TEST_PART = 10  # one in ten of each kind is left out of training


def read_puzzles(path):
    """ids (n, 16): -1 blank, 0..3 symbols, 4 the target; labels (n)."""
    ids, labels = [], []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cells = row["puzzles"].strip().zfill(16)
            ids.append([int(c) - 1 for c in cells])
            labels.append(int(float(row["solutions"])) - 1)
    return torch.tensor(ids), torch.tensor(labels)


def read_data(folder):
    """Training puzzles (the same nine in ten for every seed) and the 108 held-out ones."""
    random = torch.Generator().manual_seed(0)
    parts = []
    for kind in KINDS:
        ids, labels = read_puzzles(os.path.join(folder, f"generated_puzzle_data_{kind}_dist80.csv"))
        kept = torch.randperm(len(ids), generator=random)[len(ids) // TEST_PART:]
        parts.append((ids[kept], labels[kept]))
    train = tuple(torch.cat(part) for part in zip(*parts))
    return train, read_puzzles(os.path.join(folder, "puzzle_data_original.csv"))


def accuracy(model, ids, labels):
    model.eval()
    with torch.inference_mode():
        return float((model(ids).argmax(-1) == labels).double().mean())


def train(data, sigma, seed, epochs):
    (ids, labels), heldout = data
    torch.manual_seed(seed)
    config = ReferenceConfig(tokens=16, features=5, outputs=4, width=160, layers=4, heads=1, mlp_width=640, mlp_final_gelu=True,
                             readout="token", readout_token=-1, pe_kind="learned", pe_sigma=sigma)
    model = LocusEncoder(config, slice_last_layer=True)
    optimizer = make_optimizer(model, lr=1e-4)
    started, below, loss_mean = time.perf_counter(), 0, float("nan")
    for epoch in range(1, epochs + 1):
        model.train()
        losses = 0.0
        for batch in torch.randperm(len(ids)).split(128):
            optimizer.zero_grad(set_to_none=True)
            loss = model.loss(model(ids[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            losses += float(loss) * len(batch)
        loss_mean = losses / len(ids)
        below = below + 1 if loss_mean < 1e-3 else 0
        if epoch % 10 == 0:
            print(f"seed {seed} epoch {epoch} loss {loss_mean:.5f} {time.perf_counter() - started:.0f} s", flush=True)
        if below == 5:
            break
    return {"epochs": epoch, "train.loss": loss_mean, "train.accuracy": accuracy(model, ids, labels),
            "heldout.accuracy": accuracy(model, *heldout), "seconds": time.perf_counter() - started}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--sigma", type=float, default=0.7)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13, 14])
    parser.add_argument("--epochs", type=int, default=200)
    given = parser.parse_args()
    torch.set_num_threads(1)
    os.makedirs(given.out, exist_ok=True)
    data = read_data(given.data)
    for seed in given.seeds:
        path = os.path.join(given.out, f"pytorch-sigma-{given.sigma:g}-seed{seed}.json")
        if os.path.exists(path):
            continue
        summary = train(data, given.sigma, seed, given.epochs)
        config = {"study": "lst", "seed": seed, "pe": {"kind": "learned", "sigma": given.sigma}}
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump({"config": config, "summary": summary, "program": f"PyTorch {torch.__version__}"}, file, indent=1)
        os.replace(path + ".part", path)


if __name__ == "__main__":
    main()
