// Sends a trace as programs in Go do, by OpenTelemetry's exporters over HTTP or gRPC.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

func exporter(ctx context.Context) (trace.SpanExporter, error) {
	headers := map[string]string{
		"authorization": "Bearer " + os.Getenv("BRAINTRUST_API_KEY"),
		"x-bt-parent":   os.Getenv("PARENT"),
	}
	if endpoint := os.Getenv("GRPC_ENDPOINT"); endpoint != "" {
		return otlptracegrpc.New(ctx,
			otlptracegrpc.WithEndpointURL(endpoint),
			otlptracegrpc.WithHeaders(headers),
			otlptracegrpc.WithCompressor("gzip"))
	}
	return otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(os.Getenv("BRAINTRUST_API_URL")+"/otel/v1/traces"),
		otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
}

func run() error {
	ctx := context.Background()
	sender, err := exporter(ctx)
	if err != nil {
		return err
	}
	about := resource.NewSchemaless(attribute.String("service.name", "exporters"), attribute.Int("host.cpus", 8))
	provider := trace.NewTracerProvider(trace.WithBatcher(sender), trace.WithResource(about))
	tracer := provider.Tracer("exporters", api.WithInstrumentationVersion("1.0"))

	start := time.Unix(1_750_000_000, 123_456_789)
	requestContext, request := tracer.Start(ctx, "request",
		api.WithTimestamp(start),
		api.WithSpanKind(api.SpanKindServer),
		api.WithAttributes(
			attribute.String("text", "😀 \u2028"),
			attribute.Int64("integer", 1<<53+1),
			attribute.Float64("double", 0.1),
			attribute.Bool("yes", true),
			attribute.StringSlice("texts", []string{"a", "b"}),
			attribute.Int64Slice("integers", []int64{1, 1<<62 + 1}),
		))
	_, chat := tracer.Start(requestContext, "chat gpt-4.1",
		api.WithSpanKind(api.SpanKindClient),
		api.WithAttributes(
			attribute.String("gen_ai.operation.name", "chat"),
			attribute.String("gen_ai.provider.name", "openai"),
			attribute.String("gen_ai.request.model", "gpt-4.1"),
			attribute.Float64("gen_ai.request.temperature", 0.5),
			attribute.Int("gen_ai.usage.input_tokens", 120),
			attribute.Int("gen_ai.usage.cache_read.input_tokens", 100),
			attribute.Int("gen_ai.usage.output_tokens", 30),
			attribute.String("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"2 + 2?"}]}]`),
			attribute.String("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"4 🙂"}]}]`),
		))
	chat.AddEvent("first token", api.WithAttributes(attribute.Float64("after", 1.5)))
	chat.SetStatus(codes.Ok, "")
	chat.End()
	_, tool := tracer.Start(requestContext, "tool", api.WithLinks(api.Link{
		SpanContext: chat.SpanContext(),
		Attributes:  []attribute.KeyValue{attribute.String("why", "asked")},
	}))
	tool.RecordError(errors.New("no such tool"))
	tool.SetStatus(codes.Error, "no such tool")
	tool.End()
	request.End()
	if err := provider.Shutdown(ctx); err != nil {
		return err
	}
	context := request.SpanContext()
	return json.NewEncoder(os.Stdout).Encode(map[string]string{
		"trace": context.TraceID().String(),
		"span":  context.SpanID().String(),
	})
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
