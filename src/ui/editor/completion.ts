/** Completion by the service, which knows the fields of the source and what the caller may read. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  pickedCompletion,
  startCompletion,
} from '@codemirror/autocomplete'
import type { Extension } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'
import { complete, type Offer } from './service.ts'

const types: Readonly<Record<Offer['kind'], string>> = {
  clause: 'keyword',
  field: 'property',
  value: 'constant',
  function: 'function',
  aggregate: 'function',
  source: 'namespace',
  object: 'constant',
  keyword: 'keyword',
}

async function offers(context: CompletionContext): Promise<CompletionResult | null> {
  const abandon = new AbortController()
  context.addEventListener('abort', () => abandon.abort())
  try {
    const text = context.state.doc.toString()
    const found = await complete(text, context.pos, abandon.signal)
    const isNothingWritten = found.from === context.pos
    if (isNothingWritten && !context.explicit && !isWanted(text, context.pos)) return null
    return {
      from: found.from,
      to: found.to,
      options: found.items.map(shown),
      // The service has chosen and ordered them for what is written.
      filter: false,
    }
  } catch {
    // Completion is a convenience: without an answer there is none.
    return null
  }
}

/** Where something must come next, it is offered without a letter of it. */
function isWanted(text: string, position: number): boolean {
  return /(?:[.('"]|from:\s?|[=<>]\s?)$/i.test(text.slice(0, position))
}

function shown({ text, kind, detail }: Offer): Completion {
  return {
    label: text.trimEnd(),
    type: types[kind],
    apply: take,
    ...(detail !== undefined && { info: detail }),
  }

  function take(view: EditorView, completion: Completion, from: number, to: number): void {
    view.dispatch({
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length },
      annotations: pickedCompletion.of(completion),
      userEvent: 'input.complete',
    })
    // A source is only begun: its name comes next.
    if (kind === 'source') startCompletion(view)
  }
}

export const queryCompletion: Extension = autocompletion({
  override: [offers],
  activateOnTyping: true,
  activateOnTypingDelay: 150,
  icons: false,
})
