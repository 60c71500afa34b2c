"""The command that explains: explain."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from infra.audit.explanation import Explanation, explain_turn
from infra.audit.history import EmbeddedHistory
from infra.audit.packet_checks import PacketCheck, check_packets
from infra.audit.reasons import explain_act
from infra.cli.console import (
    CommandError,
    JsonOption,
    LogOption,
    clean,
    open_log,
    out,
    print_json,
    print_table,
    reported,
    say_count,
)
from infra.event_json import render_record
from schemas.outcome import CandidateReport, Certificate, RepairAct
from schemas.packet import Packet


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain")(explain)


def explain(
    turn: Annotated[str, typer.Argument(help="The id of the turn.")],
    log: LogOption,
    user: Annotated[str | None, typer.Option(help="Only this user's turn of that id.")] = None,
    budgets: Annotated[
        int, typer.Option(min=0, help="For so many units left out: the budget they enter at.")
    ] = 8,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Show the terms of every unit left out.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what a turn was decided on: contract, evidence with its terms, vectors, the act.

    Packets are recomputed from the history: their digests are proven, and units left out are
    shown with the main budget at which they would enter.

    Example: commitments explain 1_00000/5/call --log my-log
    """
    with reported(as_json=as_json), open_log(log) as embedded:
        explanations = explain_turn(embedded, turn, user)
        if not explanations:
            raise CommandError(
                f"there is no turn {turn}", "commitments outputs --topic packets lists the turns"
            )
        for explanation in explanations:
            history = EmbeddedHistory(embedded)
            checks = check_packets(history, explanation.packets, units_max=budgets)
            if as_json:
                print_json(_render(explanation, checks))
                continue
            show(explanation)
            for check in checks:
                _show_check(check, every=every)


def _render(explanation: Explanation, checks: tuple[PacketCheck, ...]) -> dict[str, Any]:
    outcome = explanation.outcome
    return {
        "packets": [render_record(packet) for packet in explanation.packets],
        "topic": explanation.topic,
        "outcome": outcome and render_record(outcome),
        "why": [] if outcome is None else list(explain_act(outcome)),
        "checks": [asdict(check) for check in checks],
    }


def _show_check(check: PacketCheck, *, every: bool) -> None:
    same = "the same bytes" if check.same_packet else "[red]other bytes[/red]"
    proven = "the digest holds" if check.terms_proven else "[red]another digest[/red]"
    out.print(
        f"packet {check.round} recomputed: {same}; "
        f"terms of {say_count(len(check.others), 'more unit')}: {proven}"
    )
    if check.entering:
        print_table(
            "units left out enter at",
            ("unit", "main budget"),
            [
                (one.unit_id, "never" if one.budget_main is None else str(one.budget_main))
                for one in check.entering
            ],
        )
    if every and check.others:
        columns = ("unit", "cost", "rel", "cov", "tail", "debt", "over", "gain")
        print_table("all others", columns, [tuple(asdict(one).values()) for one in check.others])


def show(explanation: Explanation) -> None:
    """Print one explanation in the order of the method: activate, validate, act."""
    for packet in explanation.packets:
        _show_packet(packet)
    outcome = explanation.outcome
    if outcome is None:
        out.print("no outcome yet: the turn waits for candidates")
        return
    _show_candidates(outcome.certificate.candidates)
    out.print(f"[bold]outcome[/bold] on {explanation.topic}: {clean(_name(outcome))}")
    text = getattr(outcome, "text", "") or getattr(outcome, "detail", "")
    out.print(f"  {clean(text)}")
    for sentence in explain_act(outcome):
        out.print(f"  because: {clean(sentence)}")
    if isinstance(outcome, RepairAct):
        _show_repair(outcome)
    _show_certificate(outcome.certificate)


def _name(outcome: Any) -> str:
    if isinstance(outcome, RepairAct):
        return f"{outcome.act.value} because of {outcome.reason.value}"
    kind = getattr(outcome, "kind", None)
    if kind is not None:
        return f"failure {kind.value}"
    slots = ", ".join(f"{slot.name}={slot.value}" for slot in outcome.slots)
    return f"{outcome.commitment_type}({slots})"


def _show_packet(packet: Packet) -> None:
    out.print(
        f"[bold]turn[/bold] {clean(packet.turn_id)} of {clean(packet.user)} in scene "
        f"{clean(packet.scene)}, seq {packet.seq}, packet {packet.round}"
    )
    print_table(
        f"contract version {packet.contract_version}",
        ("predicate", "expression", "confirmed by", "version"),
        [
            (v.predicate.predicate_id, v.predicate.expression, v.confirmed_by, v.version)
            for v in packet.contract
        ],
    )
    _show_evidence(packet)
    print_table(
        "required coverage",
        ("requirement", "weight", "status", "units", "because"),
        [
            (
                f"{c.requirement.kind.value}:{c.requirement.argument}",
                c.requirement.weight,
                c.status.value,
                ", ".join(c.unit_ids)[:60],
                ", ".join(c.requirement.reasons),
            )
            for c in packet.coverage
        ],
    )
    if packet.left_out:
        print_table(
            "left out (the best of them; millionths)",
            ("unit", "cost", "gain"),
            [(term.unit_id, term.cost, term.gain) for term in packet.left_out],
        )


def _show_evidence(packet: Packet) -> None:
    """Print what the packet holds, and apart, so that numbers stay whole, what each unit gives."""
    print_table(
        f"evidence: {packet.cost_main} of {packet.budget_main} + {packet.cost_tail} of "
        f"{packet.budget_tail}",
        ("unit", "part", "event", "content"),
        [(u.unit_id, u.part.value, u.event_id, u.content[:60]) for u in packet.units],
    )
    terms = {term.unit_id: term for term in packet.terms}
    held = [terms[unit.unit_id] for unit in packet.units]
    print_table(
        f"J {packet.objective}, proven gap {packet.gap} (millionths)",
        ("unit", "cost", "rel", "cov", "tail", "debt", "over", "gain"),
        [
            (t.unit_id, t.cost, t.relevance, t.coverage, t.tail, t.debt, t.over, t.gain)
            for t in held
        ],
    )


def _show_candidates(candidates: tuple[CandidateReport, ...]) -> None:
    for report in candidates:
        vector = (report.violations, len(report.unmet), report.infeasible, -report.utility)
        state = "unsupported: " + "; ".join(report.unsupported) if report.unsupported else ""
        out.print(
            f"[bold]candidate[/bold] {report.digest.hex()[:12]} {clean(report.commitment_type)} "
            f"nu = {vector} {clean(state)}"
        )
        for verdict in report.verdicts:
            out.print(
                f"  {verdict.verdict.value:8} {clean(verdict.predicate_id)} {clean(verdict.reason)}"
            )
        for requirement in report.unmet:
            out.print(f"  unmet    {requirement.kind.value}:{clean(requirement.argument)}")


def _show_repair(act: RepairAct) -> None:
    if act.question is not None:
        for option in act.question.options:
            out.print(f"  can confirm {option.digest.hex()[:12]}: {clean(option.expression)}")
    for member in act.conflict:
        out.print(f"  conflict: {clean(member.predicate_id)}: {clean(member.expression)}")
    for relaxation in act.relaxations:
        out.print(f"  way out: {relaxation.kind.value} {clean(relaxation.predicate_id)}")
    for alternative in act.alternatives:
        slots = ", ".join(f"{slot.name}={slot.value}" for slot in alternative.slots)
        out.print(f"  offered: {clean(slots)}")


def _show_certificate(certificate: Certificate) -> None:
    mode = "authenticated" if certificate.authenticated else "open (principals unverified)"
    out.print(
        f"certificate: seq {certificate.seq_from}-{certificate.seq_to}, ruleset "
        f"{certificate.ruleset}, contract {certificate.contract_digest.hex()[:12]}, evidence "
        f"{certificate.evidence_digest.hex()[:12]}, {mode}, chain {certificate.chain.hex()[:12]}"
    )
