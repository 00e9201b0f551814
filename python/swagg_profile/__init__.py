"""Records the profile of a PyTorch model, by which swagg-replay and swagg-sim tell what its training would gain.

    from swagg_profile import Recorder
    with Recorder(model) as recorder:
        for batch in batches:           # some 10 steps as you train, on one GPU or CPU, without DistributedDataParallel
            ...                         # forward, backward, optimizer
    recorder.write("mine.profile")

A step is a forward pass and the backward pass behind it. The first one is not counted, as much is made then that is kept. Needs no
libswagg, and nothing of torch but the model's hooks. docs/replay.md.
"""
import re
import statistics
import sys
import time
from typing import Any, Optional

__all__ = ["Recorder"]

NAME_MOST = 63  # bytes of a name in a profile


class Recorder:
    """Of a model's layers: the modules that have parameters of their own that are trained. All time of a step is some layer's: forward until
    the layer's output is there, from when the one before it was, or from the step before; backward until its last gradient is."""

    def __init__(self, model: Any):
        self.model_name = type(model).__name__
        self.bytes: dict = {}  # {layer: bytes of its gradients}, in the order of the model's modules
        self.steps: list = []  # [({layer: forward s}, {layer: backward s}, in the order in which the last gradients came)]
        self._hooks: list = []
        self._last: Optional[float] = None  # when the last thing that is timed was done
        self._forward: dict = {}
        self._backward: dict = {}  # in the order in which gradients came
        self._model = model

    def __enter__(self) -> "Recorder":
        seen = set()
        for name, module in self._model.named_modules():
            own = [p for p in module.parameters(recurse=False) if p.requires_grad and id(p) not in seen]
            seen.update(map(id, own))  # one that several modules share is the first one's
            if not own:
                continue
            layer = re.sub(r"\s|#", "_", name or self.model_name)
            layer = layer if len(layer.encode()) <= NAME_MOST else "..." + layer[-20:]
            while layer in self.bytes:
                layer += "'"
            self.bytes[layer] = sum(p.numel() * p.element_size() for p in own)
            on_device = any(p.is_cuda for p in own)
            self._hooks.append(module.register_forward_hook(self._ran_forward(layer, on_device)))
            self._hooks += [p.register_hook(self._has_gradient(layer, on_device)) for p in own]
        if not self.bytes:
            raise ValueError(f"{self.model_name} has no parameters that are trained")
        return self

    def __exit__(self, *_: Any) -> None:
        self._end_step()
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _since_last(self, on_device: bool) -> float:
        if on_device:
            sys.modules["torch"].cuda.synchronize()  # what was begun there is done, not only asked for
        now = time.perf_counter()
        passed, self._last = now - (self._last if self._last is not None else now), now
        return passed

    def _ran_forward(self, layer: str, on_device: bool) -> Any:
        def hook(*_: Any) -> None:
            if self._backward:
                self._end_step()
            self._forward[layer] = self._forward.get(layer, 0) + self._since_last(on_device)
        return hook

    def _has_gradient(self, layer: str, on_device: bool) -> Any:
        def hook(_: Any) -> None:
            self._backward[layer] = self._backward.pop(layer, 0) + self._since_last(on_device)  # at the end: the last gradient counts
        return hook

    def _end_step(self) -> None:
        if self._backward:
            self.steps.append((self._forward, self._backward))
        self._forward, self._backward = {}, {}

    def text(self, name: Optional[str] = None) -> str:
        """The profile. name: the model's; its class's unless you say so."""
        steps = self.steps[1:]
        if not steps:
            raise ValueError(f"{len(self.steps)} steps with gradients were recorded; 2 are needed, of which the first is not counted")

        def ms(which: int, layer: str) -> float:
            return 1e3 * statistics.median(step[which].get(layer, 0.0) for step in steps)

        last = list(steps[-1][1])  # layers in the order in which their gradients were there
        lines = [f"# Recorded from {len(steps)} steps of {self.model_name}; times are medians.", "",
                 "model " + (re.sub(r"\s|#", "_", name or self.model_name)[:NAME_MOST]), "", "#     name  bytes  forward ms  backward ms"]
        without = [layer for layer in self.bytes if layer not in last]  # not used by this training, or frozen meanwhile
        lines += [f"layer {layer} 0 {ms(0, layer):.4f} 0" for layer in without]
        lines += [f"layer {layer} {self.bytes[layer]} {ms(0, layer):.4f} {ms(1, layer):.4f}" for layer in reversed(last)]
        return "\n".join(lines) + "\n"

    def write(self, path: str, name: Optional[str] = None) -> None:
        text = self.text(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
