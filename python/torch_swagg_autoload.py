"""What PyTorch from 2.5 on calls when it is imported (the entry point torch.backends), so that a script need not import torch_swagg. Without
libswagg PyTorch must be as it is without this package."""
import logging


def autoload() -> None:
    try:
        import torch_swagg  # noqa: F401 - importing it makes "swagg" a backend
    except ImportError as error:
        logging.getLogger("swagg").info("no backend \"swagg\": %s", error)
