//! Asks a gateway by the clients of Rust, and prints what each cell showed: client, cell, word.

use std::env::var;
use std::fmt::{Debug, Display};

use async_openai::Client as OpenAi;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{CreateChatCompletionRequest, CreateChatCompletionResponse};
use async_openai::types::responses::{CreateResponse, OutputItem, Response, ResponseStreamEvent};
use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ChatStreamEvent, ContentPart, JsonSpec, Tool, ToolCall,
    ToolResponse,
};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client as GenAi, ModelIden, ServiceTarget};
use serde_json::{Value, from_value, json};

/// As in Cargo.toml.
const ASYNC_OPENAI: &str = "0.43.0";
const GENAI: &str = "0.7.2";

const HELLO: &str = "Hello";
const WEATHER: &str = "What is the weather in \"Paris\"?";
const NO_MODEL: &str = "no-such-model";
const GREETING: &str = "from a demo model";
const SEES: &str = "I can see image/png";
const TOOL_SAID: &str = "The tool answered: sunny";

type Word = Result<String, Box<dyn std::error::Error>>;

fn given(name: &str) -> String {
    var(name).unwrap_or_default()
}

fn check(holds: bool, seen: impl Debug) -> Word {
    Ok(if holds {
        "yes".into()
    } else {
        format!("no: {seen:?}").chars().take(300).collect()
    })
}

fn told<T: Debug>(result: Result<T, impl Display + Debug>) -> Word {
    match result {
        Ok(answer) => check(false, answer),
        Err(error) => {
            let text = format!("{error} {error:?}");
            check(
                text.contains(NO_MODEL) && (text.contains("404") || text.contains("invalid_model")),
                text,
            )
        }
    }
}

fn show(client: &str, version: &str, cell: &str, word: Word) {
    let word = word.unwrap_or_else(|error| format!("no: {error}").chars().take(300).collect());
    println!(
        "{}",
        json!({ "client": client, "version": version, "cell": cell, "word": word })
    );
}

fn city() -> Value {
    json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"], "additionalProperties": false })
}

fn town() -> Value {
    json!({
        "type": "object", "properties": { "town": { "type": "string" }, "count": { "type": "integer" } },
        "required": ["town", "count"], "additionalProperties": false
    })
}

fn is_town(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|found| found["town"].is_string() && found["count"].is_i64())
}

fn picture() -> String {
    format!("data:image/png;base64,{}", given("PICTURE"))
}

mod chat {
    use super::*;

    fn asked(model: &str, messages: Value, more: Value) -> CreateChatCompletionRequest {
        let mut body = json!({ "model": model, "messages": messages });
        if let (Some(all), Value::Object(more)) = (body.as_object_mut(), more) {
            all.extend(more);
        }
        from_value(body).expect("a request")
    }

    fn text(answer: &CreateChatCompletionResponse) -> &str {
        answer.choices[0].message.content.as_deref().unwrap_or_default()
    }

    fn user(content: Value) -> Value {
        json!([{ "role": "user", "content": content }])
    }

    pub async fn drive(client: &OpenAi<OpenAIConfig>, model: &str) {
        let show = |cell: &str, word: Word| show("async-openai, chat-completions", ASYNC_OPENAI, cell, word);
        show("text", plain(client, model).await);
        show("stream", stream(client, model).await);
        show("tools", tools(client, model).await);
        show("typed", typed(client, model).await);
        show("image", image(client, model).await);
        show(
            "error",
            told(
                client
                    .chat()
                    .create(asked(NO_MODEL, user(json!(HELLO)), json!({})))
                    .await,
            ),
        );
    }

    async fn plain(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let answer = client
            .chat()
            .create(asked(model, user(json!(HELLO)), json!({})))
            .await?;
        check(text(&answer).contains(GREETING) && answer.usage.is_some(), answer)
    }

    async fn stream(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let mut chunks = client
            .chat()
            .create_stream(asked(model, user(json!(HELLO)), json!({ "stream": true })))
            .await?;
        let mut pieces = Vec::new();
        while let Some(chunk) = chunks.next().await {
            pieces.extend(chunk?.choices.into_iter().filter_map(|choice| choice.delta.content));
        }
        check(pieces.len() > 1 && pieces.concat().contains(GREETING), pieces)
    }

    async fn tools(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let tools = json!({ "tools": [{ "type": "function", "function": { "name": "get_weather", "description": "The weather", "parameters": city() } }] });
        let mut with_stream = tools.clone();
        with_stream["stream"] = json!(true);
        let mut chunks = client
            .chat()
            .create_stream(asked(model, user(json!(WEATHER)), with_stream))
            .await?;
        let (mut id, mut input) = (String::new(), String::new());
        while let Some(chunk) = chunks.next().await {
            for call in chunk?
                .choices
                .into_iter()
                .filter_map(|choice| choice.delta.tool_calls)
                .flatten()
            {
                id.push_str(&call.id.unwrap_or_default());
                input.push_str(
                    &call
                        .function
                        .and_then(|function| function.arguments)
                        .unwrap_or_default(),
                );
            }
        }
        let turns = json!([
            { "role": "user", "content": WEATHER },
            { "role": "assistant", "tool_calls": [{ "id": id, "type": "function", "function": { "name": "get_weather", "arguments": input } }] },
            { "role": "tool", "tool_call_id": id, "content": "sunny" }
        ]);
        let answer = client.chat().create(asked(model, turns, tools)).await?;
        check(input.contains("Paris") && text(&answer).contains(TOOL_SAID), answer)
    }

    async fn typed(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let format = json!({ "response_format": { "type": "json_schema", "json_schema": { "name": "town", "strict": true, "schema": town() } } });
        let answer = client.chat().create(asked(model, user(json!(HELLO)), format)).await?;
        check(is_town(text(&answer)), answer)
    }

    async fn image(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let content =
            json!([{ "type": "text", "text": "Look" }, { "type": "image_url", "image_url": { "url": picture() } }]);
        let answer = client.chat().create(asked(model, user(content), json!({}))).await?;
        check(text(&answer).contains(SEES), answer)
    }
}

mod responses {
    use super::*;

    fn asked(model: &str, input: Value, more: Value) -> CreateResponse {
        let mut body = json!({ "model": model, "input": input });
        if let (Some(all), Value::Object(more)) = (body.as_object_mut(), more) {
            all.extend(more);
        }
        from_value(body).expect("a request")
    }

    fn text(answer: &Response) -> String {
        answer.output_text().unwrap_or_default()
    }

    async fn streamed(
        client: &OpenAi<OpenAIConfig>,
        request: CreateResponse,
    ) -> Result<(Option<Response>, usize), Box<dyn std::error::Error>> {
        let mut events = client.responses().create_stream(request).await?;
        let (mut whole, mut pieces) = (None, 0);
        while let Some(event) = events.next().await {
            match event? {
                ResponseStreamEvent::ResponseOutputTextDelta(_) => pieces += 1,
                ResponseStreamEvent::ResponseCompleted(event) => whole = Some(event.response),
                _ => {}
            }
        }
        Ok((whole, pieces))
    }

    pub async fn drive(client: &OpenAi<OpenAIConfig>, model: &str) {
        let show = |cell: &str, word: Word| show("async-openai, responses", ASYNC_OPENAI, cell, word);
        show("text", plain(client, model).await);
        show("stream", stream(client, model).await);
        show("tools", tools(client, model).await);
        show("typed", typed(client, model).await);
        show("image", image(client, model).await);
        show(
            "error",
            told(
                client
                    .responses()
                    .create(asked(NO_MODEL, json!(HELLO), json!({})))
                    .await,
            ),
        );
    }

    async fn plain(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let answer = client.responses().create(asked(model, json!(HELLO), json!({}))).await?;
        check(text(&answer).contains(GREETING) && answer.usage.is_some(), answer)
    }

    async fn stream(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let (whole, pieces) = streamed(client, asked(model, json!(HELLO), json!({ "stream": true }))).await?;
        check(
            pieces > 1 && whole.as_ref().is_some_and(|answer| text(answer).contains(GREETING)),
            whole,
        )
    }

    async fn tools(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let mut more = json!({ "stream": true, "tools": [{ "type": "function", "name": "get_weather", "description": "The weather", "parameters": city(), "strict": true }] });
        let (first, _) = streamed(client, asked(model, json!(WEATHER), more.clone())).await?;
        let first = first.ok_or("no end")?;
        let call = first.output.iter().find_map(|item| match item {
            OutputItem::FunctionCall(call) => Some(call.clone()),
            _ => None,
        });
        let call = call.ok_or("no call")?;
        more["stream"] = json!(false);
        more["previous_response_id"] = json!(first.id);
        let result = json!([{ "type": "function_call_output", "call_id": call.call_id, "output": "sunny" }]);
        let answer = client.responses().create(asked(model, result, more)).await?;
        check(
            call.arguments.contains("Paris") && text(&answer).contains(TOOL_SAID),
            answer,
        )
    }

    async fn typed(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let format = json!({ "text": { "format": { "type": "json_schema", "name": "town", "strict": true, "schema": town() } } });
        let answer = client.responses().create(asked(model, json!(HELLO), format)).await?;
        check(is_town(&text(&answer)), answer)
    }

    async fn image(client: &OpenAi<OpenAIConfig>, model: &str) -> Word {
        let content = json!([{ "type": "input_text", "text": "Look" }, { "type": "input_image", "detail": "auto", "image_url": picture() }]);
        let input = json!([{ "type": "message", "role": "user", "content": content }]);
        let answer = client.responses().create(asked(model, input, json!({}))).await?;
        check(text(&answer).contains(SEES), answer)
    }
}

mod by_genai {
    use super::*;

    fn client(kind: AdapterKind) -> GenAi {
        let resolver = ServiceTargetResolver::from_resolver_fn(
            move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
                Ok(ServiceTarget {
                    endpoint: Endpoint::from_owned(format!("{}/v1/", given("BASE_URL"))),
                    auth: AuthData::from_single(given("API_KEY")),
                    model: ModelIden::new(kind, target.model.model_name),
                })
            },
        );
        GenAi::builder()
            .with_service_target_resolver(resolver)
            .build()
            .expect("a client")
    }

    fn said(content: impl Into<genai::chat::MessageContent>) -> ChatRequest {
        ChatRequest::new(vec![ChatMessage::user(content)])
    }

    pub async fn drive(kind: AdapterKind, wire: &str, model: &str) {
        let client = client(kind);
        let show = |cell: &str, word: Word| show(&format!("genai, {wire}"), GENAI, cell, word);
        show("text", plain(&client, model).await);
        show("stream", stream(&client, model).await);
        show("tools", tools(&client, model).await);
        show("typed", typed(&client, model).await);
        show("image", image(&client, model).await);
        show("error", told(client.exec_chat(NO_MODEL, said(HELLO), None).await));
    }

    async fn plain(client: &GenAi, model: &str) -> Word {
        let answer = client.exec_chat(model, said(HELLO), None).await?;
        check(
            answer.first_text().is_some_and(|text| text.contains(GREETING)) && answer.usage.completion_tokens.is_some(),
            answer,
        )
    }

    async fn stream(client: &GenAi, model: &str) -> Word {
        let mut events = client.exec_chat_stream(model, said(HELLO), None).await?.stream;
        let mut pieces = Vec::new();
        while let Some(event) = events.next().await {
            if let ChatStreamEvent::Chunk(chunk) = event? {
                pieces.push(chunk.content);
            }
        }
        check(pieces.len() > 1 && pieces.concat().contains(GREETING), pieces)
    }

    async fn tools(client: &GenAi, model: &str) -> Word {
        let tool = Tool::new("get_weather")
            .with_description("The weather")
            .with_schema(city());
        let request = said(WEATHER).with_tools(vec![tool]);
        let options = ChatOptions::default().with_capture_tool_calls(true);
        let mut events = client
            .exec_chat_stream(model, request.clone(), Some(&options))
            .await?
            .stream;
        let mut calls: Vec<ToolCall> = Vec::new();
        while let Some(event) = events.next().await {
            if let ChatStreamEvent::End(end) = event? {
                calls = end.captured_into_tool_calls().unwrap_or_default();
            }
        }
        let call = calls.first().cloned().ok_or("no call")?;
        let result = ToolResponse::new(call.call_id.clone(), "sunny");
        let request = request
            .append_message(ChatMessage::from(calls))
            .append_message(ChatMessage::from(result));
        let answer = client.exec_chat(model, request, None).await?;
        let is_right = call.fn_arguments["city"] == json!("Paris");
        check(
            is_right && answer.first_text().is_some_and(|text| text.contains(TOOL_SAID)),
            answer,
        )
    }

    async fn typed(client: &GenAi, model: &str) -> Word {
        let format = ChatResponseFormat::JsonSpec(JsonSpec::new("town", town()));
        let options = ChatOptions::default().with_response_format(format);
        let answer = client.exec_chat(model, said(HELLO), Some(&options)).await?;
        check(answer.first_text().is_some_and(is_town), answer)
    }

    async fn image(client: &GenAi, model: &str) -> Word {
        let image = ContentPart::from_binary_base64("image/png", given("PICTURE"), None);
        let answer = client
            .exec_chat(model, said(vec![ContentPart::from_text("Look"), image]), None)
            .await?;
        check(answer.first_text().is_some_and(|text| text.contains(SEES)), answer)
    }
}

#[tokio::main]
async fn main() {
    let model = given("MODEL");
    let config = OpenAIConfig::new()
        .with_api_base(format!("{}/v1", given("BASE_URL")))
        .with_api_key(given("API_KEY"));
    let client = OpenAi::with_config(config);
    chat::drive(&client, &model).await;
    responses::drive(&client, &model).await;
    by_genai::drive(AdapterKind::OpenAI, "chat-completions", &model).await;
    by_genai::drive(AdapterKind::OpenAIResp, "responses", &model).await;
    by_genai::drive(AdapterKind::Anthropic, "messages", &model).await;
}
