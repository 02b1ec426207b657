import type { Attributes } from './decode.ts'

/** What `exception.*` attributes tell: type and message, then the stack. Undefined without any. */
export function exceptionText(attributes: Attributes): string | undefined {
  const text = (name: string) => {
    const value = attributes.get(`exception.${name}`)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const heading = [text('type'), text('message')].filter((part) => part !== undefined).join(': ')
  const stack = text('stacktrace')
  if (stack === undefined) return heading || undefined
  return heading === '' || stack.startsWith(heading) ? stack : `${heading}\n${stack}`
}
