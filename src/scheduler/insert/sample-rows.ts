/** Rows by which threads get to know their work before the first insert, as `warmUp` of `IngestPool` wants. */

const rowCount = 250

/** Short texts, long ones, escapes, characters beyond ASCII, numbers, nesting, nulls and mixed types. */
function sampleRow(i: number): Record<string, unknown> {
  const model = `model-${i % 8}`
  const words = `Answer ${i} to a “question” about ${model}, in\nseveral lines. `
  return {
    id: `sample-${i}`,
    span_id: `span-${i}`,
    root_span_id: `trace-${i >> 3}`,
    span_parents: i % 8 === 0 ? null : [`span-${(i >> 3) * 8}`],
    created: new Date(Date.UTC(2026, 0, 1) + i * 1234).toISOString(),
    input: [{ role: 'user', content: words.repeat(1 + (i % 4)) }],
    output: i % 5 === 0 ? { choices: [{ text: words }] } : words.repeat(2 + (i % 3)),
    error: i % 20 === 0 ? 'timeout' : null,
    scores: { accuracy: (i % 100) / 99, relevance: i % 3 === 0 ? null : 0.5 },
    metadata: {
      model,
      user: `user-${(i * 7919) % 1000}`,
      temperature: (i % 10) / 10,
      nested: {
        region: `région-${i % 3}`,
        release: i % 2 === 0 ? `1.${i}` : i,
        flags: [i % 2 === 0],
      },
    },
    metrics: { start: 1.7e9 + i / 7, end: 1.7e9 + i / 3, tokens: i * 13, prompt_tokens: i * 9 },
    tags: i % 3 === 0 ? ['new', `tag-${i % 5}`] : [],
    span_attributes: { name: `step ${i % 12}`, type: i % 2 === 0 ? 'llm' : 'task' },
  }
}

/** A body of some 200 KB. */
export function sampleBody(): Buffer {
  const events = Array.from({ length: rowCount }, (_, i) => sampleRow(i))
  return Buffer.from(JSON.stringify({ events }))
}
