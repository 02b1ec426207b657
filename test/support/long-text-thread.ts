/** Applies functions to long texts in a thread with a small heap: answers with a length, or with the code of an error. */
import { parentPort } from 'node:worker_threads'
import { AssayError } from '../../src/error.ts'
import {
  levenshtein,
  replaceText,
  reverseText,
  splitPart,
  splitText,
  trimText,
} from '../../src/function/text.ts'
import { encodeUtf8 } from '../../src/json/utf8.ts'
import { parseJson } from '../../src/type/parse-json.ts'

const millions = 16
const words = 'x '.repeat(millions * 2 ** 20)
const functions: Readonly<Record<string, () => { readonly length: number } | number>> = {
  split: () => splitText(words, ' '),
  'split into characters': () => splitText(words, ''),
  split_part: () => splitPart(words, ' ', -2)!,
  'part beyond the last': () => splitPart(words, ' ', words.length) ?? 'none',
  trim: () => trimText(words, 'x ', 'both'),
  reverse: () => reverseText(words),
  replace: () => replaceText(words, ' ', ''),
  levenshtein: () => levenshtein(words, `${words}y`),
  parse_json: () => parseJson(`[${'[],'.repeat(millions * 2 ** 18)}[]]`) as readonly unknown[],
  'encode halves of pairs': () => encodeUtf8('\ud800'.repeat(2 ** 21)),
}

parentPort!.on('message', (name: string) => {
  try {
    const result = functions[name]!()
    parentPort!.postMessage(typeof result === 'number' ? result : result.length)
  } catch (thrown) {
    parentPort!.postMessage(thrown instanceof AssayError ? thrown.code : String(thrown))
  }
})
