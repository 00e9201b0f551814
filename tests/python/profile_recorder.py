#!/usr/bin/python3
"""swagg_profile: a model's profile is recorded, and swagg-sim reads it: profile_recorder.py SWAGG_SIM. Needs torch."""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import torch
from swagg_profile import Recorder


class Waits(torch.autograd.Function):
    """Takes 20 ms forward and 40 backward."""

    @staticmethod
    def forward(ctx, x):
        time.sleep(0.02)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(0.04)
        return gradient


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = torch.nn.Linear(10, 20), torch.nn.Linear(20, 20), torch.nn.Linear(20, 5, bias=False)
        self.frozen, self.unused = torch.nn.Linear(5, 5), torch.nn.Linear(7, 7)
        self.again = self.second  # shared: counted once
        for parameter in self.frozen.parameters():
            parameter.requires_grad = False

    def forward(self, x):
        return self.frozen(self.third(Waits.apply(self.again(self.second(self.first(x))))))


def train(model, steps):
    for _ in range(steps):
        model(torch.ones(3, 10)).sum().backward()
        for parameter in model.parameters():
            parameter.grad = None


def layers_of(text):
    return {words[1]: (int(words[2]), *map(float, words[3:])) for words in map(str.split, text.splitlines()) if words[:1] == ["layer"]}


def test_layers():
    model = Model()
    with Recorder(model) as recorder:
        train(model, 4)
    train(model, 1)  # no hook is left
    assert len(recorder.steps) == 4
    text = recorder.text("my model")
    layers = layers_of(text)
    assert "\nmodel my_model\n" in text and "from 3 steps" in text
    assert list(layers) == ["unused", "first", "second", "third"], text  # as the forward pass has them, by when gradients were there
    assert [layers[name][0] for name in layers] == [0, 220 * 4, 420 * 4, 100 * 4], text
    assert layers["third"][1] >= 20 and layers["second"][2] >= 40, text  # whose output, and whose gradients, waited
    assert sum(times[1] + times[2] for times in layers.values()) >= 60


def test_what_cannot_be_recorded_is_told():
    for make, words in ((lambda: Recorder(torch.nn.ReLU()).__enter__(), "no parameters that are trained"), (lambda: short(0), "0 steps"), (lambda: short(1), "1 steps")):
        try:
            make()
        except ValueError as error:
            assert words in str(error), error
        else:
            raise AssertionError(words)


def short(steps):
    model = Model()
    with Recorder(model) as recorder:
        train(model, steps)
    return recorder.text()


def test_it_is_read(swagg_sim):
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(model) as recorder:
            train(model, 3)
        recorder.write(f"{folder}/mine.profile")
        subprocess.run([swagg_sim, "replay", f"{folder}/mine.profile", "--workers", "2", "--json", f"{folder}/said.json"], stdout=subprocess.DEVNULL, check=True)
        said = json.loads(Path(f"{folder}/said.json").read_text())[0]
    assert said["model"] == "Model" and said["bytes"] == 740 * 4 and said["computing_ms"] >= 60, said


if __name__ == "__main__":
    test_layers()
    test_what_cannot_be_recorded_is_told()
    test_it_is_read(sys.argv[1])
