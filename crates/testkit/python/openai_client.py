"""Makes calls with OpenAI's SDK, one JSON object per line of standard input, and prints what it got, a line for each.

A line is `{"call": "models" | "model" | "chat" | "responses", "body": {…}, "headers": {…}, "key": …}`; the address and the
key of the server come from the environment, unless the line has a key. The result has `text`, `id`, `finish`, `usage`,
`session` and `run` (headers), and of a stream also `pieces` (how many had text), `progress` (text about the run) and
`events` (their types); or `{"error": {"class", "status", "code", "param", "message", "retry"}}`.
"""

import json
import sys

import openai

clients = {}


def client(key):
    if key not in clients:
        clients[key] = openai.OpenAI(api_key=key, max_retries=0, _strict_response_validation=True)
    return clients[key]


def about(raw):
    return {"session": raw.headers.get("x-windlass-session"), "run": raw.headers.get("x-windlass-run")}


def chat(api, body, headers):
    raw = api.chat.completions.with_raw_response.create(**body, extra_headers=headers)
    answer = raw.parse()
    if not body.get("stream"):
        choice = answer.choices[0]
        usage = answer.usage.total_tokens
        return {"text": choice.message.content, "id": answer.id, "finish": choice.finish_reason, "usage": usage, **about(raw)}
    got = {"text": "", "progress": "", "pieces": 0, "finish": None, "usage": None, **about(raw)}
    for chunk in answer:
        got["id"] = chunk.id
        got["usage"] = chunk.usage.total_tokens if chunk.usage else got["usage"]
        for choice in chunk.choices:
            got["pieces"] += bool(choice.delta.content)
            got["text"] += choice.delta.content or ""
            got["progress"] += getattr(choice.delta, "reasoning_content", None) or ""
            got["finish"] = choice.finish_reason or got["finish"]
    return got


def responses(api, body, headers):
    raw = api.responses.with_raw_response.create(**body, extra_headers=headers)
    answer = raw.parse()
    got = {**about(raw)}
    if body.get("stream"):
        got |= {"pieces": 0, "events": [], "deltas": ""}
        for event in answer:
            got["events"].append(event.type)
            if event.type == "response.output_text.delta":
                got["pieces"] += 1
                got["deltas"] += event.delta
        answer = event.response
    failure = answer.error.code if answer.error else None
    usage = answer.usage.total_tokens if answer.usage else None
    return got | {"text": answer.output_text, "id": answer.id, "finish": answer.status, "usage": usage, "failure": failure}


def call(line):
    api, body, headers = client(line.get("key") or openai.OpenAI().api_key), line.get("body", {}), line.get("headers", {})
    match line["call"]:
        case "models":
            return {"ids": [model.id for model in api.models.list()]}
        case "model":
            return {"id": api.models.retrieve(**body).id}
        case "chat":
            return chat(api, body, headers)
        case "responses":
            return responses(api, body, headers)


def main():
    for text in sys.stdin:
        try:
            got = call(json.loads(text))
        except openai.APIError as error:
            response = getattr(error, "response", None)
            got = {
                "error": {
                    "class": type(error).__name__,
                    "status": getattr(error, "status_code", None),
                    "code": error.code,
                    "param": error.param,
                    "message": error.message,
                    "retry": response.headers.get("x-should-retry") if response is not None else None,
                }
            }
        print(json.dumps(got), flush=True)


if __name__ == "__main__":
    main()
