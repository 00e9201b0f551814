#!/usr/bin/python3
"""Trains a network that reads digits, with DistributedDataParallel: train.py --backend swagg|gloo [--epochs N] [--model FILE].

For torchrun, or any launcher that sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. With swagg, SWAGG_SWITCH is the switch's address."""
import argparse
import csv
import gzip
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--backend", choices=("swagg", "gloo"), default="swagg")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32, help="images of each rank in a step")
    parser.add_argument("--data", type=Path, default=DIGITS)
    parser.add_argument("--model", type=Path, help="where rank 0 puts the trained network")
    options = parser.parse_args()
    if options.backend == "swagg":
        import torch_swagg  # noqa: F401 - the one line more

    dist.init_process_group(options.backend)
    torch.manual_seed(0)
    training, (images, shown) = digits(options.data)
    sampler = DistributedSampler(training, seed=1)
    batches = DataLoader(training, options.batch, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(1, options.epochs + 1):
        sampler.set_epoch(epoch)
        began, total = time.monotonic(), torch.zeros(1)
        for step, (batch, answers) in enumerate(batches):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(batch), answers)
            loss.backward()
            optimizer.step()
            total += loss.detach()
            if dist.get_rank() == 0:
                bar((step + 1) / len(batches))
        took_ms = (time.monotonic() - began) * 1e3
        dist.all_reduce(total)
        with torch.no_grad():
            accuracy = (model.module(images).argmax(1) == shown).float().mean().item()
        if dist.get_rank() == 0:
            print(f"epoch {epoch:2}  loss {total.item() / len(batches) / dist.get_world_size():.4f}  accuracy {accuracy:.4f}  {took_ms:.0f} ms", flush=True)
    if dist.get_rank() == 0 and options.model:
        torch.save(model.module.state_dict(), options.model)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
