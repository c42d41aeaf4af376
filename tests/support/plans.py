"""How a database reads a table: the ways it takes for the statements that an action sends."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import Session


def ways(session: Session, table: str, action: Callable[[], object]) -> list[set[str]]:
    """Return, for each statement on `table` that `action` sends, what reads the table.

    Names of indexes, with the columns that are sought on SQLite; `row by row` for a scan.
    """
    heard: list[tuple[str, Any]] = []

    def hear(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if re.search(rf"(FROM|JOIN|UPDATE) {table}\b", statement):
            heard.append((statement, parameters))

    engine = session.get_bind()
    event.listen(engine, "before_cursor_execute", hear)
    try:
        action()
    finally:
        event.remove(engine, "before_cursor_execute", hear)
    assert heard, f"nothing asked for {table}"
    return [set(_explained(session, table, *each)) for each in heard]


def _explained(session: Session, table: str, statement: str, parameters: Any) -> Iterator[str]:
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        for *_, line in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters):
            if found := re.search(rf"USING (?:COVERING )?INDEX (\S*_{table}(?:_.*|$))", line):
                yield found[1]
            elif re.search(rf"(SEARCH|SCAN) {table}\b", line):
                found = re.search(r"USING (.*\))", line)
                yield found[1] if found else f"row by row: {line}"
        return
    plan: Any = connection.exec_driver_sql(
        f"EXPLAIN (FORMAT JSON) {statement}", parameters
    ).scalar()
    yield from _nodes(plan[0]["Plan"], table)


def _nodes(node: dict[str, Any], table: str) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] == table:
        yield "row by row: Seq Scan"
    name = node.get("Index Name", "")
    if re.search(rf"_{table}(_|$)", name):
        yield f"{name} {node.get('Index Cond', '')}"
    for inner in node.get("Plans", ()):
        yield from _nodes(inner, table)
