"""What several experiments have in common: the union of their spaces and its blocks."""

from hetbo.joint._blocks import Block, find_blocks
from hetbo.joint._changes import Change, ChangeKind
from hetbo.joint._tree import SpaceTree
from hetbo.joint._union import JointSpace, Member

__all__ = ["Block", "Change", "ChangeKind", "JointSpace", "Member", "SpaceTree", "find_blocks"]
