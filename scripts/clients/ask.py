"""Asks a gateway by the clients of Python that are installed here, and prints what each cell showed: client, cell, word."""

import importlib.metadata
import json
import os
import sys
from typing import Callable

from pydantic import BaseModel

BASE = os.environ["BASE_URL"]
KEY = os.environ["API_KEY"]
MODEL = os.environ["MODEL"]
PICTURE = os.environ["PICTURE"]
PICTURE_URL = f"data:image/png;base64,{PICTURE}"
os.environ["OPENAI_API_KEY"] = os.environ["ANTHROPIC_API_KEY"] = KEY
os.environ["OPENAI_BASE_URL"] = f"{BASE}/v1"
os.environ["ANTHROPIC_BASE_URL"] = BASE

HELLO = "Hello"
WEATHER = "What is the weather in \"Paris\"?"
NO_MODEL = "no-such-model"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
GREETING = "from a demo model"
SEEN = "I can see image/png"
TOOL_SAID = "The tool answered: sunny"


class Town(BaseModel):
    """A town."""

    town: str
    count: int


def is_town(value: object) -> bool:
    found = Town.model_validate_json(value) if isinstance(value, str) else value
    return isinstance(found, Town) and isinstance(found.count, int)


def check(holds: object, seen: object) -> str:
    return "yes" if holds else f"no: {str(seen)[:300]}"


def spoken(pieces: list[str]) -> str:
    return check(len(pieces) > 1 and GREETING in "".join(pieces), pieces)


def told(call: Callable[[], object], status: int = 404) -> str:
    """The error for a model that is not there, by the client's own class, with the gateway's words."""
    try:
        return check(False, call())
    except Exception as error:  # noqa: BLE001
        text = f"{type(error).__name__} {getattr(error, 'status_code', '')} {error}"
        return check(("NotFound" in text or str(status) in text) and NO_MODEL in text, text)


def has(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


Cells = dict[str, Callable[[], str]]


def openai_chat() -> Cells:
    from openai import OpenAI

    chat = OpenAI(max_retries=0).chat.completions
    user = [{"role": "user", "content": HELLO}]
    tools = [{"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": PARAMETERS, "strict": True}}]

    def text() -> str:
        answer = chat.create(model=MODEL, messages=user)
        return check(GREETING in answer.choices[0].message.content and answer.usage.total_tokens > 0, answer)

    def stream() -> str:
        with chat.stream(model=MODEL, messages=user, stream_options={"include_usage": True}) as events:
            pieces = [event.delta for event in events if event.type == "content.delta"]
            final = events.get_final_completion()
        return spoken(pieces) if final.usage.total_tokens > 0 else check(False, final)

    def tool() -> str:
        said = [{"role": "user", "content": WEATHER}]
        with chat.stream(model=MODEL, messages=said, tools=tools) as events:
            message = events.get_final_completion().choices[0].message
        [call] = message.tool_calls
        city = json.loads(call.function.arguments)["city"]
        said += [message.model_dump(exclude_none=True, exclude={"parsed"}), {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
        for one in said[1]["tool_calls"]:
            one["function"].pop("parsed_arguments", None)
        answer = chat.create(model=MODEL, messages=said, tools=tools).choices[0].message.content
        return check(city == "Paris" and TOOL_SAID in answer, (city, answer))

    def typed() -> str:
        return check(is_town(chat.parse(model=MODEL, messages=user, response_format=Town).choices[0].message.parsed), "not parsed")

    def image() -> str:
        content = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": PICTURE_URL}}]
        answer = chat.create(model=MODEL, messages=[{"role": "user", "content": content}]).choices[0].message.content
        return check(SEEN in answer, answer)

    return {
        **{"text": text, "stream": stream, "tools": tool, "typed": typed, "image": image},
        "error": lambda: told(lambda: chat.create(model=NO_MODEL, messages=user)),
    }


def openai_responses() -> Cells:
    from openai import OpenAI

    responses = OpenAI(max_retries=0).responses
    tools = [{"type": "function", "name": "get_weather", "description": "The weather", "parameters": PARAMETERS, "strict": True}]

    def text() -> str:
        answer = responses.create(model=MODEL, input=HELLO)
        return check(GREETING in answer.output_text and answer.usage.total_tokens > 0, answer)

    def stream() -> str:
        with responses.stream(model=MODEL, input=HELLO) as events:
            pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
            final = events.get_final_response()
        return spoken(pieces) if final.usage.total_tokens > 0 else check(False, final)

    def tool() -> str:
        with responses.stream(model=MODEL, input=WEATHER, tools=tools) as events:
            first = events.get_final_response()
        [call] = [item for item in first.output if item.type == "function_call"]
        result = [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}]
        answer = responses.create(model=MODEL, input=result, previous_response_id=first.id, tools=tools).output_text
        return check(json.loads(call.arguments)["city"] == "Paris" and TOOL_SAID in answer, (call, answer))

    def typed() -> str:
        return check(is_town(responses.parse(model=MODEL, input=HELLO, text_format=Town).output_parsed), "not parsed")

    def image() -> str:
        content = [{"type": "input_text", "text": "Look"}, {"type": "input_image", "image_url": PICTURE_URL, "detail": "auto"}]
        answer = responses.create(model=MODEL, input=[{"role": "user", "content": content}]).output_text
        return check(SEEN in answer, answer)

    def count() -> str:
        return check(responses.input_tokens.count(model=MODEL, input=HELLO).input_tokens > 0, "0")

    return {
        **{"text": text, "stream": stream, "tools": tool, "typed": typed, "image": image},
        "error": lambda: told(lambda: responses.create(model=NO_MODEL, input=HELLO)),
        "count": count,
    }


def anthropic_messages() -> Cells:
    from anthropic import Anthropic

    messages = Anthropic(max_retries=0).messages
    user = [{"role": "user", "content": HELLO}]
    base = {"model": MODEL, "max_tokens": 500}
    tools = [{"name": "get_weather", "description": "The weather", "input_schema": PARAMETERS}]

    def said(answer: object) -> str:
        return "".join(block.text for block in answer.content if block.type == "text")

    def text() -> str:
        answer = messages.create(**base, messages=user)
        return check(GREETING in said(answer) and answer.usage.output_tokens > 0, answer)

    def stream() -> str:
        with messages.stream(**base, messages=user) as events:
            return spoken(list(events.text_stream))

    def tool() -> str:
        turns = [{"role": "user", "content": WEATHER}]
        with messages.stream(**base, messages=turns, tools=tools) as events:
            first = events.get_final_message()
        [call] = [block for block in first.content if block.type == "tool_use"]
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}
        turns += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        answer = said(messages.create(**base, messages=turns, tools=tools))
        return check(call.input == {"city": "Paris"} and TOOL_SAID in answer, (call, answer))

    def typed() -> str:
        return check(is_town(messages.parse(**base, messages=user, output_format=Town).parsed_output), "not parsed")

    def image() -> str:
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        content = [{"type": "text", "text": "Look"}, {"type": "image", "source": source}]
        answer = said(messages.create(**base, messages=[{"role": "user", "content": content}]))
        return check(SEEN in answer, answer)

    def count() -> str:
        return check(messages.count_tokens(model=MODEL, messages=user).input_tokens > 0, "0")

    return {
        **{"text": text, "stream": stream, "tools": tool, "typed": typed, "image": image},
        "error": lambda: told(lambda: messages.create(model=NO_MODEL, max_tokens=9, messages=user)),
        "count": count,
    }


def litellm_by(prefix: str) -> Cells:
    import litellm

    litellm.suppress_debug_info = True
    url = BASE if prefix == "anthropic" else f"{BASE}/v1"

    def ask(content: object, model: str = MODEL, **more: object) -> object:
        turns = content if isinstance(content, list) and content and "role" in content[0] else [{"role": "user", "content": content}]
        return litellm.completion(model=f"{prefix}/{model}", api_base=url, api_key=KEY, messages=turns, num_retries=0, max_tokens=500, **more)

    tools = [{"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": PARAMETERS}}]

    def text() -> str:
        answer = ask(HELLO)
        return check(GREETING in answer.choices[0].message.content and answer.usage.total_tokens > 0, answer)

    def stream() -> str:
        return spoken([chunk.choices[0].delta.content for chunk in ask(HELLO, stream=True) if chunk.choices[0].delta.content])

    def tool() -> str:
        chunks = list(ask(WEATHER, stream=True, tools=tools))
        message = litellm.stream_chunk_builder(chunks).choices[0].message
        [call] = message.tool_calls
        turns = [{"role": "user", "content": WEATHER}, message.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
        answer = ask(turns, tools=tools).choices[0].message.content
        return check(json.loads(call.function.arguments)["city"] == "Paris" and TOOL_SAID in answer, (call, answer))

    def image() -> str:
        answer = ask([{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": PICTURE_URL}}]).choices[0].message.content
        return check(SEEN in answer, answer)

    def count() -> str:
        import asyncio

        turns = [{"role": "user", "content": HELLO}]
        found = asyncio.run(litellm.acount_tokens(model=f"{prefix}/{MODEL}", messages=turns, api_base=url, api_key=KEY))
        return check(found.tokenizer_type != "local_tokenizer" and found.total_tokens > 0, found)

    return {
        **{"text": text, "stream": stream, "tools": tool, "image": image},
        "typed": lambda: check(is_town(ask(HELLO, response_format=Town).choices[0].message.content), "not parsed"),
        "error": lambda: told(lambda: ask(HELLO, NO_MODEL)),
        "count": count,
    }


def langchain_by(made: Callable[[str], object]) -> Cells:
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool as as_tool

    @as_tool
    def get_weather(city: str) -> str:
        """The weather"""
        return "sunny"

    model = made(MODEL)

    def text() -> str:
        answer = model.invoke(HELLO)
        return check(GREETING in answer.text and answer.usage_metadata["total_tokens"] > 0, answer)

    def tool() -> str:
        bound = model.bind_tools([get_weather])
        turns = [HumanMessage(WEATHER)]
        first = None
        for chunk in bound.stream(turns):
            first = chunk if first is None else first + chunk
        [call] = first.tool_calls
        turns += [first, ToolMessage("sunny", tool_call_id=call["id"])]
        answer = bound.invoke(turns).text
        return check(call["args"] == {"city": "Paris"} and TOOL_SAID in answer, (call, answer))

    def image() -> str:
        content = [{"type": "text", "text": "Look"}, {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": PICTURE}]
        answer = model.invoke([HumanMessage(content)]).text
        return check(SEEN in answer, answer)

    return {
        **{"text": text, "tools": tool, "image": image},
        "stream": lambda: spoken([chunk.text for chunk in model.stream(HELLO) if chunk.text]),
        "typed": lambda: check(is_town(model.with_structured_output(Town).invoke(HELLO)), "not parsed"),
        "error": lambda: told(lambda: made(NO_MODEL).invoke(HELLO)),
    }


def langchain_openai() -> Cells:
    from langchain_openai import ChatOpenAI

    return langchain_by(lambda model: ChatOpenAI(model=model, max_retries=0))


def langchain_openai_responses() -> Cells:
    from langchain_openai import ChatOpenAI

    return langchain_by(lambda model: ChatOpenAI(model=model, max_retries=0, use_responses_api=True))


def langchain_anthropic() -> Cells:
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import HumanMessage

    def made(model: str) -> ChatAnthropic:
        return ChatAnthropic(model=model, max_retries=0, max_tokens=500)

    def count() -> str:
        found = made(MODEL).get_num_tokens_from_messages([HumanMessage(HELLO)])
        return check(found > 0, found)

    return {**langchain_by(made), "count": count}


def pydantic_ai_by(made: Callable[[str], object]) -> Cells:
    from pydantic_ai import Agent, BinaryContent

    def agent(model: str = MODEL, **more: object) -> Agent:
        return Agent(made(model), **more)

    def text() -> str:
        run = agent().run_sync(HELLO)
        return check(GREETING in run.output and run.usage.total_tokens > 0, run)

    def stream() -> str:
        return spoken(list(agent().run_stream_sync(HELLO).stream_text(delta=True, debounce_by=None)))

    def tool() -> str:
        asked: list[str] = []

        def get_weather(city: str) -> str:
            """The weather"""
            asked.append(city)
            return "sunny"

        answer = agent(tools=[get_weather]).run_sync(WEATHER).output
        return check(asked == ["Paris"] and TOOL_SAID in answer, (asked, answer))

    def image() -> str:
        import base64

        answer = agent().run_sync(["Look", BinaryContent(base64.b64decode(PICTURE), media_type="image/png")]).output
        return check(SEEN in answer, answer)

    return {
        **{"text": text, "stream": stream, "tools": tool, "image": image},
        "typed": lambda: check(is_town(agent(output_type=Town).run_sync(HELLO).output), "not typed"),
        "error": lambda: told(lambda: agent(NO_MODEL).run_sync(HELLO)),
    }


def counted_by(made: Callable[[str], object]) -> Cells:
    def count() -> str:
        import asyncio

        from pydantic_ai.messages import ModelRequest
        from pydantic_ai.models import ModelRequestParameters

        turns = [ModelRequest.user_text_prompt(HELLO)]
        found = asyncio.run(made(MODEL).count_tokens(turns, None, ModelRequestParameters())).input_tokens
        return check(found > 0, found)

    return {**pydantic_ai_by(made), "count": count}


def pydantic_ai_chat() -> Cells:
    from pydantic_ai.models.openai import OpenAIChatModel

    return pydantic_ai_by(OpenAIChatModel)


def pydantic_ai_responses() -> Cells:
    from pydantic_ai.models.openai import OpenAIResponsesModel

    return counted_by(OpenAIResponsesModel)


def pydantic_ai_messages() -> Cells:
    from pydantic_ai.models.anthropic import AnthropicModel

    return counted_by(AnthropicModel)


def inspect_by(prefix: str) -> Cells:
    import asyncio

    from inspect_ai.model import ChatMessageTool, ChatMessageUser, ContentImage, ContentText, GenerateConfig, get_model
    from inspect_ai.model import ResponseSchema, StreamTextEvent
    from inspect_ai.tool import ToolInfo, ToolParams
    from inspect_ai.util import json_schema

    def ask(turns: object, model: str = MODEL, tools: list[object] | None = None, **more: object) -> object:
        async def run() -> object:
            config = GenerateConfig(max_retries=0, **more)
            return await get_model(f"{prefix}/{model}", config=config, memoize=False).generate(turns, tools=tools or [])

        return asyncio.run(run())

    weather = ToolInfo(
        name="get_weather", description="The weather", parameters=ToolParams(properties={"city": json_schema(str)}, required=["city"])
    )

    def text() -> str:
        answer = ask(HELLO)
        return check(GREETING in answer.completion and answer.usage.total_tokens > 0, answer)

    def tool() -> str:
        turns = [ChatMessageUser(content=WEATHER)]
        first = ask(turns, tools=[weather]).message
        [call] = first.tool_calls
        turns += [first, ChatMessageTool(content="sunny", tool_call_id=call.id, function=call.function)]
        answer = ask(turns, tools=[weather]).completion
        return check(call.arguments == {"city": "Paris"} and TOOL_SAID in answer, (call, answer))

    def stream() -> str:
        pieces: list[str] = []

        async def hear(event: object) -> None:
            if isinstance(event, StreamTextEvent):
                pieces.append(event.text)

        asyncio.run(get_model(f"{prefix}/{MODEL}", memoize=False).generate(HELLO, on_stream=hear))
        return spoken(pieces)

    def image() -> str:
        answer = ask([ChatMessageUser(content=[ContentText(text="Look"), ContentImage(image=PICTURE_URL)])]).completion
        return check(SEEN in answer, answer)

    def typed() -> str:
        schema = ResponseSchema(name="town", json_schema=json_schema(Town))
        return check(is_town(ask(HELLO, response_schema=schema).completion), "not typed")

    def count() -> str:
        if prefix == "anthropic":
            found = asyncio.run(get_model(f"{prefix}/{MODEL}", memoize=False).count_tokens(HELLO))
            return check(found > 0, found)
        from openai import OpenAI

        # Of a text alone it counts by itself.
        model = get_model(f"{prefix}/{MODEL}", memoize=False, responses_api=True)
        found = asyncio.run(model.count_tokens([ChatMessageUser(content=HELLO)]))
        told_by_api = OpenAI().responses.input_tokens.count(model=MODEL, input=HELLO).input_tokens
        return check(found == told_by_api, (found, told_by_api))

    return {
        **{"text": text, "stream": stream, "tools": tool, "image": image, "typed": typed, "count": count},
        "error": lambda: told(lambda: ask(HELLO, NO_MODEL)),
    }


def llama_index_by(made: Callable[[str], object]) -> Cells:
    from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
    from llama_index.core.prompts import PromptTemplate
    from llama_index.core.tools import FunctionTool

    model = made(MODEL)

    def get_weather(city: str) -> str:
        """The weather"""
        return "sunny"

    function = FunctionTool.from_defaults(get_weather)

    def tool() -> str:
        turns = [ChatMessage(role="user", content=WEATHER)]
        first = model.chat_with_tools([function], chat_history=turns)
        [call] = model.get_tool_calls_from_response(first)
        turns += [first.message, ChatMessage(role="tool", content="sunny", additional_kwargs={"tool_call_id": call.tool_id})]
        answer = model.chat_with_tools([function], chat_history=turns).message.content
        return check(call.tool_kwargs == {"city": "Paris"} and TOOL_SAID in answer, (call, answer))

    def image() -> str:
        import base64

        blocks = [TextBlock(text="Look"), ImageBlock(image=base64.b64decode(PICTURE), image_mimetype="image/png")]
        answer = model.chat([ChatMessage(role="user", blocks=blocks)]).message.content
        return check(SEEN in answer, answer)

    def typed() -> str:
        return check(is_town(model.structured_predict(Town, PromptTemplate(HELLO))), "not typed")

    return {
        "text": lambda: check(GREETING in model.complete(HELLO).text, "no greeting"),
        "stream": lambda: spoken([piece.delta for piece in model.stream_chat([ChatMessage(role="user", content=HELLO)]) if piece.delta]),
        **{"tools": tool, "image": image, "typed": typed},
        "error": lambda: told(lambda: made(NO_MODEL).complete(HELLO)),
    }


def llama_index_like() -> Cells:
    from llama_index.llms.openai_like import OpenAILike

    return llama_index_by(
        lambda model: OpenAILike(
            model=model, api_base=f"{BASE}/v1", api_key=KEY, is_chat_model=True, is_function_calling_model=True, max_retries=0
        )
    )


CLIENTS: list[tuple[str, str, Callable[[], Cells]]] = [
    ("openai", "openai (Python), chat-completions", openai_chat),
    ("openai", "openai (Python), responses", openai_responses),
    ("anthropic", "anthropic (Python)", anthropic_messages),
    ("litellm", "litellm, openai/", lambda: litellm_by("openai")),
    ("litellm", "litellm, anthropic/", lambda: litellm_by("anthropic")),
    ("langchain-openai", "langchain-openai, chat-completions", langchain_openai),
    ("langchain-openai", "langchain-openai, responses", langchain_openai_responses),
    ("langchain-anthropic", "langchain-anthropic", langchain_anthropic),
    ("pydantic-ai-slim", "pydantic-ai, chat-completions", pydantic_ai_chat),
    ("pydantic-ai-slim", "pydantic-ai, responses", pydantic_ai_responses),
    ("pydantic-ai-slim", "pydantic-ai, messages", pydantic_ai_messages),
    ("inspect-ai", "inspect-ai, openai/", lambda: inspect_by("openai")),
    ("inspect-ai", "inspect-ai, anthropic/", lambda: inspect_by("anthropic")),
    ("llama-index-llms-openai-like", "llama-index, OpenAILike", llama_index_like),
]


def shown(clients: list[tuple[str, str, Callable[[], Cells]]]) -> None:
    """What each cell of those that are named and installed showed, a line for each."""
    wanted = set(sys.argv[1:])
    # What libraries print by themselves goes elsewhere.
    out, sys.stdout = sys.stdout, sys.stderr
    for package, title, cells in clients:
        version = has(package)
        if package not in wanted or version is None:
            continue
        try:
            every = cells()
        except Exception as error:  # noqa: BLE001
            every = {"text": lambda error=error: check(False, f"{type(error).__name__}: {error}")}
        for cell, ask in every.items():
            try:
                word = ask()
            except Exception as error:  # noqa: BLE001
                word = check(False, f"{type(error).__name__}: {error}")
            print(json.dumps({"client": title, "version": version, "cell": cell, "word": word}), file=out, flush=True)


if __name__ == "__main__":
    shown(CLIENTS)
