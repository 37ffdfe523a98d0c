"""What several experiments have in common: the union of their spaces and its blocks."""

from hetbo.joint.blocks import Block, find_blocks
from hetbo.joint.changes import Change, ChangeKind
from hetbo.joint.tree import SpaceTree
from hetbo.joint.union import JointSpace, Member

__all__ = ["Block", "Change", "ChangeKind", "JointSpace", "Member", "SpaceTree", "find_blocks"]
