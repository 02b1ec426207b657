/** Places in a text, as the service names them. */

/** @param line from 1; @param column from 1, in code points. Beyond the end of the line is its end. */
export function offsetOf(text: string, line: number, column: number): number {
  let offset = 0
  for (let passed = 1; passed < line; passed++) {
    const end = text.indexOf('\n', offset)
    if (end < 0) return text.length
    offset = end + 1
  }
  const end = text.indexOf('\n', offset)
  const lineEnd = end < 0 ? text.length : end
  for (let passed = 1; passed < column && offset < lineEnd; passed++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1
  }
  return offset
}
