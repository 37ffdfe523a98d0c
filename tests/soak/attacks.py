"""Which attacks there are."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from soak import disks, histories, inputs, kills, races, servers, syscalls, tables

Attack: TypeAlias = Callable[[random.Random, Path], None]
"""Attacks hetbo once, in an empty folder: raises a FaultError, or skips if it cannot run here."""

ATTACKS: Mapping[str, Attack] = {
    "histories": histories.run,
    "tables": tables.run,
    "inputs": inputs.run,
    "races": races.run,
    "syscalls": syscalls.run,
    "kills": kills.run,
    "disks": disks.run,
    "servers": servers.run,
}
