// Asks a gateway by the clients of Go, and prints what each cell showed: client, cell, word.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	community "github.com/sashabaranov/go-openai"
)

var (
	base    = os.Getenv("BASE_URL")
	key     = os.Getenv("API_KEY")
	model   = os.Getenv("MODEL")
	picture = os.Getenv("PICTURE")
	ctx     = context.Background()
)

const (
	hello    = "Hello"
	weather  = `What is the weather in "Paris"?`
	noModel  = "no-such-model"
	greeting = "from a demo model"
	sees     = "I can see image/png"
	toolSaid = "The tool answered: sunny"
)

func schema(properties map[string]any, required ...string) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

var (
	citySchema = schema(map[string]any{"city": map[string]any{"type": "string"}}, "city")
	townSchema = schema(map[string]any{"town": map[string]any{"type": "string"}, "count": map[string]any{"type": "integer"}}, "town", "count")
)

func isTown(text string) bool {
	var town struct {
		Town  *string
		Count *int
	}
	return json.Unmarshal([]byte(text), &town) == nil && town.Town != nil && town.Count != nil
}

func city(input string) string {
	var asked struct{ City string }
	_ = json.Unmarshal([]byte(input), &asked)
	return asked.City
}

func check(holds bool, seen any) string {
	if holds {
		return "yes"
	}
	text := fmt.Sprintf("no: %+v", seen)
	return text[:min(len(text), 300)]
}

func version(path string) string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == path {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "?"
}

type cell struct {
	name string
	ask  func() (string, error)
}

func show(client, version string, cells ...cell) {
	for _, one := range cells {
		word, err := one.ask()
		if err != nil {
			word = check(false, err)
		}
		line, _ := json.Marshal(map[string]string{"client": client, "version": version, "cell": one.name, "word": word})
		fmt.Println(string(line))
	}
}

func openaiChat(client openai.Client) []cell {
	said := func(turns ...openai.ChatCompletionMessageParamUnion) openai.ChatCompletionNewParams {
		return openai.ChatCompletionNewParams{Model: model, Messages: turns}
	}
	tools := []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "get_weather", Description: openai.String("The weather"), Parameters: citySchema,
	})}
	return []cell{
		{"text", func() (string, error) {
			answer, err := client.Chat.Completions.New(ctx, said(openai.UserMessage(hello)))
			if err != nil {
				return "", err
			}
			return check(strings.Contains(answer.Choices[0].Message.Content, greeting) && answer.Usage.TotalTokens > 0, answer), nil
		}},
		{"stream", func() (string, error) {
			stream := client.Chat.Completions.NewStreaming(ctx, said(openai.UserMessage(hello)))
			all, pieces := openai.ChatCompletionAccumulator{}, 0
			for stream.Next() {
				if !all.AddChunk(stream.Current()) {
					return check(false, "a chunk that does not fit"), nil
				}
				pieces++
			}
			if stream.Err() != nil {
				return "", stream.Err()
			}
			return check(pieces > 2 && strings.Contains(all.Choices[0].Message.Content, greeting), all), nil
		}},
		{"tools", func() (string, error) {
			asked := said(openai.UserMessage(weather))
			asked.Tools = tools
			stream, all := client.Chat.Completions.NewStreaming(ctx, asked), openai.ChatCompletionAccumulator{}
			for stream.Next() {
				all.AddChunk(stream.Current())
			}
			if stream.Err() != nil {
				return "", stream.Err()
			}
			message := all.Choices[0].Message
			if len(message.ToolCalls) != 1 {
				return check(false, message), nil
			}
			call := message.ToolCalls[0]
			asked.Messages = append(asked.Messages, message.ToParam(), openai.ToolMessage("sunny", call.ID))
			answer, err := client.Chat.Completions.New(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(city(call.Function.Arguments) == "Paris" && strings.Contains(answer.Choices[0].Message.Content, toolSaid), answer), nil
		}},
		{"typed", func() (string, error) {
			asked := said(openai.UserMessage(hello))
			asked.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "town", Strict: openai.Bool(true), Schema: townSchema},
			}
			answer, err := client.Chat.Completions.New(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(isTown(answer.Choices[0].Message.Content), answer), nil
		}},
		{"image", func() (string, error) {
			answer, err := client.Chat.Completions.New(ctx, said(openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart("Look"),
				openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + picture}),
			})))
			if err != nil {
				return "", err
			}
			return check(strings.Contains(answer.Choices[0].Message.Content, sees), answer), nil
		}},
		{"error", func() (string, error) {
			asked := said(openai.UserMessage(hello))
			asked.Model = noModel
			_, err := client.Chat.Completions.New(ctx, asked)
			return told(err), nil
		}},
	}
}

func told(err error) string {
	var failure *openai.Error
	return check(errors.As(err, &failure) && failure.StatusCode == 404 && strings.Contains(failure.Message, noModel) && failure.Code != "", err)
}

func openaiResponses(client openai.Client) []cell {
	said := func(text string) responses.ResponseNewParams {
		return responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}}
	}
	streamed := func(asked responses.ResponseNewParams) (whole responses.Response, pieces int, err error) {
		stream := client.Responses.NewStreaming(ctx, asked)
		for stream.Next() {
			switch event := stream.Current().AsAny().(type) {
			case responses.ResponseTextDeltaEvent:
				pieces++
			case responses.ResponseCompletedEvent:
				whole = event.Response
			}
		}
		return whole, pieces, stream.Err()
	}
	return []cell{
		{"text", func() (string, error) {
			answer, err := client.Responses.New(ctx, said(hello))
			if err != nil {
				return "", err
			}
			return check(strings.Contains(answer.OutputText(), greeting) && answer.Usage.TotalTokens > 0, answer), nil
		}},
		{"stream", func() (string, error) {
			answer, pieces, err := streamed(said(hello))
			return check(pieces > 1 && strings.Contains(answer.OutputText(), greeting), answer), err
		}},
		{"tools", func() (string, error) {
			asked := said(weather)
			asked.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("get_weather", citySchema, true)}
			first, _, err := streamed(asked)
			if err != nil {
				return "", err
			}
			var call responses.ResponseFunctionToolCall
			for _, item := range first.Output {
				if found, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
					call = found
				}
			}
			asked.PreviousResponseID = openai.String(first.ID)
			asked.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
				{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
					CallID: openai.String(call.CallID),
					Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String("sunny")},
				}},
			}}
			answer, err := client.Responses.New(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(city(call.Arguments) == "Paris" && strings.Contains(answer.OutputText(), toolSaid), answer), nil
		}},
		{"typed", func() (string, error) {
			asked := said(hello)
			asked.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema("town", townSchema)
			answer, err := client.Responses.New(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(isTown(answer.OutputText()), answer), nil
		}},
		{"image", func() (string, error) {
			look := responses.ResponseInputContentParamOfInputText("Look")
			image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
			image.OfInputImage.ImageURL = openai.String("data:image/png;base64," + picture)
			asked := responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
				responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{look, image}, responses.EasyInputMessageRoleUser),
			}}}
			answer, err := client.Responses.New(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(strings.Contains(answer.OutputText(), sees), answer), nil
		}},
		{"error", func() (string, error) {
			asked := said(hello)
			asked.Model = noModel
			_, err := client.Responses.New(ctx, asked)
			return told(err), nil
		}},
		{"count", func() (string, error) {
			count, err := client.Responses.InputTokens.Count(ctx, responses.InputTokenCountParams{
				Model: param.NewOpt(model), Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String(hello)},
			})
			if err != nil {
				return "", err
			}
			return check(count.InputTokens > 0, count), nil
		}},
	}
}

func anthropicMessages(client anthropic.Client) []cell {
	said := func(turns ...anthropic.MessageParam) anthropic.MessageNewParams {
		return anthropic.MessageNewParams{Model: model, MaxTokens: 500, Messages: turns}
	}
	user := func(blocks ...anthropic.ContentBlockParamUnion) anthropic.MessageParam {
		return anthropic.NewUserMessage(blocks...)
	}
	text := func(message *anthropic.Message) string {
		all := ""
		for _, block := range message.Content {
			all += block.Text
		}
		return all
	}
	greet := said(user(anthropic.NewTextBlock(hello)))
	streamed := func(asked anthropic.MessageNewParams) (whole anthropic.Message, pieces int, err error) {
		stream := client.Messages.NewStreaming(ctx, asked)
		for stream.Next() {
			event := stream.Current()
			if err := whole.Accumulate(event); err != nil {
				return whole, pieces, err
			}
			if event.Type == "content_block_delta" {
				pieces++
			}
		}
		return whole, pieces, stream.Err()
	}
	return []cell{
		{"text", func() (string, error) {
			answer, err := client.Messages.New(ctx, greet)
			if err != nil {
				return "", err
			}
			return check(strings.Contains(text(answer), greeting) && answer.Usage.OutputTokens > 0, answer), nil
		}},
		{"stream", func() (string, error) {
			answer, pieces, err := streamed(greet)
			return check(pieces > 1 && strings.Contains(text(&answer), greeting), answer), err
		}},
		{"tools", func() (string, error) {
			asked := said(user(anthropic.NewTextBlock(weather)))
			asked.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
				Name: "get_weather", Description: anthropic.String("The weather"),
				InputSchema: anthropic.ToolInputSchemaParam{Properties: citySchema["properties"], Required: []string{"city"}},
			}}}
			first, _, err := streamed(asked)
			if err != nil {
				return "", err
			}
			var call anthropic.ToolUseBlock
			for _, block := range first.Content {
				if found, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
					call = found
				}
			}
			asked.Messages = append(asked.Messages, first.ToParam(), user(anthropic.NewToolResultBlock(call.ID, "sunny", false)))
			answer, err := client.Messages.New(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(city(string(call.Input)) == "Paris" && strings.Contains(text(answer), toolSaid), answer), nil
		}},
		{"typed", func() (string, error) {
			asked := greet
			asked.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: townSchema}}
			answer, err := client.Messages.New(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(isTown(text(answer)), answer), nil
		}},
		{"image", func() (string, error) {
			answer, err := client.Messages.New(ctx, said(user(anthropic.NewTextBlock("Look"), anthropic.NewImageBlockBase64("image/png", picture))))
			if err != nil {
				return "", err
			}
			return check(strings.Contains(text(answer), sees), answer), nil
		}},
		{"error", func() (string, error) {
			asked := greet
			asked.Model = noModel
			_, err := client.Messages.New(ctx, asked)
			var failure *anthropic.Error
			return check(errors.As(err, &failure) && failure.StatusCode == 404 && strings.Contains(failure.Error(), noModel), err), nil
		}},
		{"count", func() (string, error) {
			count, err := client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{Model: model, Messages: greet.Messages})
			if err != nil {
				return "", err
			}
			return check(count.InputTokens > 0, count), nil
		}},
	}
}

func communityChat(client *community.Client) []cell {
	said := func(turns ...community.ChatCompletionMessage) community.ChatCompletionRequest {
		return community.ChatCompletionRequest{Model: model, Messages: turns}
	}
	user := func(text string) community.ChatCompletionMessage {
		return community.ChatCompletionMessage{Role: "user", Content: text}
	}
	// Calls come in pieces that the client leaves to its users.
	streamed := func(asked community.ChatCompletionRequest) (whole community.ChatCompletionMessage, pieces int, err error) {
		whole.Role = "assistant"
		stream, err := client.CreateChatCompletionStream(ctx, asked)
		if err != nil {
			return whole, 0, err
		}
		defer stream.Close()
		for {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return whole, pieces, nil
			}
			if err != nil {
				return whole, pieces, err
			}
			for _, choice := range chunk.Choices {
				if choice.Delta.Content != "" {
					pieces++
				}
				whole.Content += choice.Delta.Content
				for _, call := range choice.Delta.ToolCalls {
					for len(whole.ToolCalls) <= *call.Index {
						whole.ToolCalls = append(whole.ToolCalls, community.ToolCall{ID: call.ID, Type: "function"})
					}
					at := &whole.ToolCalls[*call.Index].Function
					at.Name += call.Function.Name
					at.Arguments += call.Function.Arguments
				}
			}
		}
	}
	return []cell{
		{"text", func() (string, error) {
			answer, err := client.CreateChatCompletion(ctx, said(user(hello)))
			if err != nil {
				return "", err
			}
			return check(strings.Contains(answer.Choices[0].Message.Content, greeting) && answer.Usage.TotalTokens > 0, answer), nil
		}},
		{"stream", func() (string, error) {
			answer, pieces, err := streamed(said(user(hello)))
			return check(pieces > 1 && strings.Contains(answer.Content, greeting), answer), err
		}},
		{"tools", func() (string, error) {
			asked := said(user(weather))
			asked.Tools = []community.Tool{{Type: "function", Function: &community.FunctionDefinition{Name: "get_weather", Parameters: citySchema}}}
			first, _, err := streamed(asked)
			if err != nil {
				return "", err
			}
			if len(first.ToolCalls) != 1 {
				return check(false, first), nil
			}
			call := first.ToolCalls[0]
			asked.Messages = append(asked.Messages, first, community.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: "sunny"})
			answer, err := client.CreateChatCompletion(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(city(call.Function.Arguments) == "Paris" && strings.Contains(answer.Choices[0].Message.Content, toolSaid), answer), nil
		}},
		{"typed", func() (string, error) {
			asked := said(user(hello))
			raw, _ := json.Marshal(townSchema)
			asked.ResponseFormat = &community.ChatCompletionResponseFormat{
				Type:       "json_schema",
				JSONSchema: &community.ChatCompletionResponseFormatJSONSchema{Name: "town", Strict: true, Schema: json.RawMessage(raw)},
			}
			answer, err := client.CreateChatCompletion(ctx, asked)
			if err != nil {
				return "", err
			}
			return check(isTown(answer.Choices[0].Message.Content), answer), nil
		}},
		{"image", func() (string, error) {
			answer, err := client.CreateChatCompletion(ctx, said(community.ChatCompletionMessage{Role: "user", MultiContent: []community.ChatMessagePart{
				{Type: "text", Text: "Look"},
				{Type: "image_url", ImageURL: &community.ChatMessageImageURL{URL: "data:image/png;base64," + picture}},
			}}))
			if err != nil {
				return "", err
			}
			return check(strings.Contains(answer.Choices[0].Message.Content, sees), answer), nil
		}},
		{"error", func() (string, error) {
			asked := said(user(hello))
			asked.Model = noModel
			_, err := client.CreateChatCompletion(ctx, asked)
			var failure *community.APIError
			return check(errors.As(err, &failure) && failure.HTTPStatusCode == 404 && strings.Contains(failure.Message, noModel), err), nil
		}},
	}
}

func main() {
	official := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
	number := version("github.com/openai/openai-go/v3")
	show("openai-go, chat-completions", number, openaiChat(official)...)
	show("openai-go, responses", number, openaiResponses(official)...)
	messages := anthropic.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(0))
	show("anthropic-sdk-go", version("github.com/anthropics/anthropic-sdk-go/v2"), anthropicMessages(messages)...)
	config := community.DefaultConfig(key)
	config.BaseURL = base + "/v1"
	show("go-openai", version("github.com/sashabaranov/go-openai"), communityChat(community.NewClientWithConfig(config))...)
}
