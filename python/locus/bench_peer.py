"""The PyTorch side of the benchmark, driven line by line so that the other side can take turns with it.

Usage: python3 bench_peer.py WORKLOAD.json, a JSON object with
  config            the form of config.json, or the path of such a file
  tensors           a safetensors file with param.* and input.* (features or ids, masked, read_token, labels or targets)
  mode              "train" (forward, backward, optimiser) or "infer"
  slice_last_layer  compute the last layer only for the tokens read (default false)
  threads, blas_threads  of PyTorch's own pool and of its BLAS (default 1, and the same as threads)
  optimizer         kind (adam, adamw, sgd), lr, beta1, beta2, eps, weight_decay, momentum, clip_norm (default Adam 1e-4)
Prints "ready LOSS SECONDS BLAS" (loss of the first forward; start-up time so far; the BLAS that PyTorch loaded: with
"reference", the unoptimised one, PyTorch is 20 times slower and no fair peer), then answers each line of stdin:
  go K  -> milliseconds per step over K steps        stop -> peak resident memory in kB, and ends
"""
import json
import os
import resource
import sys
import time

STARTED = time.perf_counter()


def read_spec(path):
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    if isinstance(spec["config"], str):
        with open(spec["config"], encoding="utf-8") as file:
            spec["config"] = json.load(file)
    return spec


def blas_name():
    """openblas, mkl, blis, atlas, built-in, or reference for Debian's plain libblas."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        loaded = {os.path.basename(line.split()[-1]) + " " + line.split()[-1] for line in file if "/" in line}
    for name in ("openblas", "mkl", "blis", "atlas"):
        if any(name in path for path in loaded):
            return name
    return "reference" if any(path.startswith("libblas") for path in loaded) else "built-in"


def make_step(torch, reference, spec):
    """(the loss before any step, a function that does one step)."""
    tensors, _ = reference.load_safetensors(spec["tensors"])
    part = lambda prefix: {name[len(prefix):]: value for name, value in tensors.items() if name.startswith(prefix)}
    batch = part("input.")
    config = reference.ReferenceConfig.from_json(spec["config"])
    model = reference.from_state(config, part("param."), bool(spec.get("slice_last_layer", False)))
    masked = batch["masked"].bool() if "masked" in batch else None
    given = (batch["ids"] if "ids" in batch else batch["features"], masked, batch.get("read_token"))
    wanted = batch["labels"] if "labels" in batch else batch.get("targets")
    model.eval()
    with torch.inference_mode():
        loss = float(model.loss(model(*given), wanted, masked)) if wanted is not None else float("nan")
    if spec.get("mode", "train") == "infer":
        def infer():
            with torch.inference_mode():
                model(*given)
        return loss, infer
    options = dict(spec.get("optimizer", {}))
    optimizer = reference.make_optimizer(model, **options)
    clip = options.get("clip_norm", 0.0)
    model.train()

    def train():
        optimizer.zero_grad(set_to_none=True)
        model.loss(model(*given), wanted, masked).backward()
        if clip > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return loss, train


def main():
    spec = read_spec(sys.argv[1])
    threads = int(spec.get("threads", 1))
    blas = str(spec.get("blas_threads", threads))
    # Before the import: the BLAS reads these once, when it is loaded.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = blas
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import torch
    import reference
    torch.set_num_threads(threads)
    loss, step = make_step(torch, reference, spec)
    print(f"ready {loss:.9g} {time.perf_counter() - STARTED:.3f} {blas_name()}", flush=True)
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "stop":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)
            return
        if words[0] == "go" and len(words) == 2 and words[1].isdigit() and int(words[1]) > 0:
            begin = time.perf_counter()
            for _ in range(int(words[1])):
                step()
            print(f"{(time.perf_counter() - begin) * 1000 / int(words[1]):.6f}", flush=True)
        else:
            print(f"error: expected 'go K' or 'stop', got {line.strip()!r}", flush=True)


if __name__ == "__main__":
    main()
