"""The digest of the code that makes a run."""

from importlib import resources

import pytest

from hetbo_bench.running import versions as module
from hetbo_bench.running.versions import versions

PACKAGES = ["hetbo", "hetbo_bench"]


def test_what_has_no_part_in_a_run_is_there() -> None:
    assert [*module._NO_PART] == PACKAGES
    missing = [
        f"{package}/{name}"
        for package, names in module._NO_PART.items()
        for name in names
        if not resources.files(package).joinpath(name).is_dir()
        and not resources.files(package).joinpath(name).is_file()
    ]
    assert missing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_code_of_both_packages_counts(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = module._digest()
    assert before == versions()["code"]
    monkeypatch.delitem(module._NO_PART, package)
    assert module._digest() != before
    monkeypatch.setitem(module._NO_PART, package, ("running", "engine.py"))
    assert module._digest() != before
