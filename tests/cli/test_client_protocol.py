"""The client against answers that are made up: retries, problems, waiting and event streams."""

import asyncio
import email.utils
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.client import AsyncClient, Client, ProblemError, Unreachable
from app.client_protocol import Backoff, Pause
from app.event_stream import EventParser
from solvers.operation import InvalidInput
from tests.cli.operations import CATALOGUE as OPERATIONS
from tests.cli.operations import EchoRequest, EchoResult

CATALOGUE = "tests.cli.operations:CATALOGUE"
RESULT = EchoResult(text="a", draw=1)


class Service:
    """Answers each request with the next of a script and remembers what was asked."""

    def __init__(self, *script: Callable[[httpx.Request], httpx.Response] | httpx.Response | httpx.TransportError) -> None:
        self.script = list(script)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.asked.append(request)
        answer = self.script.pop(0)
        if isinstance(answer, httpx.TransportError):
            raise answer
        return answer(request) if callable(answer) else answer

    def client(self, **options) -> Client:
        return Client(catalogue=CATALOGUE, transport=httpx.MockTransport(self), **options)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every pause the client makes, none of which takes time."""
    made: list[float] = []
    monkeypatch.setattr(time, "sleep", made.append)

    async def asleep(seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", asleep)
    return made


def ok(document: object, status: int = 200) -> httpx.Response:
    return httpx.Response(status, content=orjson.dumps(document))


def result() -> httpx.Response:
    return httpx.Response(200, content=RESULT.model_dump_json())


def job(status: str, code: int = 200) -> httpx.Response:
    return ok({"id": "job_1", "operation": "echo", "status": status}, code)


def problem(status: int, **members) -> httpx.Response:
    document = {"type": "/problems/some-kind", "title": "Some kind", "status": status, "detail": "what is wrong", **members}
    return httpx.Response(status, headers={"Content-Type": "application/problem+json"}, content=orjson.dumps(document))


def stream(text: str) -> httpx.Response:
    return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=text.encode())


def test_a_method_posts_the_body_that_the_adapter_makes():
    service = Service(result())
    assert service.client().echo("a", "b", seed=3) == RESULT
    request = service.asked[0]
    assert (request.method, request.url.path) == ("POST", "/v1/test/echo")
    assert orjson.loads(request.content) == {"text": "a b", "times": 1, "options": {"seed": 3}}


@pytest.mark.parametrize("body", [{"text": "a"}, EchoRequest(text="a")])
def test_a_method_takes_a_body_as_it_is(body):
    service = Service(result())
    service.client().echo(body)
    assert orjson.loads(service.asked[0].content) == {"text": "a"}


def test_keywords_beside_a_body_become_its_fields_and_options():
    service = Service(result())
    service.client().echo({"text": "a"}, times=2, seed=1)
    assert orjson.loads(service.asked[0].content) == {"text": "a", "times": 2, "options": {"seed": 1}}


def test_a_result_that_takes_longer_is_fetched_when_the_job_has_ended(pauses):
    service = Service(ok({"id": "job_1"}, 202), job("queued", 202), job("running", 202), result())
    assert service.client().run("echo", {"text": "a"}) == RESULT
    assert [request.url.path for request in service.asked[1:]] == ["/v1/jobs/job_1/result"] * 3
    assert len(pauses) == 2


def test_running_an_operation_object_gives_its_result_model():
    assert isinstance(Service(result()).client().run(OPERATIONS[0], {"text": "a"}), EchoResult)


@pytest.mark.parametrize("fault", [httpx.ConnectError("refused"), httpx.ReadTimeout("late"), problem(429), problem(503)])
def test_a_repeated_submission_carries_the_same_idempotency_key(fault):
    service = Service(fault, result())
    service.client().run("echo", {"text": "a"})
    first, second = (request.headers["Idempotency-Key"] for request in service.asked)
    assert first == second


def test_two_submissions_carry_different_idempotency_keys():
    service = Service(result(), result())
    client = service.client()
    client.run("echo", {"text": "a"})
    client.run("echo", {"text": "a"})
    assert len({request.headers["Idempotency-Key"] for request in service.asked}) == 2


def test_retry_after_is_honoured_when_it_is_longer_than_the_back_off(pauses):
    service = Service(httpx.Response(429, headers={"Retry-After": "17"}), result())
    service.client().run("echo", {"text": "a"})
    assert pauses == [17.0]


def test_retry_after_may_be_a_date(pauses):
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    service = Service(httpx.Response(503, headers={"Retry-After": date}), result())
    service.client().run("echo", {"text": "a"})
    assert 27 < pauses[0] <= 30


def test_a_wait_beyond_patience_is_an_error_at_once(pauses):
    service = Service(httpx.Response(429, headers={"Retry-After": "3600"}, content=problem(429).content))
    with pytest.raises(ProblemError):
        service.client().run("echo", {"text": "a"})
    assert pauses == []


def test_pauses_double_up_to_eight_seconds():
    backoff = Backoff(retries=9)
    made = [backoff.pause(httpx.ConnectError("")) for _ in range(10)]
    assert made.pop() is None
    limits = [0.25, 0.5, 1, 2, 4, 8, 8, 8, 8]
    assert all(
        isinstance(pause, Pause) and limit / 2 <= pause.seconds <= limit for pause, limit in zip(made, limits, strict=True)
    )


def test_a_service_that_never_answers_is_unreachable():
    service = Service(*[httpx.ConnectError("connection refused")] * 3)
    with pytest.raises(Unreachable, match="connection refused"):
        service.client(retries=2).run("echo", {"text": "a"})


@pytest.mark.parametrize("fault", [httpx.UnsupportedProtocol("ftp"), httpx.LocalProtocolError("a header with a newline")])
def test_what_cannot_be_sent_is_not_tried_again(fault, pauses):
    with pytest.raises(Unreachable):
        Service(fault).client().run("echo", {"text": "a"})
    assert pauses == []


@pytest.mark.parametrize("key", ["schl\u00fcssel", "two\nlines"])
def test_a_key_that_no_header_can_hold_is_refused(key):
    with pytest.raises(InvalidInput):
        Service().client(key=key)


@pytest.mark.parametrize("status", [200, 202])
def test_a_web_page_is_not_taken_for_the_service(status):
    client = Service(httpx.Response(status, content=b"<html>")).client()
    with pytest.raises(Unreachable, match="not this service"):
        client.echo(text="a")


def test_a_problem_says_what_the_service_said():
    errors = [{"pointer": "/text", "detail": "too long"}, {"pointer": "/times", "detail": "too many"}]
    with pytest.raises(ProblemError, match="what is wrong") as caught:
        Service(problem(422, errors=errors)).client().run("echo", {"text": "a"})
    error = caught.value
    assert (error.status, error.type, error.pointer, error.document["errors"]) == (422, "some-kind", "/text", errors)


def test_an_error_that_is_no_problem_document_still_has_its_status():
    with pytest.raises(ProblemError) as caught:
        Service(httpx.Response(404, content=b"<html>")).client().run("echo", {"text": "a"})
    assert caught.value.status == 404


def test_the_key_is_sent_as_a_bearer_token():
    service = Service(result())
    service.client(key="fsk_1_2").run("echo", {"text": "a"})
    assert service.asked[0].headers["Authorization"] == "Bearer fsk_1_2"


def test_an_unknown_operation_is_an_attribute_error():
    with pytest.raises(AttributeError, match="shout"):
        Service().client().shout("a")


def test_the_operations_are_listed_among_the_methods():
    assert {"echo", "count_up", "digest", "never_end", "submit", "kept_words"} <= set(dir(Service().client()))


def test_a_result_that_does_not_come_in_time_is_a_timeout():
    service = Service(ok({"id": "job_1"}, 202), job("running", 202))
    handle = service.client().submit("echo", {"text": "a"})
    with pytest.raises(TimeoutError):
        handle.result(timeout=0)


def test_a_submitted_job_is_not_waited_for():
    service = Service(ok({"id": "job_1"}, 202))
    assert service.client().echo.submit("a").id == "job_1"
    assert service.asked[0].headers["Prefer"] == "respond-async"


def test_listing_follows_the_cursor_up_to_the_limit():
    entry = orjson.loads(job("queued").content)
    service = Service(ok({"jobs": [entry] * 100, "next_cursor": "more"}), ok({"jobs": [entry] * 20, "next_cursor": "x"}))
    assert len(list(service.client().jobs(limit=120, status="queued"))) == 120
    assert dict(service.asked[1].url.params) == {"status": "queued", "limit": "20", "cursor": "more"}


def test_resources_are_listed_like_jobs():
    entry = {"id": "file_1", "size": 3, "job": None, "created_at": None}
    service = Service(
        ok({"kept-words": [entry] * 100, "next_cursor": "more"}), ok({"kept-words": [entry] * 20, "next_cursor": "x"})
    )
    assert len(list(service.client().kept_words.list(limit=120))) == 120
    assert dict(service.asked[1].url.params) == {"limit": "20", "cursor": "more"}
    assert service.asked[1].url.path == "/v1/test/kept-words"


def test_the_id_of_a_resource_stays_within_its_path():
    service = Service(problem(404))
    with pytest.raises(ProblemError):
        service.client().kept_words.delete("a/../../jobs?x#y")
    assert service.asked[0].url.raw_path == b"/v1/test/kept-words/a%2F..%2F..%2Fjobs%3Fx%23y"


def test_an_upload_streams_the_file_anew_at_every_attempt(tmp_path: Path):
    path = tmp_path / "G1.txt"
    path.write_bytes(b"3 2\n")
    service = Service(httpx.WriteError("broken"), ok({"id": "file_1"}, 201))
    assert service.client().upload(path) == "file_1"
    assert [request.content for request in service.asked] == [b"3 2\n"] * 2
    assert service.asked[1].url.params["name"] == "G1.txt"
    assert service.asked[1].headers["Content-Length"] == "4"


def test_events_are_read_until_the_job_ends():
    text = 'id: 1\nevent: queued\ndata: {}\n\nid: 2\nevent: progress\ndata: {"value": 5}\n\nid: 3\nevent: succeeded\ndata: {}\n\n'
    service = Service(ok({"id": "job_1"}, 202), stream(text))
    handle = service.client().submit("echo", {"text": "a"})
    assert [(event.seq, event.kind) for event in handle.events()] == [(1, "queued"), (2, "progress"), (3, "succeeded")]


def test_a_broken_event_stream_goes_on_after_the_last_event():
    service = Service(
        ok({"id": "job_1"}, 202),
        stream("id: 1\nevent: queued\ndata: {}\n\nid: 2\nevent: prog"),
        httpx.ConnectError("restarting"),
        stream("id: 2\nevent: progress\ndata: {}\n\nid: 3\nevent: cancelled\ndata: {}\n\n"),
    )
    handle = service.client().submit("echo", {"text": "a"})
    assert [event.seq for event in handle.events()] == [1, 2, 3]
    assert [request.headers["Last-Event-ID"] for request in service.asked[1:]] == ["0", "1", "1"]


def test_a_stream_of_a_job_whose_end_was_read_is_empty():
    service = Service(ok({"id": "job_1"}, 202), httpx.Response(204))
    assert list(service.client().submit("echo", {"text": "a"}).events(after=9)) == []


def test_a_stream_that_is_refused_is_a_problem():
    service = Service(ok({"id": "job_1"}, 202), problem(404))
    with pytest.raises(ProblemError):
        list(service.client().submit("echo", {"text": "a"}).events())


def test_a_stream_that_breaks_off_again_and_again_is_given_up():
    service = Service(ok({"id": "job_1"}, 202), *[stream(": nothing\n\n") for _ in range(3)])
    with pytest.raises(Unreachable):
        list(service.client(retries=2).submit("echo", {"text": "a"}).events())


@given(st.lists(st.text(max_size=20), max_size=4), st.lists(st.integers(1, 9), max_size=30), st.sampled_from(["\n", "\r\n"]))
def test_events_do_not_depend_on_where_chunks_break(texts, sizes, newline):
    blocks = [
        f"id: {n}{newline}event: progress{newline}data: {orjson.dumps({'t': t}).decode()}{newline * 2}"
        for n, t in enumerate(texts)
    ]
    content = "".join(blocks).encode()
    parser, events, position = EventParser(), [], 0
    for size in [*sizes, len(content)]:
        events += parser.feed(content[position : position + size])
        position += size
    assert [event.data["t"] for event in events] == texts


def test_the_asynchronous_client_does_the_same():
    async def scenario(service: Service) -> tuple[object, list[int]]:
        async with AsyncClient(catalogue=CATALOGUE, transport=httpx.MockTransport(service)) as client:
            answer = await client.echo("a")
            handle = await client.echo.submit("a")
            events = [event.seq async for event in handle.events()]
            await client.upload(Path(__file__))
            return answer, events

    service = Service(
        problem(503),
        ok({"id": "job_1"}, 202),
        job("running", 202),
        result(),
        ok({"id": "job_2"}, 202),
        stream("id: 1\nevent: queued\ndata: {}\n\n"),
        stream("id: 2\nevent: failed\ndata: {}\n\n"),
        ok({"id": "file_1"}, 201),
    )
    assert asyncio.run(scenario(service)) == (RESULT, [1, 2])
    assert service.asked[-1].content == Path(__file__).read_bytes()
