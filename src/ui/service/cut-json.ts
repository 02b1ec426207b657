/** Values that the service has cut, of which it gives the first characters of their JSON as a text. */

/** Names of an object, of which the JSON may be cut: those that are whole. */
export function namesIn(value: unknown): string[] {
  if (typeof value === 'string') return namesInCut(value)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.keys(value)
    : []
}

const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g

function namesInCut(json: string): string[] {
  if (!json.startsWith('{')) return []
  const names: string[] = []
  let depth = 0
  for (const [text, colon] of json.matchAll(token)) {
    if (text === '{' || text === '[') depth++
    else if (text === '}' || text === ']') depth--
    else if (depth === 1 && colon !== undefined) {
      names.push(JSON.parse(text.slice(0, -colon.length)) as string)
    }
  }
  return names
}
