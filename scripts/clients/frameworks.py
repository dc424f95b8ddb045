"""Asks a gateway by the agent frameworks of Python that are installed here, as ask.py does by clients: client, cell, word."""

import asyncio
import base64
import os
from typing import Callable

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

from ask import BASE, GREETING, HELLO, KEY, MODEL, NO_MODEL, PARAMETERS, PICTURE, PICTURE_URL, SEEN, TOOL_SAID, WEATHER  # noqa: E402
from ask import Cells, Town, check, is_town, shown, spoken, told  # noqa: E402


def agent_framework_by(made: Callable[[str], object]) -> Cells:
    from agent_framework import Agent, Content, Message

    asked: list[str] = []

    def get_weather(city: str) -> str:
        """The weather"""
        asked.append(city)
        return "sunny"

    def run(said: object, model: str = MODEL, tools: object = None, **options: object) -> object:
        return asyncio.run(made(model).get_response([Message(role="user", contents=said)], options={"tools": tools, **options}))

    def text() -> str:
        answer = run([HELLO])
        used = answer.usage_details
        return check(GREETING in answer.text and used["input_token_count"] + used["output_token_count"] > 0, answer)

    def stream() -> str:
        async def pieces() -> tuple[list[str], str]:
            events = made(MODEL).get_response([Message(role="user", contents=[HELLO])], stream=True)
            heard = [update.text async for update in events if update.text]
            return heard, (await events.get_final_response()).text

        heard, whole = asyncio.run(pieces())
        return spoken(heard) if GREETING in whole else check(False, whole)

    def tool() -> str:
        async def answered() -> str:
            events = Agent(made(MODEL), tools=[get_weather]).run(WEATHER, stream=True)
            async for _ in events:
                pass
            return (await events.get_final_response()).text

        asked.clear()
        answer = asyncio.run(answered())
        return check(asked == ["Paris"] and TOOL_SAID in answer, (asked, answer))

    def image() -> str:
        answer = run([Content.from_text("Look"), Content.from_data(base64.b64decode(PICTURE), media_type="image/png")]).text
        return check(SEEN in answer, answer)

    return {
        **{"text": text, "stream": stream, "tools": tool, "image": image},
        "typed": lambda: check(is_town(run([HELLO], response_format=Town).value), "not typed"),
        "error": lambda: told(lambda: run([HELLO], NO_MODEL)),
    }


def agent_framework_chat() -> Cells:
    from agent_framework.openai import OpenAIChatCompletionClient

    return agent_framework_by(lambda model: OpenAIChatCompletionClient(model=model, api_key=KEY, base_url=f"{BASE}/v1"))


def agent_framework_responses() -> Cells:
    from agent_framework.openai import OpenAIChatClient

    return agent_framework_by(lambda model: OpenAIChatClient(model=model, api_key=KEY, base_url=f"{BASE}/v1"))


def agent_framework_messages() -> Cells:
    from agent_framework.anthropic import AnthropicClient
    from anthropic import AsyncAnthropic

    return agent_framework_by(lambda model: AnthropicClient(model=model, anthropic_client=AsyncAnthropic(api_key=KEY, base_url=BASE)))


def crewai_by(**how: object) -> Cells:
    from crewai import LLM
    from crewai.events import LLMStreamChunkEvent, crewai_event_bus

    tools = [{"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": PARAMETERS}}]

    def llm(model: str = MODEL, **more: object) -> LLM:
        return LLM(model=model, api_key=KEY, max_tokens=500, **how, **more)

    def text() -> str:
        asked = llm()
        answer = asked.call(HELLO)
        return check(GREETING in answer and asked.get_token_usage_summary().total_tokens > 0, answer)

    def stream() -> str:
        pieces: list[str] = []
        with crewai_event_bus.scoped_handlers():
            crewai_event_bus.on(LLMStreamChunkEvent)(lambda _, event: pieces.append(event.chunk or ""))
            answer = llm(stream=True).call(HELLO)
            crewai_event_bus.flush()
        return spoken(pieces) if GREETING in answer else check(False, answer)

    def tool() -> str:
        asked: list[str] = []

        def get_weather(city: str) -> str:
            asked.append(city)
            return "sunny"

        answer = llm(stream=True).call(WEATHER, tools=tools, available_functions={"get_weather": get_weather})
        return check(asked == ["Paris"] and answer == "sunny", (asked, answer))

    def image() -> str:
        content = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": PICTURE_URL}}]
        answer = llm().call([{"role": "user", "content": content}])
        return check(SEEN in answer, answer)

    return {
        **{"text": text, "stream": stream, "tools": tool},
        # In other forms it passes a picture on as it was given.
        **({"image": image} if how["provider"] == "openai" and "api" not in how else {}),
        "typed": lambda: check(is_town(llm().call(HELLO, response_model=Town)), "not typed"),
        "error": lambda: told(lambda: llm(NO_MODEL).call(HELLO)),
    }


CLIENTS: list[tuple[str, str, Callable[[], Cells]]] = [
    ("agent-framework-openai", "agent-framework, chat-completions", agent_framework_chat),
    ("agent-framework-openai", "agent-framework, responses", agent_framework_responses),
    ("agent-framework-anthropic", "agent-framework, messages", agent_framework_messages),
    ("crewai", "crewai, chat-completions", lambda: crewai_by(provider="openai", base_url=f"{BASE}/v1")),
    ("crewai", "crewai, responses", lambda: crewai_by(provider="openai", api="responses", base_url=f"{BASE}/v1")),
    ("crewai", "crewai, messages", lambda: crewai_by(provider="anthropic", base_url=BASE)),
]

shown(CLIENTS)
