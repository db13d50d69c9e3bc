"""The state machines, by name."""

from app.machines import online, passes
from app.machines.run import Machine

MACHINES: dict[str, Machine] = {machine.name: machine for machine in (online.MACHINE, passes.MACHINE)}
