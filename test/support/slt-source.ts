import type { Span } from '../../src/error.ts'

const callPattern =
  /\b(?:experiment|dataset|playground_logs|prompt_session|project|project_\w+)\s*\(([^)]*)\)/gi
/** The same in a query that is JSON. */
const argumentsPattern = /"args":\[([^\]]*)\]/g
const quotedPattern = /(['"])((?:(?!\1).)*)\1/g

interface Replacement {
  readonly start: number
  readonly end: number
  readonly id: string
}

/** Golden files call objects by name; this puts their ids into queries and takes them out again. */
export class SourceNames {
  readonly #ids = new Map<string, string>()

  add(name: string, id: string): void {
    this.#ids.set(name, id)
  }

  idOf(name: string): string | undefined {
    return this.#ids.get(name)
  }

  substitute(text: string): string {
    let result = ''
    let position = 0
    for (const { start, end, id } of this.#replacements(text)) {
      result += text.slice(position, start) + id
      position = end
    }
    return result + text.slice(position)
  }

  /** Where a span of the substituted text is in the text as it was written. */
  spanInText(text: string, span: Span): Span {
    return { start: this.#offset(text, span.start), end: this.#offset(text, span.end) }
  }

  /** Replaces ids by names. A project's logs have its id, so the first name given counts. */
  hide(text: string): string {
    let result = text
    for (const [name, id] of this.#ids) result = result.replaceAll(id, name)
    return result
  }

  #offset(text: string, offset: number): number {
    let shift = 0
    for (const { start, end, id } of this.#replacements(text)) {
      const replaced = start + shift
      if (offset <= replaced) break
      if (offset < replaced + id.length) return start
      shift += id.length - (end - start)
    }
    return offset - shift
  }

  #replacements(text: string): Replacement[] {
    const replacements: Replacement[] = []
    for (const call of [...text.matchAll(callPattern), ...text.matchAll(argumentsPattern)]) {
      const offset = call.index + call[0].search(/[([]/) + 1
      for (const quoted of call[1]!.matchAll(quotedPattern)) {
        const id = this.#ids.get(quoted[2]!)
        const start = offset + quoted.index + 1
        if (id !== undefined) replacements.push({ start, end: start + quoted[2]!.length, id })
      }
    }
    return replacements.sort((a, b) => a.start - b.start)
  }
}
