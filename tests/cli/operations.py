"""A small catalogue for the tests of the command line and the client."""

import hashlib
import time

from pydantic import BaseModel, Field

from solvers.operation import Context, InvalidInput, Operation, Resources
from solvers.resource import ResourceKind


class Options(BaseModel, extra="forbid"):
    time_limit: float | None = Field(None, gt=0)
    seed: int | None = None


class EchoRequest(BaseModel, extra="forbid"):
    text: str = Field(description="What to repeat.")
    times: int = Field(1, ge=1)
    options: Options = Options()


class EchoResult(BaseModel):
    text: str
    draw: int


def echo(request: EchoRequest, context: Context) -> EchoResult:
    return EchoResult(text=request.text * request.times, draw=int(context.rng.integers(1000)) if context.seed is not None else 0)


class CountRequest(BaseModel, extra="forbid"):
    options: Options = Options()


class CountResult(BaseModel):
    value: int
    cancelled: bool


def count(request: CountRequest, context: Context) -> CountResult:
    """Count until told to stop."""
    value = 0
    while not context.stop:
        value += 1
        context.report(value=value, bound=1000, snapshot=lambda value=value: CountResult(value=value, cancelled=True))
        time.sleep(0.01)
    return CountResult(value=value, cancelled=context.cancelled)


class FileReference(BaseModel, extra="forbid"):
    file: str
    format: str | None = None


class DigestRequest(BaseModel, extra="forbid"):
    document: FileReference


class DigestResult(BaseModel):
    sha256: str
    lines: int
    format: str | None


def digest(request: DigestRequest, context: Context) -> DigestResult:
    content = context.files.open(request.document.file).read()
    for number, line in enumerate(content.splitlines(), start=1):
        if b"!" in line:
            raise InvalidInput("an exclamation mark", pointer="/document", line=number)
    return DigestResult(sha256=hashlib.sha256(content).hexdigest(), lines=content.count(b"\n"), format=request.document.format)


class Stubborn(BaseModel):
    pass


def never_end(request: Stubborn, context: Context) -> Stubborn:
    """Stay in native code, deaf to everything."""
    context.report(value=0)
    hashlib.pbkdf2_hmac("sha512", b"", b"", 10**9)
    return Stubborn()


class Word(BaseModel, extra="forbid"):
    word: str


class WordView(BaseModel):
    length: int


class KeepResult(BaseModel):
    kept: str


WORDS = ResourceKind(
    "kept word",
    "test/kept-words",
    "application/vnd.foresolve.test-word+json",
    WordView,
    lambda content: WordView(length=len(Word.model_validate_json(content).word)),
    "A word that was kept.",
    {"demo-word": lambda: b'{"word": "demo"}'},
)


def keep(request: Word, context: Context) -> KeepResult:
    return KeepResult(kept=WORDS.save(context.files, request.model_dump_json().encode()))


def digest_from_file(file_id: str) -> dict[str, object]:
    return {"document": {"file": file_id}}


def echo_from_objects(*words: str, **options: object) -> dict[str, object]:
    times = options.pop("times", 1)
    return {"text": " ".join(words), "times": times, "options": options}


QUICK = Resources(time_limit=5, light=True)

CATALOGUE = (
    Operation(
        "echo",
        path="test/echo",
        run=echo,
        request=EchoRequest,
        result=EchoResult,
        summary="Repeat a text.",
        resources=QUICK,
        examples={"a word": {"text": "again", "times": 2}},
        from_objects=echo_from_objects,
    ),
    Operation(
        "count-up",
        path="test/count-up",
        run=count,
        request=CountRequest,
        result=CountResult,
        summary="Count until stopped.",
        resources=Resources(time_limit=30),
        volatile=("value",),
    ),
    Operation(
        "digest",
        path="test/digest",
        run=digest,
        request=DigestRequest,
        result=DigestResult,
        summary="Hash a file.",
        resources=QUICK,
        from_file=digest_from_file,
    ),
    Operation(
        "keep",
        path="test/keep",
        run=keep,
        request=Word,
        result=KeepResult,
        summary="Keep a word.",
        resources=QUICK,
        volatile=("kept",),
        makes=WORDS,
    ),
    Operation(
        "never-end", path="test/never-end", run=never_end, request=Stubborn, result=Stubborn, summary="Stay in native code."
    ),
)
