"""The state machines, by name: whatever file of this folder ends in a MACHINE. The order in which readers meet them is that of WIDGETS."""

from importlib import import_module
from pkgutil import iter_modules

from app.machines.run import Machine


def _machines() -> dict[str, Machine]:
    modules = (import_module(f"{__name__}.{one.name}") for one in iter_modules(__path__))
    own = (module.MACHINE for module in modules if hasattr(module, "MACHINE"))
    return {machine.name: machine for machine in own}


MACHINES: dict[str, Machine] = _machines()
