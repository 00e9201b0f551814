#!/usr/bin/python3
"""Trains a network that reads digits, with DistributedDataParallel: train.py --backend swagg|gloo [--epochs N] [--checkpoint FILE].

For torchrun, or any launcher that sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. With swagg, SWAGG_SWITCH is the switch's address. A run
that is started again, by torchrun's --max-restarts or by hand, goes on behind the last epoch of which its rank 0 finds the checkpoint."""
import argparse
import csv
import gc
import gzip
import hashlib
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

DIGITS = Path(__file__).resolve().parents[2] / "mpi-shim/examples/data/digits.csv.gz"
TEST_EVERY = 5


def digits(path):
    """Images of 8 x 8 points, 0 to 16, and what they show; every fifth is for testing."""
    with gzip.open(path, "rt") as f:
        rows = torch.tensor([[float(word) for word in row] for row in csv.reader(f)])
    images, shown = rows[:, :-1].view(-1, 1, 8, 8) / 16, rows[:, -1].long()
    testing = torch.arange(len(rows)) % TEST_EVERY == 0
    return TensorDataset(images[~testing], shown[~testing]), (images[testing], shown[testing])


def network():
    return torch.nn.Sequential(torch.nn.Conv2d(1, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
                               torch.nn.Linear(32 * 16, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))


def bar(part, width=20):
    """What is on a terminal while an epoch runs."""
    if sys.stderr.isatty():
        done = int(part * width)
        sys.stderr.write("\r[" + "#" * done + "." * (width - done) + "]" if part < 1 else "\r" + " " * (width + 2) + "\r")
        sys.stderr.flush()


def save(path, model, optimizer, epoch):
    """Whoever dies meanwhile leaves the last one."""
    part = path.with_suffix(".part")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, part)
    os.replace(part, path)


def load(path, model, optimizer):
    """The epochs that are behind them. Rank 0 alone need have the file."""
    found = [torch.load(path) if path and dist.get_rank() == 0 and path.exists() else None]
    dist.broadcast_object_list(found)
    if found[0] is None:
        return 0
    model.load_state_dict(found[0]["model"])
    optimizer.load_state_dict(found[0]["optimizer"])
    return found[0]["epoch"]


def digest(model):
    """Of all its bits."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()[:16]


def train(options):
    torch.manual_seed(0)
    training, (images, shown) = digits(options.data)
    sampler = DistributedSampler(training, seed=1)
    batches = DataLoader(training, options.batch, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    first, is_first_rank = load(options.checkpoint, model.module, optimizer), dist.get_rank() == 0
    log = options.log.open("w", buffering=1) if is_first_rank and options.log else None
    start = time.monotonic()
    for epoch in range(first + 1, options.epochs + 1):
        sampler.set_epoch(epoch)
        began, total = time.monotonic(), torch.zeros(1)
        for step, (batch, answers) in enumerate(batches):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(batch), answers)
            loss.backward()
            optimizer.step()
            total += loss.detach()
            if is_first_rank:
                bar((step + 1) / len(batches))
        now = time.monotonic()
        dist.all_reduce(total)
        if is_first_rank:
            mean = total.item() / len(batches) / dist.get_world_size()
            with torch.no_grad():
                accuracy = (model.module(images).argmax(1) == shown).float().mean().item()
            print(f"epoch {epoch:2}  loss {mean:.4f}  accuracy {accuracy:.4f}  {(now - began) * 1e3:.0f} ms", flush=True)
            if log:
                log.write(f"{now - start:.3f},{mean:.6f},{accuracy:.6f}\n")
            if options.checkpoint:
                save(options.checkpoint, model.module, optimizer, epoch)
    digests = [None] * dist.get_world_size()
    dist.all_gather_object(digests, digest(model.module))
    if is_first_rank:
        print(f"model {digests[0]}, {'the same on all ranks' if len(set(digests)) == 1 else 'others on some ranks: ' + ', '.join(digests)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--backend", choices=("swagg", "gloo"), default="swagg")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32, help="images of each rank in a step")
    parser.add_argument("--data", type=Path, default=DIGITS)
    parser.add_argument("--checkpoint", type=Path, help="where rank 0 puts network and optimizer after each epoch")
    parser.add_argument("--log", type=Path, help="where rank 0 puts a line for each epoch: seconds since the first began, loss, accuracy")
    options = parser.parse_args()
    if options.backend == "swagg":
        import torch_swagg  # noqa: F401 - the one line more

    dist.init_process_group(options.backend)
    train(options)
    gc.collect()  # torch 1.13 may wait for itself for ever where a model is the last that holds a group of gloo's
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
