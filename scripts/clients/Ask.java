// Asks a gateway by the clients of Java, and prints what each cell showed: client, cell, word.

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.Base64ImageSource;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.ImageBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.TextBlockParam;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.anthropic.models.messages.ToolUseBlock;
import com.fasterxml.jackson.annotation.JsonTypeName;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionContentPart;
import com.openai.models.chat.completions.ChatCompletionContentPartImage;
import com.openai.models.chat.completions.ChatCompletionContentPartText;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseInputContent;
import com.openai.models.responses.ResponseInputImage;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseInputText;
import com.openai.models.responses.inputtokens.InputTokenCountParams;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.anthropic.AnthropicTokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

public final class Ask {
  private static final String BASE = System.getenv("BASE_URL");
  private static final String KEY = System.getenv("API_KEY");
  private static final String MODEL = System.getenv("MODEL");
  private static final String PICTURE = System.getenv("PICTURE");
  private static final String HELLO = "Hello";
  private static final String WEATHER = "What is the weather in \"Paris\"?";
  private static final String NO_MODEL = "no-such-model";
  private static final String GREETING = "from a demo model";
  private static final String SEES = "I can see image/png";
  private static final String TOOL_SAID = "The tool answered: sunny";
  private static final String LANGCHAIN4J = "1.19.0";
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A town. */
  public static class Town {
    public String town;
    public int count;
  }

  @JsonTypeName("get_weather")
  @com.fasterxml.jackson.annotation.JsonClassDescription("The weather")
  public static class GetWeather {
    public String city;
  }

  private static String check(boolean holds, Object seen) {
    if (holds) return "yes";
    String text = "no: " + seen;
    return text.substring(0, Math.min(text.length(), 300));
  }

  private static void show(String client, String version, String cell, Callable<String> ask) throws Exception {
    String word;
    try {
      word = ask.call();
    } catch (Throwable thrown) {
      word = check(false, thrown);
    }
    System.out.println(JSON.writeValueAsString(Map.of("client", client, "version", version, "cell", cell, "word", word)));
  }

  /** The error for a model that is not there, by the client's own class, with the gateway's words. */
  private static String told(Callable<Object> call) {
    try {
      return check(false, call.call());
    } catch (Exception error) {
      String text = error.toString();
      boolean isOwn = error.getClass().getSimpleName().contains("NotFound");
      return check(isOwn && text.contains(NO_MODEL), text);
    }
  }

  private static boolean isTown(String text) throws Exception {
    var found = JSON.readTree(text);
    return found.get("town").isTextual() && found.get("count").isInt();
  }

  private static ChatCompletionCreateParams.Builder chat() {
    return ChatCompletionCreateParams.builder().model(MODEL);
  }

  private static String text(ChatCompletion answer) {
    return answer.validate().choices().get(0).message().content().orElse("");
  }

  private static void openaiChat(OpenAIClient client) throws Exception {
    String name = "openai-java, chat-completions";
    String version = "4.101.0";
    var completions = client.chat().completions();
    show(name, version, "text", () -> {
      var answer = completions.create(chat().addUserMessage(HELLO).build());
      return check(text(answer).contains(GREETING) && answer.usage().isPresent(), answer);
    });
    show(name, version, "stream", () -> {
      var all = ChatCompletionAccumulator.create();
      var pieces = new int[1];
      try (var stream = completions.createStreaming(chat().addUserMessage(HELLO).build())) {
        stream.stream().peek(all::accumulate).forEach((chunk) -> {
          chunk.validate();
          pieces[0]++;
        });
      }
      return check(pieces[0] > 2 && text(all.chatCompletion()).contains(GREETING), all.chatCompletion());
    });
    show(name, version, "tools", () -> {
      var asked = chat().addUserMessage(WEATHER).addTool(GetWeather.class);
      var all = ChatCompletionAccumulator.create();
      try (var stream = completions.createStreaming(asked.build())) {
        stream.stream().forEach(all::accumulate);
      }
      var message = all.chatCompletion().validate().choices().get(0).message();
      ChatCompletionMessageFunctionToolCall call = message.toolCalls().orElseThrow().get(0).asFunction();
      var result = ChatCompletionToolMessageParam.builder().toolCallId(call.id()).content("sunny").build();
      var answer = completions.create(asked.addMessage(message).addMessage(result).build());
      var city = JSON.readTree(call.function().arguments()).get("city").asText();
      return check(city.equals("Paris") && text(answer).contains(TOOL_SAID), answer);
    });
    show(name, version, "typed", () -> {
      var answer = completions.create(chat().addUserMessage(HELLO).responseFormat(Town.class).build());
      return check(answer.choices().get(0).message().content().orElseThrow().town != null, answer);
    });
    show(name, version, "image", () -> {
      var url = ChatCompletionContentPartImage.ImageUrl.builder().url("data:image/png;base64," + PICTURE).build();
      var answer = completions.create(chat().addUserMessageOfArrayOfContentParts(List.of(
          ChatCompletionContentPart.ofText(ChatCompletionContentPartText.builder().text("Look").build()),
          ChatCompletionContentPart.ofImageUrl(ChatCompletionContentPartImage.builder().imageUrl(url).build()))).build());
      return check(text(answer).contains(SEES), answer);
    });
    show(name, version, "error", () -> told(() -> completions.create(chat().model(NO_MODEL).addUserMessage(HELLO).build())));
  }

  private static ResponseCreateParams.Builder responses() {
    return ResponseCreateParams.builder().model(MODEL);
  }

  private static String text(Response answer) {
    var all = new StringBuilder();
    answer.validate().output().forEach((item) -> item.message().ifPresent((message) ->
        message.content().forEach((part) -> part.outputText().ifPresent((text) -> all.append(text.text())))));
    return all.toString();
  }

  private static void openaiResponses(OpenAIClient client) throws Exception {
    String name = "openai-java, responses";
    String version = "4.101.0";
    var api = client.responses();
    show(name, version, "text", () -> {
      var answer = api.create(responses().input(HELLO).build());
      return check(text(answer).contains(GREETING) && answer.usage().isPresent(), answer);
    });
    show(name, version, "stream", () -> {
      var all = ResponseAccumulator.create();
      var pieces = new int[1];
      try (var stream = api.createStreaming(responses().input(HELLO).build())) {
        stream.stream().peek(all::accumulate).forEach((event) -> {
          event.validate();
          if (event.isOutputTextDelta()) pieces[0]++;
        });
      }
      return check(pieces[0] > 1 && text(all.response()).contains(GREETING), all.response());
    });
    show(name, version, "tools", () -> {
      var all = ResponseAccumulator.create();
      try (var stream = api.createStreaming(responses().input(WEATHER).addTool(GetWeather.class).build())) {
        stream.stream().forEach(all::accumulate);
      }
      var first = all.response().validate();
      ResponseFunctionToolCall call = first.output().stream().flatMap((item) -> item.functionCall().stream()).findFirst().orElseThrow();
      var result = ResponseInputItem.FunctionCallOutput.builder().callId(call.callId()).output("sunny").build();
      var answer = api.create(responses().previousResponseId(first.id()).addTool(GetWeather.class)
          .inputOfResponse(List.of(ResponseInputItem.ofFunctionCallOutput(result))).build());
      var city = JSON.readTree(call.arguments()).get("city").asText();
      return check(city.equals("Paris") && text(answer).contains(TOOL_SAID), answer);
    });
    show(name, version, "typed", () -> {
      var answer = api.create(responses().input(HELLO).text(Town.class).build());
      var town = answer.output().stream().flatMap((item) -> item.message().stream()).flatMap((message) -> message.content().stream())
          .flatMap((part) -> part.outputText().stream()).findFirst().orElseThrow();
      return check(town.town != null, answer);
    });
    show(name, version, "image", () -> {
      var content = List.of(
          ResponseInputContent.ofInputText(ResponseInputText.builder().text("Look").build()),
          ResponseInputContent.ofInputImage(ResponseInputImage.builder().detail(ResponseInputImage.Detail.AUTO)
              .imageUrl("data:image/png;base64," + PICTURE).build()));
      var message = ResponseInputItem.Message.builder().role(ResponseInputItem.Message.Role.USER).content(content).build();
      var answer = api.create(responses().inputOfResponse(List.of(ResponseInputItem.ofMessage(message))).build());
      return check(text(answer).contains(SEES), answer);
    });
    show(name, version, "error", () -> told(() -> api.create(responses().model(NO_MODEL).input(HELLO).build())));
    show(name, version, "count", () -> {
      var count = api.inputTokens().count(InputTokenCountParams.builder().model(MODEL).input(HELLO).build());
      return check(count.validate().inputTokens() > 0, count);
    });
  }

  private static MessageCreateParams.Builder messages() {
    return MessageCreateParams.builder().model(MODEL).maxTokens(500);
  }

  private static String text(Message answer) {
    var all = new StringBuilder();
    answer.validate().content().forEach((block) -> block.text().ifPresent((text) -> all.append(text.text())));
    return all.toString();
  }

  private static void anthropic(AnthropicClient client) throws Exception {
    String name = "anthropic-java";
    String version = "3.14.0";
    var api = client.messages();
    show(name, version, "text", () -> {
      var answer = api.create(messages().addUserMessage(HELLO).build());
      return check(text(answer).contains(GREETING) && answer.usage().outputTokens() > 0, answer);
    });
    show(name, version, "stream", () -> {
      var all = MessageAccumulator.create();
      var pieces = new int[1];
      try (var stream = api.createStreaming(messages().addUserMessage(HELLO).build())) {
        stream.stream().peek(all::accumulate).forEach((event) -> {
          event.validate();
          if (event.isContentBlockDelta()) pieces[0]++;
        });
      }
      return check(pieces[0] > 1 && text(all.message()).contains(GREETING), all.message());
    });
    show(name, version, "tools", () -> {
      var city = Tool.InputSchema.Properties.builder().putAdditionalProperty("city", JsonValue.from(Map.of("type", "string"))).build();
      var schema = Tool.InputSchema.builder().properties(city).addRequired("city").build();
      var asked = messages().addUserMessage(WEATHER)
          .addTool(Tool.builder().name("get_weather").description("The weather").inputSchema(schema).build());
      var all = MessageAccumulator.create();
      try (var stream = api.createStreaming(asked.build())) {
        stream.stream().forEach(all::accumulate);
      }
      ToolUseBlock call = all.message().validate().content().stream().flatMap((block) -> block.toolUse().stream()).findFirst().orElseThrow();
      var result = ToolResultBlockParam.builder().toolUseId(call.id()).content("sunny").build();
      var answer = api.create(asked.addMessage(all.message())
          .addUserMessageOfContentBlockParams(List.of(ContentBlockParam.ofToolResult(result))).build());
      var input = call._input().convert(Map.class);
      return check(input != null && "Paris".equals(input.get("city")) && text(answer).contains(TOOL_SAID), answer);
    });
    show(name, version, "typed", () -> {
      var answer = api.create(messages().addUserMessage(HELLO).outputConfig(Town.class).build());
      var town = answer.content().stream().flatMap((block) -> block.text().stream()).findFirst().orElseThrow().text();
      return check(town.town != null, answer);
    });
    show(name, version, "image", () -> {
      var source = Base64ImageSource.builder().mediaType(Base64ImageSource.MediaType.IMAGE_PNG).data(PICTURE).build();
      var answer = api.create(messages().addUserMessageOfContentBlockParams(List.of(
          ContentBlockParam.ofText(TextBlockParam.builder().text("Look").build()),
          ContentBlockParam.ofImage(ImageBlockParam.builder().source(source).build()))).build());
      return check(text(answer).contains(SEES), answer);
    });
    show(name, version, "error", () -> told(() -> api.create(messages().model(NO_MODEL).addUserMessage(HELLO).build())));
    show(name, version, "count", () -> {
      var count = api.countTokens(MessageCountTokensParams.builder().model(MODEL).addUserMessage(HELLO).build());
      return check(count.validate().inputTokens() > 0, count);
    });
  }

  private static ChatResponse streamed(StreamingChatModel model, ChatRequest request, List<String> pieces) throws Exception {
    var end = new CompletableFuture<ChatResponse>();
    model.chat(request, new StreamingChatResponseHandler() {
      @Override
      public void onPartialResponse(String piece) {
        pieces.add(piece);
      }

      @Override
      public void onCompleteResponse(ChatResponse response) {
        end.complete(response);
      }

      @Override
      public void onError(Throwable error) {
        end.completeExceptionally(error);
      }
    });
    return end.get(30, TimeUnit.SECONDS);
  }

  private static void langchain4j(String wire, Function<String, ChatModel> made, StreamingChatModel streaming) throws Exception {
    String name = "langchain4j, " + wire;
    String version = LANGCHAIN4J;
    var model = made.apply(MODEL);
    var greet = ChatRequest.builder().messages(UserMessage.from(HELLO)).build();
    show(name, version, "text", () -> {
      var answer = model.chat(greet);
      return check(answer.aiMessage().text().contains(GREETING) && answer.tokenUsage().totalTokenCount() > 0, answer);
    });
    show(name, version, "stream", () -> {
      var pieces = new ArrayList<String>();
      var answer = streamed(streaming, greet, pieces);
      return check(pieces.size() > 1 && answer.aiMessage().text().contains(GREETING), answer);
    });
    show(name, version, "tools", () -> {
      var tool = ToolSpecification.builder().name("get_weather").description("The weather")
          .parameters(JsonObjectSchema.builder().addStringProperty("city").required("city").build()).build();
      List<ChatMessage> turns = new ArrayList<>(List.of(UserMessage.from(WEATHER)));
      AiMessage first = streamed(streaming, ChatRequest.builder().messages(turns).toolSpecifications(tool).build(), new ArrayList<>()).aiMessage();
      ToolExecutionRequest call = first.toolExecutionRequests().get(0);
      turns.add(first);
      turns.add(ToolExecutionResultMessage.from(call, "sunny"));
      var answer = model.chat(ChatRequest.builder().messages(turns).toolSpecifications(tool).build());
      var city = JSON.readTree(call.arguments()).get("city").asText();
      return check(city.equals("Paris") && answer.aiMessage().text().contains(TOOL_SAID), answer);
    });
    show(name, version, "typed", () -> {
      var town = JsonObjectSchema.builder().addStringProperty("town").addIntegerProperty("count").required("town", "count").build();
      var format = ResponseFormat.builder().type(ResponseFormatType.JSON)
          .jsonSchema(JsonSchema.builder().name("town").rootElement(town).build()).build();
      var answer = model.chat(ChatRequest.builder().messages(UserMessage.from(HELLO)).responseFormat(format).build());
      return check(isTown(answer.aiMessage().text()), answer);
    });
    show(name, version, "image", () -> {
      var answer = model.chat(ChatRequest.builder()
          .messages(UserMessage.from(TextContent.from("Look"), ImageContent.from(PICTURE, "image/png"))).build());
      return check(answer.aiMessage().text().contains(SEES), answer);
    });
    show(name, version, "error", () -> told(() -> made.apply(NO_MODEL).chat(greet)));
  }

  public static void main(String[] words) throws Exception {
    var openai = OpenAIOkHttpClient.builder().baseUrl(BASE + "/v1").apiKey(KEY).maxRetries(0).build();
    openaiChat(openai);
    openaiResponses(openai);
    openai.close();
    var anthropic = AnthropicOkHttpClient.builder().baseUrl(BASE).apiKey(KEY).maxRetries(0).build();
    anthropic(anthropic);
    anthropic.close();
    langchain4j("chat-completions",
        (model) -> OpenAiChatModel.builder().baseUrl(BASE + "/v1").apiKey(KEY).modelName(model).maxRetries(0).strictJsonSchema(true).build(),
        OpenAiStreamingChatModel.builder().baseUrl(BASE + "/v1").apiKey(KEY).modelName(MODEL).build());
    langchain4j("messages",
        (model) -> AnthropicChatModel.builder().baseUrl(BASE + "/v1").apiKey(KEY).modelName(model).maxTokens(500).maxRetries(0).build(),
        AnthropicStreamingChatModel.builder().baseUrl(BASE + "/v1").apiKey(KEY).modelName(MODEL).maxTokens(500).build());
    var counter = AnthropicTokenCountEstimator.builder().baseUrl(BASE + "/v1").apiKey(KEY).modelName(MODEL).build();
    show("langchain4j, messages", LANGCHAIN4J, "count", () -> {
      int count = counter.estimateTokenCountInMessages(List.of(UserMessage.from(HELLO)));
      return check(count > 0, count);
    });
    System.exit(0);
  }
}
