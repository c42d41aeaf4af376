"""A crowded workspace, made in SQL: people, events, mails, runs and visits by the million.

Only its automations and its template are made by the product, through the API. PostgreSQL alone.
Event, mail and run of one entry bear the same row number, so that nothing has to be looked up.
"""

from dataclasses import dataclass
from typing import Any, Final

import psycopg

from tests.bench.places import libpq, vacuum
from tests.factories import automations as make
from tests.support.stack import Stack

AUTOMATIONS: Final = 5
LONG: Final = 60
SHORT: Final = 9
# Of a hundred runs so many are under way, and so many broke off.
_RUNNING: Final = 28
_BROKEN: Final = 2
_VALUES: Final = {
    "email": "email",
    "source": "'api'",
    "first_name": "first_name",
    "last_name": "last_name",
    "plan": "CASE id % 3 WHEN 0 THEN 'pro' ELSE 'free' END",
}
_PEOPLE: Final = """
INSERT INTO contacts (workspace_id, public_id, email, first_name, last_name, timezone, source,
    has_opened, has_clicked, created_at, updated_at)
SELECT {workspace}, 'contact' || n, 'person' || n || '@people.example',
    (ARRAY['Ada', 'Bob', 'Cleo', 'Dana', 'Emil', 'Finn', 'Gina'])[1 + n % 7], 'Number' || n,
    'Europe/Berlin', 'api', n % 4 = 0, n % 9 = 0, now() - interval '400 days', now()
FROM generate_series(1, {people}) AS series (n);
"""
_VALUE: Final = """
INSERT INTO contact_property_values (workspace_id, contact_id, key, type, text, folded, updated_at)
SELECT {workspace}, id, '{key}', 'text', {value}, lower({value}), now() FROM contacts;
"""
_EVENTS: Final = """
INSERT INTO events (id, workspace_id, public_id, contact_id, kind, name, data, source, occurred_at,
    recorded_at)
SELECT n, {workspace}, 'event' || n, {contact}, 'event_received', 'go', '{{}}', 'api', {began},
    {began}
FROM generate_series(1, {runs}) AS series (n);
"""
_SENDS: Final = """
INSERT INTO email_sends (id, workspace_id, public_id, kind, pool, purpose, contact_id, template_id,
    context, to_email, from_email, from_name, status, attempt, dedupe_key, message_id, queued_at,
    due_at, handed_over_at, sent_at)
SELECT n, {workspace}, 'send' || n, 'automation', 'automation', 'marketing', {contact}, {template},
    '{{}}', 'person' || {contact} || '@people.example', 'hello@shop.example', 'Shop', 'sent', 1,
    'crowd' || n, '<' || n || '@shop.example>', {began}, {began}, {began}, {began}
FROM generate_series(1, {runs}) AS series (n);
"""
_RUNS: Final = """
INSERT INTO automation_runs (id, workspace_id, public_id, automation_id, revision_id, contact_id,
    event_id, status, current_step_index, steps_executed, triggered_by, trigger_data, next_step_at,
    started_at, completed_at, ended_reason, failed_step_key, error_code, error_message,
    attention_at)
SELECT n, {workspace}, 'run' || n, plans.id, plans.revision_id, {contact}, n, states.status, 4,
    states.executed, 'event_received', '{{}}',
    CASE states.status WHEN 'running' THEN now() + interval '1 year' END, {began},
    CASE states.status WHEN 'running' THEN NULL ELSE {began} + interval '3 days' END,
    states.ended, states.failed, states.error,
    CASE WHEN states.failed IS NOT NULL THEN 'The server answered: mailbox ' || n % 20 || ' full'
    END, CASE WHEN states.failed IS NOT NULL THEN {began} + interval '3 days' END
FROM generate_series(1, {runs}) AS series (n)
JOIN (SELECT id, revision_id, row_number() OVER (ORDER BY id) - 1 AS place FROM automations)
    AS plans ON plans.place = n % {automations}
JOIN (VALUES
    ('running', 0, {running} - 1, 4, NULL, NULL, NULL),
    ('completed', {running}, 99 - {broken}, 5, 'finished', NULL, NULL),
    ('cancelled', 100 - {broken}, 99, 4, 'step_failed', 's3', 'SMTP_REJECTED'))
    AS states (status, least, most, executed, ended, failed, error)
    ON n * 37 % 100 BETWEEN states.least AND states.most
ORDER BY n;
"""
# A run that broke off came to its second step twice.
_VISITS: Final = """
INSERT INTO automation_step_runs (workspace_id, automation_run_id, step_index, step_key, step_type,
    status, attempt, scheduled_at, due_at, delay_until, started_at, completed_at, email_send_id,
    result, failures, error_code, error_message)
SELECT {workspace}, runs.id, at.place, 's' || at.place,
    (ARRAY['email', 'delay', 'condition', 'email', 'delay'])[at.place + 1], at.status,
    CASE at.status WHEN 'pending' THEN 0 ELSE 1 END, began, due,
    CASE WHEN at.place % 3 = 1 THEN due END,
    CASE at.status WHEN 'pending' THEN NULL ELSE began END,
    CASE at.status WHEN 'pending' THEN NULL ELSE began END,
    CASE at.place WHEN 0 THEN runs.id END,
    CASE at.place WHEN 2 THEN '{{"branch": "yes"}}'::json END, NULL,
    CASE at.status WHEN 'failed' THEN runs.error_code END,
    CASE at.status WHEN 'failed' THEN runs.error_message END
FROM automation_runs AS runs CROSS JOIN generate_series(0, 4) AS series (n)
CROSS JOIN LATERAL (SELECT
    CASE WHEN runs.status = 'cancelled' THEN (ARRAY[0, 1, 2, 1, 3])[n + 1] ELSE n END AS place,
    CASE WHEN n < 4 THEN 'completed' ELSE CASE runs.status WHEN 'running' THEN 'pending'
        WHEN 'cancelled' THEN 'failed' ELSE 'completed' END END AS status) AS at
CROSS JOIN LATERAL (SELECT runs.started_at + n * interval '1 hour' AS began,
    CASE at.status WHEN 'pending' THEN now() + interval '1 year'
        ELSE runs.started_at + n * interval '1 hour' END AS due) AS times
ORDER BY runs.id, n;
"""
_ENTRIES: Final = """
INSERT INTO automation_entries (workspace_id, automation_id, contact_id, entered_at)
SELECT {workspace}, automation_id, contact_id, max(started_at) FROM automation_runs GROUP BY 2, 3
ON CONFLICT DO NOTHING;
INSERT INTO trigger_decisions (workspace_id, automation_id, automation_version, contact_id,
    event_id, decision, reason, decided_at)
SELECT {workspace}, automation_id, 1, contact_id, event_id, 'refused', 'already_inside',
    started_at + interval '1 hour' FROM automation_runs WHERE status = 'running';
INSERT INTO audit_log (workspace_id, actor, action, resource, resource_id, details, created_at)
SELECT {workspace}, 'user:crowd', 'run.retried', 'run', public_id, '{{}}', started_at
FROM automation_runs WHERE status = 'cancelled';
INSERT INTO automation_stat_shards (workspace_id, automation_id, shard, entered, completed,
    cancelled)
SELECT {workspace}, automation_id, 0, count(*), count(*) FILTER (WHERE status = 'completed'),
    count(*) FILTER (WHERE status = 'cancelled') FROM automation_runs GROUP BY 2
ON CONFLICT DO NOTHING;
INSERT INTO automation_step_stats (workspace_id, automation_id, step_key, shard, pending,
    executing, completed, failed, skipped)
SELECT {workspace}, runs.automation_id, steps.step_key, 0,
    count(*) FILTER (WHERE steps.status = 'pending'), 0,
    count(*) FILTER (WHERE steps.status = 'completed'),
    count(*) FILTER (WHERE steps.status = 'failed'), 0
FROM automation_step_runs AS steps JOIN automation_runs AS runs
    ON runs.id = steps.automation_run_id GROUP BY 2, 3
ON CONFLICT DO NOTHING;
"""
_NUMBERED: Final = ("contacts", "events", "email_sends", "automation_runs")


@dataclass(frozen=True)
class Crowd:
    """What stands in the workspace: public ids of automations, the long one first; how many."""

    automations: tuple[str, ...]
    template: str
    runs: int
    people: int


def gather(stack: Stack, runs: int) -> Crowd:
    """Fill the workspace of a stack that is set up and answers; five visits a run."""
    template = _made(stack, "/templates", _TEMPLATE)
    plans = [_plan(number, template) for number in range(AUTOMATIONS)]
    ids = tuple(_made(stack, "/automations", plan) for plan in plans)
    for automation in ids:
        moved = stack.api("POST", f"/automations/{automation}/transitions", {"to": "active"})
        assert moved.status == 200, moved.body
    people = runs // AUTOMATIONS
    _fill(stack.database_url, runs, people)
    vacuum(stack.database_url)
    return Crowd(ids, template, runs, people)


def _fill(url: str, runs: int, people: int) -> None:
    with psycopg.connect(libpq(url)) as connection:
        found = connection.execute("SELECT workspace_id, id FROM templates").fetchone()
        assert found is not None
        given = {
            "workspace": found[0],
            "template": found[1],
            "runs": runs,
            "people": people,
            "automations": AUTOMATIONS,
            "running": _RUNNING,
            "broken": _BROKEN,
            "contact": f"(1 + n / {AUTOMATIONS} % {people})",
            # A year long, evenly.
            "began": f"(now() - ({runs} - n) * interval '365 days' / {runs})",
        }
        statements = [_PEOPLE, _EVENTS, _SENDS, _RUNS, _VISITS, _ENTRIES]
        for statement in statements:
            connection.execute(statement.format(**given).encode())
        for key, value in _VALUES.items():
            connection.execute(_VALUE.format(**given, key=key, value=value).encode())
        for table in _NUMBERED:
            last = f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
            connection.execute(last.encode())


_TEMPLATE: Final = {
    "name": "Hello",
    "subject": "Hello {{ contact.first_name }}",
    "html": "<p>Hello {{ contact.first_name }}</p>",
    "allow_repeat": True,
}


def _plan(number: int, template: str) -> dict[str, Any]:
    first = [
        make.email("s0", template),
        make.delay("s1", 3),
        make.branch("s2", yes="s3"),
        make.email("s3", template),
        make.delay("s4", 30),
    ]
    more = [
        make.email(f"s{place}", template) if place % 2 else make.delay(f"s{place}")
        for place in range(len(first), SHORT if number else LONG)
    ]
    return make.document(*first, *more, name=f"Crowd {number}", reentry="after_end")


def _made(stack: Stack, path: str, document: Any) -> str:
    answer = stack.api("POST", path, document)
    assert answer.status == 201, answer.body
    return str(answer.json()["id"])
