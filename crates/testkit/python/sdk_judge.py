"""Judges request bodies by the official SDKs, one JSON object per line of standard input.

A line is `{"wire": …, "body": …}`: the body must fit the SDK's own type of a request, with no key that the type does not
have. With `"server": URL` the body is then sent there by the SDK's own client, which must accept the answer. The line
that comes back is `{"objection": text or null, "answer": {"text", "calls", "tokens"} or null}`.
"""

import collections.abc
import datetime
import importlib
import io
import json
import os
import sys
import types
import typing

import typing_extensions
from pydantic import BaseModel, TypeAdapter, ValidationError

# What a caller in Python may pass beside JSON: files, times, and answers of the SDK as they came.
NOT_JSON = (typing.IO, io.IOBase, os.PathLike, bytes, datetime.date, BaseModel)
LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)


def closed(hint, seen):
    """The type as JSON has it: no key beyond those it names, and lists in place of iterables, which would not be read.
    `None` if JSON has no such value."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    plain = origin or hint
    if isinstance(plain, type) and issubclass(plain, NOT_JSON):
        return None
    if typing_extensions.is_typeddict(hint):
        if hint not in seen:
            seen.add(hint)
            fields = typing_extensions.get_type_hints(hint, include_extras=True)
            hint.__annotations__ = {name: closed(field, seen) for name, field in fields.items()}
            hint.__pydantic_config__ = {"extra": "forbid"}
        return hint
    if origin in (typing.Union, types.UnionType):
        kept = [one for one in (closed(one, seen) for one in inner) if one is not None]
        return typing.Union[tuple(kept)] if kept else None
    # Both SDKs have a sequence type of their own, which excludes text.
    if origin in LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
        return typing.List[closed(inner[0], seen)]
    if origin is dict:
        return typing.Dict[inner[0], closed(inner[1], seen)]
    if origin is typing.Annotated:
        return closed(inner[0], seen)
    if origin is typing_extensions.Required:
        return typing_extensions.Required[closed(inner[0], seen)]
    return hint


def in_short(error):
    """The complaints that say most. Of a choice between types every one complains; those of another `type` or `role`
    are not meant, nor those that would have text instead."""
    every = sorted(error.errors(), key=lambda one: -len(one["loc"]))
    tags = [one["loc"] for one in every if one["type"] == "literal_error" and one["loc"][-1] in ("type", "role")]
    others = {tag[:-1] for tag in tags}
    other = lambda loc: loc[-1] == "str" or any(loc[:end] in others for end in range(len(loc)))
    meant = [one for one in every if not other(one["loc"])] or every
    # The names of choices between types are left out: they list all of them.
    path = lambda loc: ".".join(str(part) for part in loc if "[" not in str(part))
    said = [path(one["loc"]) + ": " + one["msg"] for one in meant[:3]]
    return "; ".join(said) + (f" (and {len(meant) - 3} more)" if len(meant) > 3 else "")


def openai_client(server):
    openai = importlib.import_module("openai")
    return openai.OpenAI(base_url=server, api_key="none", max_retries=0, _strict_response_validation=True)


def chat(server, body):
    client = openai_client(server)
    if not body.get("stream"):
        answer = client.chat.completions.create(**body)
        message = answer.choices[0].message
        calls = [[call.function.name, call.function.arguments] for call in message.tool_calls or []]
        return message.content or "", calls, answer.usage.total_tokens
    text, calls, tokens = "", [], None
    for chunk in client.chat.completions.create(**body):
        tokens = chunk.usage.total_tokens if chunk.usage else tokens
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                if call.index == len(calls):
                    calls.append([call.function.name, ""])
                calls[call.index][1] += call.function.arguments or ""
    return text, calls, tokens


def responses(server, body):
    answer = openai_client(server).responses.create(**body)
    if body.get("stream"):
        *_, last = answer
        answer = last.response
    calls = [[item.name, item.arguments] for item in answer.output if item.type == "function_call"]
    return answer.output_text, calls, answer.usage.total_tokens


def messages(server, body):
    anthropic = importlib.import_module("anthropic")
    # The client adds `/v1` itself.
    root = server.removesuffix("/v1")
    client = anthropic.Anthropic(base_url=root, api_key="none", max_retries=0, _strict_response_validation=True)
    if body.pop("stream", False):
        with client.messages.stream(**body) as stream:
            answer = stream.get_final_message()
    else:
        answer = client.messages.create(**body)
    text = "".join(block.text for block in answer.content if block.type == "text")
    calls = [[block.name, json.dumps(block.input)] for block in answer.content if block.type == "tool_use"]
    return text, calls, answer.usage.input_tokens + answer.usage.output_tokens


# A row for each wire: where the type of its requests is, and how the SDK's client sends one. An SDK takes a second to
# import, so that is done when it is needed.
WIRES = {
    "chat": ("openai.types.chat", "CompletionCreateParams", chat),
    "responses": ("openai.types.responses", "ResponseCreateParams", responses),
    "messages": ("anthropic.types", "MessageCreateParams", messages),
}


def adapter(wire, body, adapters):
    """What validates the body: each type of requests is a choice of one that does not stream and one that does."""
    key = (wire, body.get("stream") is True)
    if key not in adapters:
        module, name, _ = WIRES[wire]
        whole, streamed = typing.get_args(getattr(importlib.import_module(module), name))
        adapters[key] = TypeAdapter(closed(streamed if key[1] else whole, set()))
    return adapters[key]


def judge(case, adapters):
    wire, body = case["wire"], case["body"]
    try:
        adapter(wire, body, adapters).validate_json(json.dumps(body), strict=True)
    except ValidationError as error:
        return {"objection": in_short(error), "answer": None}
    if case.get("server") is None:
        return {"objection": None, "answer": None}
    try:
        _, _, send = WIRES[wire]
        text, calls, tokens = send(case["server"], body)
    except Exception as error:
        return {"objection": f"the answer: {type(error).__name__}: {error}", "answer": None}
    return {"objection": None, "answer": {"text": text, "calls": calls, "tokens": tokens}}


def main():
    adapters = {}
    for line in sys.stdin:
        print(json.dumps(judge(json.loads(line), adapters)), flush=True)


if __name__ == "__main__":
    main()
