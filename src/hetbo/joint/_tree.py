"""Figure 1 of the paper, for any set of experiments: blocks as the nodes of a tree."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from hetbo.errors import printable
from hetbo.joint._blocks import Block

_NODE_HEIGHT, _ROW_GAP, _COLUMN_GAP, _MARGIN = 52, 44, 24, 12
_CHARACTER_WIDTH, _PADDING = 7.2, 16
_LONGEST_LABEL = 48
_MOST_NAMED = 10
"""So many experiments of a block are named, more are counted."""
_MOST_NODES = 16
"""So many blocks are drawn: the target's, and those that most experiments share."""


@dataclass(frozen=True, slots=True)
class SpaceTree:
    """The blocks of several experiments as a tree.

    A block hangs below the smallest block whose experiments include all of its own, so that each
    node is shared by fewer experiments than the one above it. If no block is common to all
    experiments, the tree has several roots.

    Attributes:
        blocks: The nodes, in the order of their numbers.
        names: The names of the experiments.
        parents: For each block the position of the one above it; None for a root.
    """

    blocks: tuple[Block, ...]
    names: tuple[str, ...]
    parents: tuple[int | None, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(map(self._parent, range(len(self.blocks)))))

    @property
    def left_out(self) -> str:
        """What `text` and `svg` do not show, in a sentence; empty if they show all blocks."""
        hidden = [block for node, block in enumerate(self.blocks) if node not in self._shown]
        if not hidden:
            return ""
        count = sum(len(block.parameters) for block in hidden)
        most = max(len(block.experiments) for block in hidden)
        owners = "of a single experiment" if most == 1 else f"of at most {most} experiments"
        blocks = "1 more block" if len(hidden) == 1 else f"{len(hidden)} more blocks"
        parameters = "1 parameter" if count == 1 else f"{count} parameters"
        return f"{blocks} with {parameters}, each {owners}"

    def text(self) -> str:
        """Return the tree as lines of text; of many blocks, the most important."""
        lines: list[str] = []

        def add(nodes: Sequence[int], indent: str, *, top: bool) -> None:
            for node in nodes:
                last = node == nodes[-1]
                joint, below = ("", "") if top else ("└─ ", "   ") if last else ("├─ ", "│  ")
                block = self.blocks[node]
                lines.append(
                    f"{indent}{joint}k{node + 1}: {_named(block)}  [{self._owners(block)}]"
                )
                add(self._children(node), indent + below, top=False)

        add(self._children(None), "", top=True)
        return "\n".join([*lines, *([f"… {self.left_out}"] if self.left_out else [])])

    def dot(self) -> str:
        """Return the tree in Graphviz's language."""
        lines = ["digraph spaces {", "  node [shape=box, style=rounded];"]
        for node, block in enumerate(self.blocks):
            label = f"{_named(block)}\n{self._kernel_line(node)}"
            lines.append(f"  b{node} [label={_dot_quoted(label)}];")
        lines += [f"  b{parent} -> b{node};" for node, parent in self._edges()]
        return "\n".join([*lines, "}"])

    def svg(self) -> str:
        """Return the tree as a self-contained SVG picture that follows the page's text colour.

        Of many blocks it shows the most important.
        """
        left, width = self._layout()
        top = {n: _MARGIN + self._depth(n) * (_NODE_HEIGHT + _ROW_GAP) for n in self._shown}
        height = max(top.values(), default=0) + _NODE_HEIGHT + _MARGIN
        total = max((left[n] + width[n] for n in self._shown), default=0.0) + _MARGIN
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {height:.0f}" '
            f'width="{total:.0f}" role="img" font-family="sans-serif" fill="currentColor">',
            "<title>Which parameters the experiments share</title>",
        ]
        for node, parent in self._edges():
            if node not in self._shown:
                continue
            x1, x2 = left[parent] + width[parent] / 2, left[node] + width[node] / 2
            y1, y2 = top[parent] + _NODE_HEIGHT, top[node]
            parts.append(
                f'<path d="M{x1:.1f} {y1}C{x1:.1f} {y1 + _ROW_GAP / 2} {x2:.1f} '
                f'{y2 - _ROW_GAP / 2} {x2:.1f} {y2}" fill="none" stroke="currentColor" '
                'stroke-opacity=".45"/>'
            )
        for node in self._shown:
            label, kernel = self._labels(node)
            middle = left[node] + width[node] / 2
            parts += [
                f'<rect x="{left[node]:.1f}" y="{top[node]}" width="{width[node]:.1f}" '
                f'height="{_NODE_HEIGHT}" rx="8" fill="currentColor" fill-opacity=".06" '
                'stroke="currentColor" stroke-opacity=".45"/>',
                f'<text x="{middle:.1f}" y="{top[node] + 22}" text-anchor="middle" '
                f'font-size="13" font-weight="600">{escape(label)}</text>',
                f'<text x="{middle:.1f}" y="{top[node] + 40}" text-anchor="middle" '
                f'font-size="11" fill-opacity=".75">{escape(kernel)}</text>',
            ]
        return "\n".join([*parts, "</svg>"])

    def _parent(self, node: int) -> int | None:
        owners = self.blocks[node].experiments
        above = [other for other, block in enumerate(self.blocks) if block.experiments > owners]
        return min(above, key=lambda n: (len(self.blocks[n].experiments), n), default=None)

    def _children(self, node: int | None) -> list[int]:
        return [child for child in self._shown if self.parents[child] == node]

    @property
    def _shown(self) -> list[int]:
        """The nodes that are shown, in order; with a node, all above it are."""

        def less(node: int) -> tuple[bool, int]:
            owners = self.blocks[node].experiments
            return 0 not in owners, -len(owners)

        return sorted(sorted(range(len(self.blocks)), key=less)[:_MOST_NODES])

    def _edges(self) -> list[tuple[int, int]]:
        return [(node, parent) for node, parent in enumerate(self.parents) if parent is not None]

    def _depth(self, node: int) -> int:
        parent = self.parents[node]
        return 0 if parent is None else 1 + self._depth(parent)

    def _owners(self, block: Block) -> str:
        if len(block.experiments) == len(self.names) > 1:
            return "all experiments"
        if len(block.experiments) > _MOST_NAMED:
            sources = len(block.experiments) - (0 in block.experiments)
            target = f"{printable(self.names[0])} and " if 0 in block.experiments else ""
            return f"{target}{sources} of {len(self.names) - 1} sources"
        return ", ".join(printable(self.names[i]) for i in sorted(block.experiments))

    def _kernel_line(self, node: int) -> str:
        return f"k{node + 1} · {self._owners(self.blocks[node])}"

    def _labels(self, node: int) -> tuple[str, str]:
        return _cut(_named(self.blocks[node])), _cut(self._kernel_line(node))

    def _layout(self) -> tuple[list[float], list[float]]:
        """Return each node's left edge and width: leaves side by side, parents above them."""
        width = [
            max(len(label) for label in self._labels(node)) * _CHARACTER_WIDTH + 2 * _PADDING
            for node in range(len(self.blocks))
        ]
        left = [0.0] * len(width)

        def below(node: int | None) -> float:
            spans = [span(child) for child in self._children(node)]
            return sum(spans) + _COLUMN_GAP * max(len(spans) - 1, 0)

        def span(node: int) -> float:
            return max(width[node], below(node))

        def place(parent: int | None, start: float) -> None:
            for node in self._children(parent):
                left[node] = start + (span(node) - width[node]) / 2
                place(node, start + (span(node) - below(node)) / 2)
                start += span(node) + _COLUMN_GAP

        place(None, float(_MARGIN))
        return left, width


def _named(block: Block) -> str:
    return ", ".join(map(printable, block.parameters))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _dot_quoted(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'
