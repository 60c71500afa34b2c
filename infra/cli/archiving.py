"""Commands about archives: export, verify, checkpoint, checkpoint-key."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from infra.archive.checkpoint import Checkpoint, CheckpointError, parse_checkpoint, sign_checkpoint
from infra.archive.embedded_source import export_embedded
from infra.archive.kafka_source import KafkaSource
from infra.archive.manifest import Manifest, ManifestError, read_manifest
from infra.archive.notes import (
    NoteError,
    generate_key,
    is_signed_by,
    parse_signer,
    parse_verifier,
    render_signer,
    render_verifier,
    verifier_of,
)
from infra.archive.verification import Verification, verify_archive
from infra.archive.writing import ArchiveError
from infra.cli.console import (
    CommandError,
    JsonOption,
    clean,
    open_log,
    out,
    print_json,
    print_table,
    progress_bar,
    read_file,
    reported,
)
from infra.cli.kafka_options import BootstrapOption, PrefixOption, read_settings
from infra.cli.targets import AnyLogOption, choose_one

ArchiveArgument = Annotated[Path, typer.Argument(help="Folder of the archive.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("export")(export)
    app.command("verify")(verify)
    app.command("checkpoint")(checkpoint)
    app.command("checkpoint-key")(checkpoint_key)


def export(
    out_: Annotated[Path, typer.Option("--out", help="New folder for the archive.")],
    log: AnyLogOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Write all that is folded, with fates and outputs, into an archive that anyone can check.

    Example: commitments export --log my-log --out my-archive
    """
    with reported(as_json=as_json), progress_bar("exporting", as_json=as_json) as update:
        choose_one(log, bootstrap)
        try:
            if log is None:
                settings = read_settings(bootstrap=bootstrap, prefix=prefix)
                source = KafkaSource(settings.connect(), prefix=settings.prefix)
                manifest = source.export(out_, update)
            else:
                with open_log(log) as embedded:
                    manifest = export_embedded(embedded, out_, update)
        except ArchiveError as error:
            raise CommandError(str(error)) from None
    show_export(out_, manifest, as_json=as_json)


def show_export(folder: Path, manifest: Manifest, *, as_json: bool) -> None:
    """Say what an export has written."""
    counts = {
        "partitions": len(manifest.partitions),
        "events": sum(part.events for part in manifest.partitions),
        "outputs": sum(t.count for part in manifest.partitions for t in part.outputs),
        "bytes": sum(s.size for part in manifest.partitions for s in part.segments),
    }
    if as_json:
        print_json({"archive": str(folder), **counts, "root": manifest.root.hex()})
        return
    print_table(f"archive {folder}", ("", "count"), list(counts.items()))
    out.print(f"root {manifest.root.hex()}")
    out.print("a checkpoint kept elsewhere shows a cut tail and a replaced archive too:")
    out.print(f"  commitments checkpoint {clean(str(folder))} --key FILE")


def verify(
    archive: ArchiveArgument,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Signed checkpoint that was kept elsewhere.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="Public key that the checkpoint must be signed with.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Processes to work in.")] = 1,
    *,
    as_json: JsonOption = False,
) -> None:
    """Check every byte of an archive and name the first fault; exit code 1 if there is one.

    Without --checkpoint a cut tail and a replaced archive do not show.

    Example: commitments verify my-archive --checkpoint my-archive.checkpoint --key audit.key.pub
    """
    with reported(as_json=as_json):
        if key is not None and checkpoint is None:
            raise CommandError("--key: there is no checkpoint to check", "add --checkpoint FILE")
        if not archive.is_dir():
            raise CommandError(f"there is no archive in {archive}", "name the folder of an export")
        note = None if checkpoint is None else read_checkpoint(checkpoint, key)
        with progress_bar("verifying", as_json=as_json) as update:
            found = verify_archive(archive, checkpoint=note, progress=update, jobs=jobs)
    signature = "" if checkpoint is None else "unchecked" if key is None else "valid"
    if as_json:
        print_json({"ok": found.fault is None, **asdict(found), "signature": signature})
    else:
        _show_verification(found, signature)
    if found.fault is not None:
        raise typer.Exit(1)


def read_checkpoint(path: Path, key: Path | None) -> Checkpoint:
    """Return the checkpoint of a file, its signature checked where a key is given."""
    try:
        note = read_file(path)
        found = parse_checkpoint(note)
        if key is not None and not is_signed_by(note, parse_verifier(read_file(key))):
            raise CommandError(
                f"{path}: not signed by the key in {key}", "do not trust this checkpoint"
            )
    except (NoteError, CheckpointError) as error:
        raise CommandError(f"{path}: {error}") from None
    return found


def checkpoint(
    archive: ArchiveArgument,
    key: Annotated[Path, typer.Option(help="Private key, as checkpoint-key writes it.")],
    out_: Annotated[
        Path | None, typer.Option("--out", help="Write it here; default: standard output.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Sign what an archive is now; keep the note where the archive's owner cannot write.

    Example: commitments checkpoint my-archive --key audit.key --out my-archive.checkpoint
    """
    with reported(as_json=as_json):
        found = verify_archive(archive)
        if found.fault is not None:
            raise CommandError(
                f"{found.fault.segment}: {found.fault.kind}: {found.fault.detail}",
                "a damaged archive gets no checkpoint",
            )
        try:
            note = sign_checkpoint(read_manifest(archive), parse_signer(read_file(key)))
        except (NoteError, ManifestError) as error:
            raise CommandError(f"{key}: {error}") from None
        if out_ is not None:
            out_.write_text(note, "utf-8")
    if as_json:
        print_json({"checkpoint": note})
    elif out_ is None:
        typer.echo(note, nl=False)
    else:
        out.print(f"signed checkpoint in {clean(str(out_))}")


def checkpoint_key(
    name: Annotated[str, typer.Argument(help="Name of the signer, such as audit.example.org.")],
    out_: Annotated[Path, typer.Option("--out", help="New file of the private key.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Make a key for checkpoints: the private one for the signer, the public one for everyone.

    Example: commitments checkpoint-key audit.example.org --out audit.key
    """
    public = out_.with_name(out_.name + ".pub")
    with reported(as_json=as_json):
        try:
            key = generate_key(name)
        except NoteError as error:
            raise CommandError(str(error)) from None
        handle = os.open(out_, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(render_signer(key) + "\n")
        public.write_text(render_verifier(verifier_of(key)) + "\n", "utf-8")
    if as_json:
        print_json({"private": str(out_), "public": str(public)})
    else:
        out.print(f"private key in {clean(str(out_))}, public key in {clean(str(public))}")


def _show_verification(found: Verification, signature: str) -> None:
    fault = found.fault
    if fault is not None:
        place = fault.segment if fault.frame is None else f"{fault.segment}, frame {fault.frame}"
        out.print(f"[red]not intact:[/red] {clean(place)}: {fault.kind}: {clean(fault.detail)}")
        return
    out.print(f"intact: {found.frames} frames, {found.bytes} bytes, root {found.root}")
    if found.checkpoint:
        words = {"same": "the archive is that of the checkpoint",
                 "extended": "the archive extends the one of the checkpoint"}  # fmt: skip
        out.print(f"{words[found.checkpoint]}; signature {signature}")
    else:
        out.print("without a checkpoint, a cut tail or a replaced archive does not show")
