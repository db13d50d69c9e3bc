"""The state machines, by name."""

from app.machines import division, merge, online, passes, standard, tiled, traffic
from app.machines.run import Machine

MACHINES: dict[str, Machine] = {
    machine.name: machine
    for machine in (online.MACHINE, passes.MACHINE, division.MACHINE, merge.MACHINE, tiled.MACHINE, standard.MACHINE, traffic.MACHINE)
}
