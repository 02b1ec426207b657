/** Words that a query looks for in texts, so that the page can mark them. */

/** What stands before a text that is looked for, and the text, with its escapes. */
const searched = /\b(search|match|ilike|like)\b[\s(]*(?:[\w."]+\s*,\s*)?'((?:[^'\\]|\\.)*)'/gi

/** Phrases of `search` and `match` are words of their own; of patterns it is what is between wildcards. */
export function searchedWords(query: string): readonly string[] {
  const words = new Set<string>()
  for (const [, kind = '', written = ''] of query.matchAll(searched)) {
    const text = written.replace(/\\(.)/g, '$1')
    const isPattern = kind.toLowerCase().endsWith('like')
    const parts = isPattern ? text.split(/[%_]+/) : partsOf(text)
    for (const part of parts) if (part.trim() !== '') words.add(part.trim())
  }
  return [...words]
}

/** Quoted phrases stay together; stars of prefixes and signs around words are no part of them. */
function partsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]+)"|(\S+)/g)].map(([, phrase, word = '']) => {
    return phrase ?? word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
  })
}
