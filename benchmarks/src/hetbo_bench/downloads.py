"""Downloads with a progress bar, and what came of them in words."""

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from hetbo_bench.data.download import fetch_hpob

_TRUST = {
    "given": "matches --sha256",
    "known": "is the published one",
    "kept": "is that of the last download",
    "first": "could not be compared with a known one: it is kept, and the next must match",
}


def get_hpob(*, source: str | None, sha256: str | None, descriptors: str | None) -> None:
    """Get HPO-B's tables and say where they are."""
    out, aside = Console(), Console(stderr=True)
    with Progress(
        "HPO-B",
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=aside,
        transient=True,
        disable=not aside.is_terminal,
    ) as bar:
        task = bar.add_task("HPO-B", total=None)
        fetched = fetch_hpob(
            source=source,
            checksum=sha256,
            descriptors=descriptors,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    verb = "are now in" if fetched.new else "were already in"
    out.print(f"HPO-B's tables {verb} {fetched.folder}", markup=False, soft_wrap=True)
    out.print(
        f"The zip file's SHA-256 {fetched.sha256} {_TRUST[fetched.trusted]}.",
        markup=False,
        soft_wrap=True,
    )
    if not fetched.complete:
        out.print("Without HPO-B's descriptors there are no problems in natural units.")
