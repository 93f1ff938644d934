"""Who may run a job, and what becomes of it when its dispatcher or worker is gone; on SQLite and on PostgreSQL."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading

import pytest
from sqlalchemy import text

from app.jobs import leases
from app.jobs.executor import Ended
from app.jobs.leases import Lease
from app.jobs.store import JobStore
from tests.jobs.conftest import A_JOB
from tests.jobs.driving import A_LEASE, OPERATIONS, claim, end, lose

ANOTHER = Lease("dispatcher-2", 15.0, OPERATIONS)
EXPIRED = Lease("dispatcher-3", -1.0, OPERATIONS)


def ids(claimed):
    return [each.job.id for each in claimed]


def kinds(store, job_id):
    return [event.kind for event in store.events(job_id, after=0)]


def test_one_owners_jobs_start_in_the_order_of_their_submission(store, submit):
    made = [submit().id for _ in range(4)]

    assert ids(claim(store, normal=2)) + ids(claim(store, normal=2)) == made


def test_owners_take_turns(store, submit):
    for _ in range(4):
        submit("alice")
    for owner in ("bob", "bob", "carol"):
        submit(owner)

    order = [claim(store, normal=1)[0].job.owner for _ in range(7)]

    assert order == ["alice", "bob", "carol", "alice", "bob", "alice", "alice"]


def test_owners_take_turns_within_one_claim(store, submit):
    for _ in range(4):
        submit("alice")
    for owner in ("bob", "bob"):
        submit(owner)

    order = [each.job.owner for each in claim(store, normal=5)]

    assert order == ["alice", "bob", "alice", "bob", "alice"]


def test_room_for_light_jobs_is_kept_from_others(store, submit):
    submit()
    light = submit(light=True).id

    assert ids(claim(store, normal=0, light=2)) == [light]


def test_light_jobs_also_use_room_for_any_job(store, submit):
    made = {submit(light=True).id for _ in range(3)}

    assert set(ids(claim(store, normal=2, light=1))) == made


def test_nothing_is_claimed_without_room(store, submit):
    submit()

    assert claim(store, normal=0) == []


def test_jobs_of_operations_that_are_not_known_here_are_left_to_others(store, submit):
    submit(operation="of-another-version")
    known = submit().id

    assert ids(claim(store)) == [known]


@pytest.mark.parametrize(("gpu", "claimed"), [(False, ["none", "optional"]), (True, ["none", "optional", "required"])])
def test_jobs_that_need_a_gpu_wait_for_one(store, submit, gpu, claimed):
    for need in ("none", "optional", "required"):
        submit(gpu=need)

    assert sorted(each.job.gpu for each in claim(store, gpu=gpu)) == claimed


def test_a_claimed_job_is_running_and_says_so(store, submit):
    job = submit()

    (claimed,) = claim(store)

    assert store.get(job.id) == claimed.job
    assert (claimed.job.status, claimed.job.attempt) == ("running", 1)
    assert (claimed.spec.request, claimed.spec.attempt) == (A_JOB.request, 1)
    assert claimed.job.started_at >= job.created_at
    assert kinds(store, job.id) == ["queued", "started"]


def test_dispatchers_that_claim_at_once_share_the_jobs(store, submit):
    made = {submit().id for _ in range(40)}
    barrier = threading.Barrier(4)
    claims: list[str] = []

    def take(lease):
        barrier.wait()
        while got := claim(store, normal=3, lease=lease):
            claims.extend(ids(got))

    threads = [threading.Thread(target=take, args=[Lease(f"dispatcher-{n}", 15.0, OPERATIONS)]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(claims) == len(set(claims))
    # A dispatcher that skips what another has locked may stop early; a last look finds what is left.
    assert set(claims) | set(ids(claim(store, normal=40))) == made


def test_the_end_of_a_job_is_its_last_event_and_carries_its_problem(store, submit):
    submit()
    (claimed,) = claim(store)

    ended = end(store, claimed, "failed", b'{"value": 1}', problem={"type": "timeout"})

    assert store.get(claimed.job.id) == ended
    assert (ended.status, ended.problem, ended.result) == ("failed", {"type": "timeout"}, b'{"value": 1}')
    assert store.events(claimed.job.id, after=2)[0].data == {"problem": {"type": "timeout"}}


def test_the_files_of_a_job_are_listed_at_its_end(store, submit):
    submit()
    (claimed,) = claim(store)
    file = {"id": "file_" + "1" * 32, "name": "cut.txt", "media_type": "text/plain", "size": 3}

    end(store, claimed, "succeeded", b"1", files=(file,))

    assert store.get_file(file["id"], "alice").job_id == claimed.job.id


def test_nothing_a_dispatcher_says_counts_after_its_lease_was_lost(store, submit):
    submit()
    (late,) = claim(store, lease=EXPIRED)
    with store.writing() as connection:
        leases.expire(connection)
    (current,) = claim(store, lease=ANOTHER)

    with store.writing() as connection:
        EXPIRED.report(connection, late.job.id, late.job.attempt, {"value": "late"})
        EXPIRED.checkpoint(connection, late.job.id, late.job.attempt)
        EXPIRED.release(connection, Ended(late.job.id, 1, "cancelled"), late.job)
    assert end(store, late, "succeeded", b'"late"', lease=EXPIRED) is None
    assert lose(store, late, lease=EXPIRED) is None

    assert store.get(late.job.id) == current.job
    assert kinds(store, late.job.id) == ["queued", "started", "retry", "started"]


def test_a_late_attempt_of_the_same_dispatcher_does_not_count_either(store, submit):
    submit()
    (first,) = claim(store)
    lose(store, first)
    (second,) = claim(store)

    assert end(store, first, "succeeded", b"1") is None
    assert store.get(first.job.id) == second.job


def test_who_gave_a_job_back_has_no_say_in_the_same_attempt_of_another(store, submit):
    job = submit()
    (first,) = claim(store)
    with store.writing() as connection:
        A_LEASE.release(connection, Ended(job.id, 1, "cancelled"), first.job)
    (second,) = claim(store, lease=ANOTHER)

    assert first.job.attempt == second.job.attempt
    assert end(store, first, "succeeded", b"1") is None
    assert store.get(job.id) == second.job


def test_a_job_whose_worker_dies_is_tried_as_often_as_allowed(store, submit):
    submit(max_attempts=2)

    lose(store, claim(store)[0])
    over = lose(store, claim(store)[0])

    assert (over.status, over.problem["type"], over.problem["attempts"]) == ("failed", "worker-lost", 2)
    assert "attempt 2 of 2" in over.problem["detail"]
    assert kinds(store, over.id) == ["queued", "started", "retry", "started", "failed"]


def test_a_job_that_was_to_be_cancelled_is_not_tried_again(store, submit):
    submit()
    (claimed,) = claim(store)
    store.cancel(claimed.job.id)

    assert lose(store, claimed).status == "cancelled"


def test_a_job_that_is_given_back_has_not_used_an_attempt(store, submit):
    job = submit()
    (claimed,) = claim(store)

    with store.writing() as connection:
        A_LEASE.release(connection, Ended(job.id, 1, "cancelled"), claimed.job)

    assert (store.get(job.id).status, store.get(job.id).attempt) == ("queued", 0)


def test_a_job_that_was_to_be_cancelled_is_not_given_back(store, submit):
    job = submit()
    (claimed,) = claim(store)
    store.cancel(job.id)

    with store.writing() as connection:
        over = A_LEASE.release(connection, Ended(job.id, 1, "cancelled", b"1"), claimed.job)

    assert (over.status, over.result) == ("cancelled", b"1")


def test_jobs_of_a_silent_dispatcher_are_queued_again(store, submit):
    job = submit()
    claim(store, lease=EXPIRED)

    with store.writing() as connection:
        assert leases.any_overdue(connection)
        leases.expire(connection)

    assert (store.get(job.id).status, store.get(job.id).attempt) == ("queued", 1)
    assert kinds(store, job.id) == ["queued", "started", "retry"]


def test_jobs_of_a_silent_dispatcher_fail_after_their_last_attempt(store, submit):
    job = submit(max_attempts=1)
    claim(store, lease=EXPIRED)

    with store.writing() as connection:
        leases.expire(connection)

    assert store.get(job.id).problem["type"] == "worker-lost"
    assert kinds(store, job.id) == ["queued", "started", "failed"]


def test_jobs_of_a_silent_dispatcher_that_were_to_be_cancelled_are(store, submit):
    job = submit()
    claim(store, lease=EXPIRED)
    store.cancel(job.id)

    with store.writing() as connection:
        leases.expire(connection)

    assert store.get(job.id).status == "cancelled"


def test_a_renewed_lease_does_not_expire(store, submit):
    submit()
    (claimed,) = claim(store, lease=EXPIRED)

    with store.writing() as connection:
        mine = dataclasses.replace(EXPIRED, seconds=15.0).renew(connection, 1)
        assert not leases.any_overdue(connection)

    assert mine == {claimed.job.id: 1}


def test_a_dispatcher_lives_until_its_word_runs_out_or_it_resigns(store):
    with store.writing() as connection:
        A_LEASE.renew(connection, 1)
        EXPIRED.renew(connection, 1)
    assert store.live_workers() == 1

    with store.writing() as connection:
        A_LEASE.resign(connection)
    assert store.live_workers() == 0


def test_the_leases_of_a_dead_process_of_this_host_end_soon(store, submit):
    job = submit()
    database_url = store.engine.url.render_as_string(hide_password=False)
    code = (
        "import os, signal\n"
        "from app.jobs.store import JobStore\n"
        "from tests.jobs.driving import A_LEASE, claim\n"
        f"store = JobStore.open({database_url!r})\n"
        "with store.writing() as connection:\n"
        "    A_LEASE.renew(connection, 1)\n"
        "claim(store)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert store.get(job.id).status == "running"

    with store.writing() as connection:
        ANOTHER.shorten_dead_leases(connection)

    assert 0 < remaining(store, job.id) <= leases.ORPHAN_SECONDS
    assert store.live_workers() == 0


def test_the_leases_of_a_living_process_are_left_alone(store, submit):
    job = submit()
    with store.writing() as connection:
        A_LEASE.renew(connection, 1)
    claim(store)

    with store.writing() as connection:
        ANOTHER.shorten_dead_leases(connection)

    assert remaining(store, job.id) > leases.ORPHAN_SECONDS


def test_a_number_that_another_process_has_by_now_is_a_dead_process(store, submit):
    job = submit()
    with store.writing() as connection:
        A_LEASE.renew(connection, 1)
        connection.execute(text("UPDATE workers SET process_started_at = 1, pid = :pid"), {"pid": os.getpid()})
    claim(store)

    with store.writing() as connection:
        ANOTHER.shorten_dead_leases(connection)

    assert remaining(store, job.id) <= leases.ORPHAN_SECONDS


def test_a_dispatcher_learns_which_of_its_jobs_to_cancel(store, submit):
    first, second = submit(), submit()
    claim(store)
    store.cancel(second.id)

    with store.reading() as connection:
        assert A_LEASE.cancel_requests(connection) == [second.id]
        assert ANOTHER.cancel_requests(connection) == []
    assert first.status == "queued"


def remaining(store: JobStore, job_id: str) -> float:
    with store.reading() as connection:
        expires, now = connection.execute(leases.select(leases.jobs.c.lease_expires_at, leases.now())).one()
    return float(expires - now)
