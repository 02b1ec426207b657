/** Keys of well-known providers, by how they begin. */

interface KeyForm {
  readonly starts: readonly string[]
  /** The whole key, from where a start was found. */
  readonly form: RegExp
}

const forms: readonly KeyForm[] = [
  // OpenAI, Anthropic, OpenRouter, Langfuse and others.
  { starts: ['sk-'], form: /^sk-(?=[\w-]*(?:\d|[A-Za-z0-9]{16}))[\w-]{16,}/ },
  { starts: ['AKIA', 'ASIA'], form: /^A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/ },
  { starts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], form: /^gh[pousr]_[A-Za-z0-9]{20,}/ },
  { starts: ['github_pat_'], form: /^github_pat_\w{20,}/ },
  { starts: ['glpat-'], form: /^glpat-[\w-]{16,}/ },
  {
    starts: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-'],
    form: /^xox[bparse]-[A-Za-z0-9-]{10,}/,
  },
  { starts: ['xapp-'], form: /^xapp-[A-Za-z0-9-]{10,}/ },
  { starts: ['AIza'], form: /^AIza[\w-]{30,}/ },
  {
    starts: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'],
    form: /^[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/,
  },
  { starts: ['whsec_'], form: /^whsec_[A-Za-z0-9+/=]{16,}/ },
  { starts: ['SG.'], form: /^SG\.[\w-]{16,}\.[\w-]{16,}/ },
  { starts: ['hf_'], form: /^hf_[A-Za-z0-9]{20,}/ },
  { starts: ['npm_'], form: /^npm_[A-Za-z0-9]{30,}/ },
  { starts: ['gsk_'], form: /^gsk_[A-Za-z0-9]{20,}/ },
  { starts: ['xai-'], form: /^xai-[A-Za-z0-9]{20,}/ },
  { starts: ['pplx-'], form: /^pplx-[A-Za-z0-9]{20,}/ },
  { starts: ['pypi-'], form: /^pypi-[\w-]{30,}/ },
]

/** A private key in PEM begins so, and ends with the same word. */
export const privateKeyStart = '-----BEGIN '
const privateKey = /^-----BEGIN [A-Z ]*PRIVATE KEY-----/
const privateKeyEnd = /-----END [A-Z ]*PRIVATE KEY-----/

export const keyStarts: readonly string[] = [
  ...forms.flatMap(({ starts }) => starts),
  privateKeyStart,
]

/** Length of the key at the beginning of the text, 0 if there is none. */
export function keyLength(text: string): number {
  if (text.startsWith(privateKeyStart)) {
    if (!privateKey.test(text)) return 0
    const end = privateKeyEnd.exec(text)
    return end ? end.index + end[0].length : text.length
  }
  for (const { starts, form } of forms) {
    if (starts.some((start) => text.startsWith(start))) return form.exec(text)?.[0].length ?? 0
  }
  return 0
}
