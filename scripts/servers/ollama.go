// Ollama's three wires as Ollama itself reads and writes them, its runner being llama.cpp's server: FRONT ADDRESS BEHIND.
// Its module holds no source of the runner (folders named "vendor" are left out of modules), so that is not built.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/middleware"
)

type object = map[string]any

type call struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type said struct {
	Content   string `json:"content"`
	Thought   string `json:"reasoning_content"`
	ToolCalls []call `json:"tool_calls"`
}

type answer struct {
	Choices []struct {
		Delta   said   `json:"delta"`
		Message said   `json:"message"`
		Finish  string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	} `json:"usage"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Names of the runner's settings, and of the server's.
var settings = map[string]string{"num_predict": "max_tokens", "temperature": "temperature", "top_p": "top_p", "stop": "stop"}

func asked(request api.ChatRequest) object {
	messages := []object{}
	for _, one := range request.Messages {
		parts := []object{{"type": "text", "text": one.Content}}
		for _, image := range one.Images {
			url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(image)
			parts = append(parts, object{"type": "image_url", "image_url": object{"url": url}})
		}
		message := object{"role": one.Role, "content": parts}
		if one.ToolCallID != "" {
			message["tool_call_id"] = one.ToolCallID
		}
		calls := []object{}
		for _, made := range one.ToolCalls {
			function := object{"name": made.Function.Name, "arguments": made.Function.Arguments.String()}
			calls = append(calls, object{"id": made.ID, "type": "function", "function": function})
		}
		if len(calls) > 0 {
			message["tool_calls"] = calls
		}
		messages = append(messages, message)
	}
	body := object{"model": request.Model, "messages": messages, "stream": *request.Stream}
	if *request.Stream {
		body["stream_options"] = object{"include_usage": true}
	}
	if len(request.Tools) > 0 {
		body["tools"] = request.Tools
	}
	if len(request.Format) > 0 {
		schema := object{"name": "answer", "schema": request.Format}
		body["response_format"] = object{"type": "json_schema", "json_schema": schema}
	}
	for name, its := range settings {
		if value, told := request.Options[name]; told {
			body[its] = value
		}
	}
	return body
}

func toolCalls(calls []call) []api.ToolCall {
	made := []api.ToolCall{}
	for at, one := range calls {
		function := api.ToolCallFunction{Index: at, Name: one.Function.Name}
		if json.Unmarshal([]byte(one.Function.Arguments), &function.Arguments) == nil {
			made = append(made, api.ToolCall{ID: one.ID, Function: function})
		}
	}
	return made
}

func chat(behind string) gin.HandlerFunc {
	return func(c *gin.Context) {
		var request api.ChatRequest
		if err := c.ShouldBindJSON(&request); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		body, _ := json.Marshal(asked(request))
		response, err := http.Post(behind+"/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
			return
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			var refused answer
			_ = json.NewDecoder(response.Body).Decode(&refused)
			c.JSON(response.StatusCode, gin.H{"error": refused.Error.Message})
			return
		}
		write := func(told api.ChatResponse) {
			told.Model, told.CreatedAt, told.Message.Role = request.Model, time.Now(), "assistant"
			text, _ := json.Marshal(told)
			_, _ = c.Writer.Write(text)
			c.Writer.Flush()
		}
		if !*request.Stream {
			var whole answer
			_ = json.NewDecoder(response.Body).Decode(&whole)
			if len(whole.Choices) == 0 {
				c.JSON(http.StatusInternalServerError, gin.H{"error": "no answer"})
				return
			}
			one := whole.Choices[0]
			message := api.Message{Content: one.Message.Content, Thinking: one.Message.Thought, ToolCalls: toolCalls(one.Message.ToolCalls)}
			write(ended(message, one.Finish, whole))
			return
		}
		stream(response.Body, write)
	}
}

func ended(message api.Message, reason string, figures answer) api.ChatResponse {
	if reason == "tool_calls" {
		reason = "stop"
	}
	metrics := api.Metrics{PromptEvalCount: figures.Usage.Prompt, EvalCount: figures.Usage.Output}
	return api.ChatResponse{Message: message, Done: true, DoneReason: reason, Metrics: metrics}
}

// A call is told when it is whole.
func stream(body io.Reader, write func(api.ChatResponse)) {
	calls, reason := []call{}, ""
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		var chunk answer
		if !isData || json.Unmarshal([]byte(data), &chunk) != nil {
			continue
		}
		for _, one := range chunk.Choices {
			for _, piece := range one.Delta.ToolCalls {
				if piece.ID != "" {
					calls = append(calls, call{ID: piece.ID})
				}
				last := &calls[len(calls)-1]
				last.Function.Name += piece.Function.Name
				last.Function.Arguments += piece.Function.Arguments
			}
			if one.Delta.Content != "" || one.Delta.Thought != "" {
				write(api.ChatResponse{Message: api.Message{Content: one.Delta.Content, Thinking: one.Delta.Thought}})
			}
			if one.Finish != "" {
				reason = one.Finish
				if made := toolCalls(calls); len(made) > 0 {
					write(api.ChatResponse{Message: api.Message{ToolCalls: made}})
				}
			}
		}
		if chunk.Usage.Output > 0 {
			write(ended(api.Message{}, reason, chunk))
		}
	}
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	router, asks := gin.New(), chat(os.Args[2])
	router.GET("/v1/models", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"object": "list", "data": []any{}}) })
	router.POST("/v1/chat/completions", middleware.ChatMiddleware(), asks)
	router.POST("/v1/responses", middleware.ResponsesMiddleware(), asks)
	router.POST("/v1/messages", middleware.AnthropicMessagesMiddleware(), asks)
	_ = router.Run(os.Args[1])
}
