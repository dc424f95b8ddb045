// Asks a gateway by Spring AI, which brings versions of the vendors' libraries of its own: client, cell, word, as Ask.java.

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeTypeUtils;
import tools.jackson.databind.json.JsonMapper;

public final class Spring {
  private static final String BASE = System.getenv("BASE_URL");
  private static final String KEY = System.getenv("API_KEY");
  private static final String MODEL = System.getenv("MODEL");
  private static final byte[] PICTURE = Base64.getDecoder().decode(System.getenv("PICTURE"));
  private static final String HELLO = "Hello";
  private static final String NO_MODEL = "no-such-model";
  private static final String GREETING = "from a demo model";
  private static final JsonMapper JSON = new JsonMapper();

  public record Town(String town, Integer count) {}

  public static final class Weather {
    final List<String> asked = new ArrayList<>();

    @Tool(name = "get_weather", description = "The weather")
    public String weather(String city) {
      asked.add(city);
      return "sunny";
    }
  }

  private static String check(boolean holds, Object seen) {
    if (holds) return "yes";
    String text = "no: " + seen;
    return text.substring(0, Math.min(text.length(), 300));
  }

  private record Line(String client, String version, String cell, String word) {}

  private static void show(String client, String cell, Callable<String> ask) {
    String word;
    try {
      word = ask.call();
    } catch (Throwable thrown) {
      word = check(false, thrown);
    }
    System.out.println(JSON.writeValueAsString(new Line(client, "2.0.1", cell, word)));
  }

  /** The error for a model that is not there, in the gateway's words, by the vendor's own class. */
  private static String told(Callable<Object> call) {
    try {
      return check(false, call.call());
    } catch (Exception error) {
      boolean isOwn = error.getClass().getSimpleName().contains("NotFound");
      return check(isOwn && error.toString().contains(NO_MODEL), error);
    }
  }

  private static void drive(String name, Function<String, ChatModel> made) {
    var client = ChatClient.create(made.apply(MODEL));
    show(name, "text", () -> {
      var answer = client.prompt().user(HELLO).call().chatResponse();
      return check(answer.getResult().getOutput().getText().contains(GREETING) && answer.getMetadata().getUsage().getTotalTokens() > 0, answer);
    });
    show(name, "stream", () -> {
      var pieces = client.prompt().user(HELLO).stream().content().collectList().block();
      return check(pieces.size() > 1 && String.join("", pieces).contains(GREETING), pieces);
    });
    show(name, "tools", () -> {
      var weather = new Weather();
      var answer = String.join("", client.prompt().user("What is the weather in \"Paris\"?").tools(weather).stream().content().collectList().block());
      return check(weather.asked.equals(List.of("Paris")) && answer.contains("The tool answered: ") && answer.contains("sunny"), answer);
    });
    show(name, "typed", () -> {
      var town = client.prompt().advisors(AdvisorParams.ENABLE_NATIVE_STRUCTURED_OUTPUT).user(HELLO).call().entity(Town.class);
      return check(town.town() != null && town.count() != null, town);
    });
    show(name, "image", () -> {
      var answer = client.prompt().user((user) -> user.text("Look").media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(PICTURE))).call().content();
      return check(answer.contains("I can see image/png"), answer);
    });
    show(name, "error", () -> told(() -> ChatClient.create(made.apply(NO_MODEL)).prompt().user(HELLO).call().content()));
  }

  public static void main(String[] words) {
    drive("spring-ai, chat-completions", (model) -> OpenAiChatModel.builder()
        .options(OpenAiChatOptions.builder().baseUrl(BASE + "/v1").apiKey(KEY).model(model).maxRetries(0).build()).build());
    drive("spring-ai, messages", (model) -> AnthropicChatModel.builder()
        .options(AnthropicChatOptions.builder().baseUrl(BASE).apiKey(KEY).model(model).maxTokens(500).maxRetries(0).build()).build());
    System.exit(0);
  }
}
