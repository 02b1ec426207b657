import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Sends a trace as programs in Java do, by OpenTelemetry's exporters over HTTP or gRPC. */
class Exporters {
  private static SpanExporter exporter() {
    var headers =
        Map.of(
            "authorization", "Bearer " + System.getenv("BRAINTRUST_API_KEY"),
            "x-bt-parent", System.getenv("PARENT"));
    var grpc = System.getenv("GRPC_ENDPOINT");
    if (grpc != null) {
      return OtlpGrpcSpanExporter.builder()
          .setEndpoint(grpc)
          .setHeaders(() -> headers)
          .setCompression("gzip")
          .build();
    }
    return OtlpHttpSpanExporter.builder()
        .setEndpoint(System.getenv("BRAINTRUST_API_URL") + "/otel/v1/traces")
        .setHeaders(() -> headers)
        .setCompression("gzip")
        .build();
  }

  public static void main(String[] arguments) {
    var resource = Attributes.builder().put("service.name", "exporters").put("host.cpus", 8L);
    var provider =
        SdkTracerProvider.builder()
            .setResource(Resource.create(resource.build()))
            .addSpanProcessor(BatchSpanProcessor.builder(exporter()).build())
            .build();
    var tracer = provider.tracerBuilder("exporters").setInstrumentationVersion("1.0").build();
    var request =
        tracer
            .spanBuilder("request")
            .setStartTimestamp(1_750_000_000_123_456_789L, TimeUnit.NANOSECONDS)
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("text", "😀 \u2028")
            .setAttribute("integer", (1L << 53) + 1)
            .setAttribute("double", 0.1)
            .setAttribute("yes", true)
            .setAttribute(AttributeKey.stringArrayKey("texts"), List.of("a", "b"))
            .setAttribute(AttributeKey.longArrayKey("integers"), List.of(1L, (1L << 62) + 1))
            .startSpan();
    var parent = Context.root().with(request);
    var chat =
        tracer
            .spanBuilder("chat gpt-4.1")
            .setParent(parent)
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute("gen_ai.operation.name", "chat")
            .setAttribute("gen_ai.provider.name", "openai")
            .setAttribute("gen_ai.request.model", "gpt-4.1")
            .setAttribute("gen_ai.request.temperature", 0.5)
            .setAttribute("gen_ai.usage.input_tokens", 120)
            .setAttribute("gen_ai.usage.cache_read.input_tokens", 100)
            .setAttribute("gen_ai.usage.output_tokens", 30)
            .setAttribute("gen_ai.input.messages", message("user", "2 + 2?"))
            .setAttribute("gen_ai.output.messages", message("assistant", "4 🙂"))
            .startSpan();
    chat.addEvent("first token", Attributes.of(AttributeKey.doubleKey("after"), 1.5));
    chat.setStatus(StatusCode.OK);
    chat.end();
    var why = Attributes.of(AttributeKey.stringKey("why"), "asked");
    Span tool =
        tracer.spanBuilder("tool").setParent(parent).addLink(chat.getSpanContext(), why).startSpan();
    tool.recordException(new IllegalArgumentException("no such tool"));
    tool.setStatus(StatusCode.ERROR, "no such tool");
    tool.end();
    request.end();
    provider.shutdown().join(10, TimeUnit.SECONDS);
    var context = request.getSpanContext();
    System.out.printf(
        "{\"trace\": \"%s\", \"span\": \"%s\"}%n", context.getTraceId(), context.getSpanId());
  }

  private static String message(String role, String content) {
    return "[{\"role\":\"%s\",\"parts\":[{\"type\":\"text\",\"content\":\"%s\"}]}]"
        .formatted(role, content);
  }
}
