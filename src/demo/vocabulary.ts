/** What generated records talk about: models and their prices, phrases in several scripts, names. */
import type { Random } from './random.ts'

export interface Model {
  readonly name: string
  /** US dollars per million tokens. */
  readonly promptPrice: number
  readonly completionPrice: number
  /** Tokens per second while answering. */
  readonly speed: number
  /** Out of 100 calls, how many go to this model. */
  readonly weight: number
}

export const models: readonly Model[] = [
  { name: 'gpt-4o', promptPrice: 2.5, completionPrice: 10, speed: 95, weight: 26 },
  { name: 'gpt-4o-mini', promptPrice: 0.15, completionPrice: 0.6, speed: 130, weight: 22 },
  { name: 'claude-sonnet-4', promptPrice: 3, completionPrice: 15, speed: 70, weight: 17 },
  { name: 'claude-haiku-3.5', promptPrice: 0.8, completionPrice: 4, speed: 110, weight: 11 },
  { name: 'gemini-2.5-flash', promptPrice: 0.3, completionPrice: 2.5, speed: 180, weight: 9 },
  { name: 'llama-3.3-70b', promptPrice: 0.6, completionPrice: 0.8, speed: 60, weight: 7 },
  { name: 'mistral-large', promptPrice: 2, completionPrice: 6, speed: 55, weight: 5 },
  { name: 'qwen-2.5-72b', promptPrice: 0.4, completionPrice: 1.2, speed: 65, weight: 3 },
]

const modelsByPercent = models.flatMap((model) => Array<Model>(model.weight).fill(model))

export function pickModel(random: Random): Model {
  return random.pick(modelsByPercent)
}

export const environments = ['production', 'production', 'production', 'staging', 'development']
export const tagNames = [
  'triage',
  'triaged',
  'billing',
  'urgent',
  'feedback',
  'regression',
  'golden',
  'needs review',
  'long-tail',
  'español',
]
export const scoreNames = ['Factuality', 'Relevance', 'Conciseness', 'Step Efficiency (Bundled)']
export const toolNames = ['search_documents', 'look_up_order', 'run_sql', 'fetch_page', 'calculate']
export const applications = ['support-assistant', 'docs-search', 'sales-copilot']

export const systemPrompts = [
  'You are a support assistant. Answer from the documents you are given and say when you cannot.',
  'You are a careful analyst. Think step by step, then answer in one short paragraph.',
  'Answer in the language of the question. Never invent an order number.',
]

export interface Language {
  readonly code: string
  readonly questions: readonly string[]
  readonly statements: readonly string[]
}

const english: Language = {
  code: 'en',
  questions: [
    'How do I get a refund for my last order?',
    'Why was my card charged twice this month?',
    'Can you summarize the attached report in three sentences?',
    'What changed between version 2 and version 3 of the API?',
    'My invoice shows the wrong address, how can I correct it?',
    'Which plan includes single sign-on?',
    'Is there a way to export all of my conversations?',
    'The upload fails with "file too large" - what is the limit?',
    'Please translate the following paragraph and keep the formatting.',
    "What's the difference between a trace and a span?",
  ],
  statements: [
    'Refunds are issued to the original payment method within 5 business days.',
    'I looked up the order and it left our warehouse on Tuesday.',
    'You can change the billing address under Settings → Billing.',
    'The limit is 25 MB per file; larger files have to be split.',
    'Single sign-on is part of the Enterprise plan.',
    'According to the documentation, keys expire after 90 days.',
    'First, check that the environment variable is set:\n\n```bash\necho $API_KEY\n```',
    'The second charge is an authorization hold and will disappear by itself.',
    'If that does not help, reply with the request id and I will take a closer look.',
    'Version 3 renames "inputs" to "input" and drops the old endpoint.',
    'The report covers three topics: growth, retention, and cost.',
    'A span is one step; a trace is all the steps of one request.',
  ],
}

const otherLanguages: readonly Language[] = [
  {
    code: 'de',
    questions: [
      'Wie kann ich meine Bestellung stornieren?',
      'Warum ist die Rechnung höher als üblich?',
    ],
    statements: [
      'Die Rückerstattung dauert in der Regel fünf Werktage.',
      'Bitte prüfen Sie zunächst die Größe der Datei.',
      'Ihr Konto wurde erfolgreich geändert.',
    ],
  },
  {
    code: 'es',
    questions: ['¿Cómo puedo cambiar mi contraseña?', '¿Cuándo llegará mi pedido?'],
    statements: [
      'El reembolso tarda unos cinco días hábiles.',
      'Puede descargar la factura desde su página de cuenta.',
      'No encontré ningún pedido con ese número.',
    ],
  },
  {
    code: 'ru',
    questions: ['Как вернуть деньги за заказ?', 'Почему не приходит письмо с кодом?'],
    statements: [
      'Возврат занимает до пяти рабочих дней.',
      'Проверьте, пожалуйста, папку «Спам».',
      'Ваш запрос передан в службу поддержки.',
    ],
  },
  {
    code: 'zh',
    questions: ['如何申请退款？', '为什么我的账户被锁定了？'],
    statements: [
      '退款将在五个工作日内到账。',
      '请先检查网络连接，然后重试。',
      '您可以在设置中修改地址。',
    ],
  },
  {
    code: 'ja',
    questions: ['注文をキャンセルするにはどうすればいいですか？', '請求書の宛名を変更できますか？'],
    statements: [
      '返金には通常五営業日かかります。',
      '設定画面からご確認ください。',
      '該当する注文は見つかりませんでした。',
    ],
  },
  {
    code: 'ar',
    questions: ['كيف يمكنني استرداد أموالي؟', 'متى سيصل طلبي؟'],
    statements: ['يستغرق رد المبلغ خمسة أيام عمل.', 'يمكنك تغيير العنوان من صفحة الإعدادات.'],
  },
  {
    code: 'hi',
    questions: ['मुझे अपना पैसा वापस कैसे मिलेगा?', 'मेरा ऑर्डर कब आएगा?'],
    statements: ['धनवापसी में पाँच कार्य दिवस लगते हैं।', 'कृपया फिर से प्रयास करें।'],
  },
  {
    code: 'emoji',
    questions: ['thx!! 🙏 but where is my package 📦?', 'still broken 😤😤 — any update?'],
    statements: ['Sorry about that! 🙇 It is on its way 🚚.', 'Fixed ✅ — please try again.'],
  },
]

export const languages: readonly Language[] = [english, ...otherLanguages]

/** The language of one conversation; four out of five are English. */
export function pickLanguage(random: Random): Language {
  return random.chance(0.8) ? english : random.pick(otherLanguages)
}

/** A question with an order number or a date in it, so that few are equal. */
export function question(random: Random, language: Language): string {
  const text = random.pick(language.questions)
  return random.chance(0.7) ? `${text} #${random.between(10_000, 999_999)}` : text
}

/** Phrases one after another until the text has about `length` UTF-16 units. */
export function passage(random: Random, language: Language, length: number): string {
  let text = random.pick(language.statements)
  while (text.length < length) {
    text += random.chance(0.15) ? '\n\n' : ' '
    text += random.pick(language.statements)
    if (random.chance(0.2)) text += ` (${random.between(1, 9_999)})`
  }
  return text
}

export const failures = [
  { type: 'RateLimitError', message: 'Rate limit reached for requests per minute' },
  { type: 'TimeoutError', message: 'Request timed out after 30000 ms' },
  { type: 'ContextLengthError', message: 'This model accepts at most 128000 tokens' },
  { type: 'ToolError', message: 'Tool returned status 502' },
]
