/** One trace that programs in several languages send by the exporters of OpenTelemetry. */
import { expect } from 'vitest'
import type { AnyJson } from './running-service.ts'

/** The first of the spans that has the name. */
export function spanNamed(rows: readonly AnyJson[], name: string): AnyJson | undefined {
  return rows.find(({ span_attributes }) => String(span_attributes?.name) === name)
}

/**
 * Expects the trace that `exporters.py`, `main.go` and `Exporters.java` send.
 *
 * @param rows all spans that have arrived
 * @param sent what the program printed: ids of the trace and of its root
 */
export function expectExportedTrace(rows: readonly AnyJson[], sent: AnyJson): void {
  const named = (name: string) => spanNamed(rows, name)
  expect(named('request')).toMatchObject({
    root_span_id: sent.trace,
    span_id: sent.span,
    created: expect.stringMatching(/^2025-06-15T15:06:40\.123/),
    metadata: {
      text: '😀 \u2028',
      integer: 2 ** 53,
      double: 0.1,
      yes: true,
      texts: ['a', 'b'],
      integers: [1, 2 ** 62],
    },
    context: { span_kind: 'server', resource: { 'service.name': 'exporters', 'host.cpus': 8 } },
    error: null,
  })
  const call = named('chat gpt-4.1')
  expect(call).toMatchObject({
    span_parents: [sent.span],
    span_attributes: { type: 'llm' },
    input: [{ role: 'user', parts: [{ content: '2 + 2?' }] }],
    output: [{ role: 'assistant', parts: [{ content: '4 🙂' }] }],
    metadata: { model: 'gpt-4.1', provider: 'openai', temperature: 0.5 },
    metrics: { prompt_tokens: 120, prompt_cached_tokens: 100, completion_tokens: 30 },
    context: { events: [{ name: 'first token', attributes: { after: 1.5 } }] },
    error: null,
  })
  expect(named('tool')).toMatchObject({
    error: expect.stringContaining('no such tool'),
    context: { links: [{ span_id: call?.span_id, attributes: { why: 'asked' } }] },
  })
}
