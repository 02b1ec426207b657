/** What a UTF-16 code unit can begin or continue; the classes are bits. */
export const characterClass = { nameStart: 1, digit: 2, blank: 4, lineBreak: 8 } as const

const { nameStart, digit, blank, lineBreak } = characterClass

const asciiClasses = new Uint8Array(128)
for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$') {
  asciiClasses[letter.charCodeAt(0)] = nameStart
}
for (const figure of '0123456789') asciiClasses[figure.charCodeAt(0)] = digit
for (const space of ' \t\v\f') asciiClasses[space.charCodeAt(0)] = blank
for (const end of '\n\r') asciiClasses[end.charCodeAt(0)] = lineBreak

const unicodeNameStart = /^\p{ID_Start}/u
const unicodeNamePart = /^\p{ID_Continue}/u
const unicodeBlank = /^[\s\uFEFF]/u
const wholeName = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u

/** The class of an ASCII code unit; 0 for what has no class and for everything past ASCII. */
export function asciiClassOf(code: number): number {
  return code < 128 ? asciiClasses[code]! : 0
}

/** The width in code units of the name character at `position`, or 0 if there is none. */
export function nameCharacterWidth(text: string, position: number, first: boolean): number {
  const code = text.charCodeAt(position)
  if (code < 128) {
    const found = asciiClasses[code]!
    return found === nameStart || (found === digit && !first) ? 1 : 0
  }
  // Past the end charCodeAt gives NaN, which is not below 128 either.
  if (position >= text.length) return 0
  const character = String.fromCodePoint(text.codePointAt(position)!)
  return (first ? unicodeNameStart : unicodeNamePart).test(character) ? character.length : 0
}

/** Whether the code unit is a space past ASCII, such as the no-break space of a copied text. */
export function isUnicodeBlank(text: string, position: number): boolean {
  return unicodeBlank.test(text.charAt(position))
}

/** Whether `text` lexes as one word. */
export function isName(text: string): boolean {
  return wholeName.test(text)
}
