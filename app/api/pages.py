"""Pages for people: the start page, Swagger UI and ReDoc without any content network, and one page per type of problem."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from app.api.refusals import Refusal, documented, known_problems
from solvers.operation import Operation

_PAGE_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
# Swagger UI and ReDoc style their elements in place and show images inline; ReDoc searches in a worker.
_DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; worker-src blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def add_pages(app: FastAPI, catalogue: Mapping[str, Operation[Any, Any]]) -> None:
    """Give the application its pages and static files."""
    app.mount("/static/docs", StaticFiles(directory=str(files("fastapi_offline") / "static")), name="docs")
    app.mount("/static", StaticFiles(directory=Path(__file__).parent.parent / "web" / "static"), name="static")
    app.include_router(_router(catalogue))


def _router(catalogue: Mapping[str, Operation[Any, Any]]) -> APIRouter:
    router = APIRouter()

    @router.get("/", include_in_schema=False)
    async def home(request: Request) -> HTMLResponse:
        return _page(request, "Foresolve", _home(catalogue, _root(request)))

    @router.get("/docs", include_in_schema=False)
    async def swagger(request: Request) -> HTMLResponse:
        return _docs(request, "swagger")

    @router.get("/redoc", include_in_schema=False)
    async def redoc(request: Request) -> HTMLResponse:
        return _docs(request, "redoc")

    @router.get(
        "/problems/{slug}",
        tags=["service"],
        summary="Explain a type of problem",
        response_class=HTMLResponse,
        responses=documented(403, 404, 421, 422),
    )
    async def problem(request: Request, slug: str) -> HTMLResponse:
        kind = known_problems().get(slug)
        if kind is None:
            raise Refusal("not-found", f"there is no type of problem {slug[:80]!r}")
        content = f"<h1>{escape(kind.title)}</h1><p class=summary>HTTP status {kind.status}</p><p>{_prose(kind.explanation)}</p>"
        return _page(request, kind.title, content)

    return router


def _home(catalogue: Mapping[str, Operation[Any, Any]], root: str) -> str:
    rows = "".join(
        f"<tr><td><code>POST /v1/{escape(operation.path)}</code></td><td class=faint>{escape(operation.summary)}</td></tr>"
        for operation in catalogue.values()
    )
    return (
        "<h1>Foresolve</h1><p class=summary>Combinatorial algorithms over HTTP: post a problem, get a solution with a proven bound.</p>"
        f'<p><a href="{root}/docs">Try it in Swagger UI</a>, read <a href="{root}/redoc">the reference</a>, '
        f'or take <a href="{root}/openapi.json">the OpenAPI document</a>.</p><table>{rows}</table>'
    )


def _docs(request: Request, name: str) -> HTMLResponse:
    return HTMLResponse(_template(name).substitute(root=_root(request)), headers={"Content-Security-Policy": _DOCS_POLICY})


def _page(request: Request, title: str, content: str) -> HTMLResponse:
    page = _template("page").substitute(root=_root(request), title=escape(title), content=content)
    return HTMLResponse(page, headers={"Content-Security-Policy": _PAGE_POLICY})


def _root(request: Request) -> str:
    return escape(str(request.scope.get("root_path", "")))


def _prose(text: str) -> str:
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))


@cache
def _template(name: str) -> Template:
    return Template((files("app.web") / "templates" / f"{name}.html").read_text(encoding="utf-8"))
