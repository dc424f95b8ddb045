#!/usr/bin/env bash
# org.springframework.ai:spring-ai-anthropic 2.0.1 (Maven, Java) with spring-ai-client-chat 2.0.1 and anthropic-java, asked
# with thinking on, whole answers of the messages wire.
# Guess: `content()` of the ChatClient is the answer's text, and its thoughts stand beside it.
# Seen: each thinking block is a generation of its own before the text's, and `content()` and `getResult()` read the first:
# they are the thoughts. The text is the last of `getResults()`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId>
  <artifactId>finding</artifactId>
  <version>0</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencyManagement>
    <dependencies>
      <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-dependencies</artifactId><version>4.0.7</version><type>pom</type><scope>import</scope></dependency>
      <dependency><groupId>org.springframework.ai</groupId><artifactId>spring-ai-bom</artifactId><version>2.0.1</version><type>pom</type><scope>import</scope></dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    <dependency><groupId>org.springframework.ai</groupId><artifactId>spring-ai-anthropic</artifactId></dependency>
    <dependency><groupId>org.springframework.ai</groupId><artifactId>spring-ai-client-chat</artifactId></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.17</version></dependency>
  </dependencies>
</project>
XML
mkdir -p src/main/java
cat >src/main/java/Run.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.List;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.client.ChatClient;

public final class Run {
  static final String ANSWER = """
      {"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","stop_sequence":null,
       "content":[{"type":"thinking","thinking":"Let me see.","signature":"c2lnbmVk"},{"type":"text","text":"Forty-two","citations":null}],
       "usage":{"input_tokens":10,"output_tokens":5}}""";

  public static void main(String[] arguments) throws Exception {
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", (exchange) -> {
      exchange.getRequestBody().readAllBytes();
      var bytes = ANSWER.getBytes();
      exchange.getResponseHeaders().add("content-type", "application/json");
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    });
    server.start();
    var options = (AnthropicChatOptions) AnthropicChatOptions.builder().thinkingEnabled(1024).apiKey("key").model("m")
        .baseUrl("http://127.0.0.1:" + server.getAddress().getPort()).maxTokens(2000).build();
    var client = ChatClient.create(AnthropicChatModel.builder().options(options).build());
    var content = client.prompt().user("What is it?").call().content();
    var all = client.prompt().user("What is it?").call().chatResponse().getResults().stream().map((one) -> one.getOutput().getText()).toList();
    System.out.println("content(): " + content + "; getResults(): " + all);
    System.exit("Let me see.".equals(content) && all.equals(List.of("Let me see.", "Forty-two")) ? 0 : 1);
  }
}
JAVA
mvn -q compile dependency:build-classpath -Dmdep.outputFile=classpath >/dev/null
java -cp "target/classes:$(cat classpath)" Run
