"""Which column of a table is what."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hetbo.errors import DataError, SpaceError, shown
from hetbo.experiments._table import Table
from hetbo.spaces._space import check_name


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column of a table is what.

    Attributes:
        value: The column of the measured values.
        noise: The column of their standard deviations, if there is one.
        parameters: The column of each parameter, by the parameter's name.
        categorical: The columns whose cells are choices, whatever they look like.
    """

    value: str
    noise: str | None
    parameters: Mapping[str, str]
    categorical: frozenset[str]

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        value: str,
        noise: str | None,
        rename: Mapping[str, str],
        drop: Collection[str],
        categorical: Collection[str],
    ) -> "Layout":
        """Find the columns in a table.

        Raises:
            DataError: A column that was named is not there or is named for two ends, two would
                get the same name, or one that cannot be a parameter's.
        """
        drop = [drop] if isinstance(drop, str) else drop
        categorical = [categorical] if isinstance(categorical, str) else categorical
        for option, names in {
            "value=": [value],
            "noise=": [noise] if noise is not None else [],
            "rename=": list(rename),
            "drop=": list(drop),
            "categorical=": list(categorical),
        }.items():
            for name in names:
                if name not in table.columns:
                    known = ", ".join(map(shown, table.columns))
                    raise DataError(
                        f"{table.origin} has no column {shown(name)} ({option}); it has {known}"
                    )
        for column in categorical:
            if column in {value, noise}:
                kind = "value" if column == value else "noise"
                raise DataError(
                    f"{table.origin}: categorical= names {shown(column)}, the column of the {kind}"
                )
        parameters: dict[str, str] = {}
        for column in table.columns:
            name = rename.get(column, column)
            if column in {value, noise} or column in drop:
                continue
            if name in parameters:
                raise DataError(f"{table.origin}: two columns would be called {shown(name)}")
            if column in rename and name in {value, noise}:
                raise DataError(
                    f"{table.origin}: rename= calls column {shown(column)} {shown(name)}, which is "
                    f"the column of the {'value' if name == value else 'noise'}"
                )
            if not name.strip():
                position = [*table.columns].index(column) + 1
                raise DataError(
                    f"{table.origin}: column {position} has no name; "
                    f"drop=[{column!r}] leaves it out, rename={{{column!r}: ...}} names it"
                )
            try:
                check_name(name)
            except SpaceError as error:
                raise DataError(
                    f"{table.origin}: {error}; drop=[{column!r}] leaves the column out, "
                    f"rename={{{column!r}: ...}} names it"
                ) from None
            parameters[name] = column
        return cls(value, noise, parameters, frozenset(categorical))
