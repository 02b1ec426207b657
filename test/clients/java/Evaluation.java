import dev.braintrust.Braintrust;
import dev.braintrust.config.BraintrustConfig;
import dev.braintrust.eval.DatasetCase;
import dev.braintrust.eval.Scorer;
import dev.braintrust.trace.BraintrustTracing;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.util.List;
import java.util.Map;

/** An evaluation and a trace by the SDK for Java, over a dataset and a prompt that are stored here. */
class Evaluation {
  public static void main(String[] arguments) {
    var braintrust = Braintrust.get(BraintrustConfig.fromEnvironment());
    var telemetry = (OpenTelemetrySdk) braintrust.openTelemetryCreate();
    var tracer = BraintrustTracing.getTracer(telemetry);
    var result =
        braintrust
            .<String, String>evalBuilder()
            .name("java")
            .cases(
                DatasetCase.of("strawberry", "fruit", List.of("red"), Map.of("n", 1)),
                DatasetCase.of("carrot", "vegetable", List.of(), Map.of("n", 2)))
            .taskFunction(
                input -> {
                  var inner = tracer.spanBuilder("inner").startSpan();
                  inner.end();
                  return "fruit";
                })
            .scorers(Scorer.of("exact", (expected, output) -> expected.equals(output) ? 1.0 : 0.0))
            .build()
            .run();
    var stored = braintrust.<String, String>fetchDataset("foods");
    var ofDataset =
        braintrust
            .<String, String>evalBuilder()
            .name("of a dataset")
            .dataset(stored)
            .taskFunction(input -> input.toUpperCase())
            .scorers(Scorer.of("exact", (expected, output) -> expected.equals(output) ? 1.0 : 0.0))
            .build()
            .run();
    var prompt = braintrust.promptLoader().load("greeting");
    var messages = prompt.renderMessages(Map.of("who", "Ada"));
    var span = tracer.spanBuilder("request").startSpan();
    span.setAttribute("braintrust.input_json", "{\"question\":\"😀\"}");
    span.setAttribute("braintrust.output_json", "\"answer\"");
    span.setAttribute("braintrust.metadata", "{\"user\":\"ada\"}");
    span.end();
    telemetry.getSdkTracerProvider().shutdown().join(10, java.util.concurrent.TimeUnit.SECONDS);
    System.out.println(result.createReportString().replace("\n", " | "));
    System.out.println(ofDataset.createReportString().replace("\n", " | "));
    System.out.println(messages + " " + prompt.getOptions());
    System.out.printf("{\"url\": \"%s\"}%n", result.getExperimentUrl());
  }
}
