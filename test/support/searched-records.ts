/** Records of a support assistant, for searches in words: what may be named is in them. */

const models = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4', 'claude-haiku-3.5', 'gemini-2.5-flash']
const users = ['alice', 'bob', 'carol', 'u-17', 'dave@example.com']
const environments = ['production', 'staging', 'development']
const questions = [
  'How do I get a refund for my order?',
  'My password reset link has expired',
  '返品の方法を教えてください',
  '¿Dónde está mi café?',
]
const tags = ['triage', 'billing', 'urgent', 'needs review']

/** Forty spans of ten traces, a day and a half apart, the last one an hour before `now`. */
export function searchedRecords(now: number): object[] {
  return Array.from({ length: 40 }, (_, i) => {
    const trace = Math.floor(i / 4)
    const type = ['task', 'llm', 'tool', 'score'][i % 4]!
    return {
      id: `r${i}`,
      span_id: `s${i}`,
      root_span_id: `s${trace * 4}`,
      ...(i % 4 > 0 && { span_parents: [`s${trace * 4}`] }),
      created: new Date(now - 3_600_000 - (9 - trace) * 36 * 3_600_000 + i * 1000).toISOString(),
      input: { messages: [{ role: 'user', content: questions[trace % 4] }] },
      output: i % 5 === 0 ? 'I am not sure about that.' : `Your order ${1000 + i} was shipped.`,
      ...(i % 2 === 0 && { expected: 'A short answer' }),
      ...(i % 9 === 0 && { error: i % 2 === 0 ? 'Timeout after 30 s' : 'Rate limit exceeded' }),
      span_attributes: { name: ['answer', 'chat', 'search_orders', 'Factuality'][i % 4], type },
      metadata: {
        model: models[trace % models.length],
        user_id: users[trace % users.length],
        environment: environments[trace % 3],
        release: `2026.${trace + 1}`,
        language: ['en', 'ja', 'es'][trace % 3],
        retries: trace % 4,
        temperature: 0.7,
        cached: i % 3 === 0,
        customer: { plan: ['free', 'team', 'enterprise'][trace % 3] },
      },
      scores: { Factuality: (i % 10) / 10, ...(i % 2 === 0 && { Helpfulness: (i % 7) / 7 }) },
      metrics: {
        start: 1,
        end: 1 + (i % 8),
        tokens: 500 * i,
        prompt_tokens: 400 * i,
        completion_tokens: 100 * i,
        time_to_first_token: 0.2,
      },
      ...(trace % 2 === 0 && { tags: [tags[trace % 4]!] }),
    }
  })
}
