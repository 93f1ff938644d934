"""A small catalogue for the tests of the HTTP side: what it says, how long it takes and how it fails is up to the request."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from solvers.operation import Context, InvalidInput, NotThere, Operation, Resources
from solvers.resource import Download, ResourceKind, ResourceView


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    time_limit: float | None = Field(None, gt=0)
    seed: int | None = None


class EchoRequest(BaseModel):
    """Anything, and how often to say it."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(examples=["hello"], max_length=100_000_000)
    times: int = Field(1, ge=0, le=10)
    options: Options = Options()


class EchoResult(BaseModel):
    text: str
    length: int


def echo(request: EchoRequest, context: Context) -> EchoResult:
    return EchoResult(text=request.text[:1000] * request.times, length=len(request.text))


class SleepRequest(BaseModel):
    """Counts until the time is up, reporting each count."""

    model_config = ConfigDict(extra="forbid")

    steps: int = Field(10, ge=1, le=100_000)
    pause: float = Field(0.05, ge=0, le=10)
    with_checkpoint: bool = False
    options: Options = Options()


class SleepResult(BaseModel):
    steps: int


def sleep(request: SleepRequest, context: Context) -> SleepResult:
    done = int(context.resume or 0)
    while done < request.steps and not context.stop:
        end = min(context.remaining, request.pause)
        _nap(end)
        done += 1
        if request.with_checkpoint:
            context.checkpoint(str(done).encode())
        context.report(fraction=done / request.steps, value=done, snapshot=lambda done=done: SleepResult(steps=done))
    return SleepResult(steps=done)


def _nap(seconds: float) -> None:
    import time

    time.sleep(seconds)


class FailRequest(BaseModel):
    kind: str = Field("input", pattern="^(input|bug|hang)$")
    options: Options = Options()


def fail(request: FailRequest, context: Context) -> EchoResult:
    if request.kind == "input":
        raise InvalidInput("edge 17 joins vertex 5 to itself", pointer="/edges/17", line=3)
    if request.kind == "bug":
        raise RuntimeError("secret detail of the implementation")
    context.report(value=1, snapshot=lambda: EchoResult(text="so far", length=6))
    while True:
        _nap(0.05)


class ReadRequest(BaseModel):
    file: str = Field(max_length=100)
    options: Options = Options()


class ReadResult(BaseModel):
    size: int
    copy_id: str


def read(request: ReadRequest, context: Context) -> ReadResult:
    with context.files.open(request.file) as stream:
        content = stream.read()
    return ReadResult(size=len(content), copy_id=context.files.save(content, name="copy.txt", media_type="text/plain"))


class Note(BaseModel):
    """The content of a note's file."""

    text: str = Field(max_length=1000)


class NoteView(BaseModel):
    """What is shown of a note."""

    length: int


class Slice(BaseModel):
    """Which part of a note."""

    start: int = Field(0, ge=0, le=1000)
    word: str | None = Field(None, max_length=20, description="From this word on, instead.")


def note_of(content: bytes) -> Note:
    try:
        return Note.model_validate_json(content)
    except ValueError:
        raise InvalidInput("the file holds no note") from None


def end_of_note(content: bytes, query: Slice) -> str:
    text = note_of(content).text
    if query.word is None:
        return text[query.start :]
    if query.word not in text:
        raise NotThere(f"the note has no {query.word!r}")
    return text[text.index(query.word) :]


NOTES = ResourceKind(
    "note",
    "tests/notes",
    "application/vnd.foresolve.note+json",
    NoteView,
    lambda content: NoteView(length=len(note_of(content).text)),
    "A text that was kept.",
    {"demo-note": lambda: b'{"text": "demo"}'},
    views=(
        ResourceView("end", "Show the end of it.", Slice, lambda *asked: Note(text=end_of_note(*asked)), result=Note),
        ResourceView(
            "download",
            "Download the end of it.",
            Slice,
            lambda *asked: Download(end_of_note(*asked).encode(), "text/plain", "note.txt"),
            media_types=("text/plain",),
        ),
    ),
    brief=lambda content: {"length": len(note_of(content).text)},
)


class WriteNoteResult(BaseModel):
    note: str


def write_note(request: Note, context: Context) -> WriteNoteResult:
    return WriteNoteResult(note=NOTES.save(context.files, request.model_dump_json().encode(), name=request.text[:20]))


class ReadNoteRequest(BaseModel):
    note: str = Field(max_length=100)


def read_note(request: ReadNoteRequest, context: Context) -> Note:
    return Note.model_validate_json(NOTES.read(context.files, request.note))


class ExtendNoteRequest(BaseModel):
    """A note, and what to put behind it."""

    note: str = Field(max_length=100)
    text: str = Field(max_length=100)


class ExtendNoteResult(BaseModel):
    version: int


def extend_note(request: ExtendNoteRequest, context: Context) -> ExtendNoteResult:
    while True:
        newest = NOTES.newest(context.files, request.note)
        longer = Note(text=note_of(newest.content).text + request.text)
        if NOTES.revise(context.files, request.note, longer.model_dump_json().encode(), newest.version + 1):
            return ExtendNoteResult(version=newest.version + 1)


def _operation(name: str, run: Any, request: type[BaseModel], result: type[BaseModel], **members: Any) -> Operation[Any, Any]:
    return Operation(name, f"tests/{name}", request=request, result=result, run=run, summary=f"Test {name}", **members)


CATALOGUE = (
    _operation(
        "echo", echo, EchoRequest, EchoResult, examples={"Hello": {"text": "hello", "times": 2}}, resources=Resources(light=True)
    ),
    _operation("sleep", sleep, SleepRequest, SleepResult, examples={"Short": {"steps": 2, "pause": 0.01}}),
    _operation("fail", fail, FailRequest, EchoResult, resources=Resources(time_limit=5)),
    _operation("read", read, ReadRequest, ReadResult),
    _operation("write-note", write_note, Note, WriteNoteResult, makes=NOTES),
    _operation("read-note", read_note, ReadNoteRequest, Note),
    _operation("extend-note", extend_note, ExtendNoteRequest, ExtendNoteResult),
)

FUZZED = tuple(operation for operation in CATALOGUE if operation.name not in {"fail", "extend-note"})
