/** CodeMirror as it is set up for queries; loaded when an editor is first shown. */
import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { type Diagnostic, linter, lintKeymap } from '@codemirror/lint'
import { EditorState, Prec, Transaction } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import { queryCompletion } from './completion.ts'
import { queryColors, queryLanguage } from './language.ts'
import { type Checked, check, type Problem } from './service.ts'
import { offsetOf } from './text-place.ts'
import { editorTheme } from './theme.ts'

export interface EditorOptions {
  readonly label: string
  readonly text: string
  readonly placeholder: string
  readonly onChange: (text: string) => void
  /** What the service found when typing had paused; undefined while it cannot be asked. */
  readonly onChecked: (text: string, checked: Checked | undefined) => void
  readonly onRun: () => void
}

export interface Editor {
  readonly text: string
  /** Takes the place of all that is written; can be undone. */
  replace(text: string): void
  /** Puts the cursor where a problem is. */
  show(problem: Problem): void
  destroy(): void
}

const checkPauseMs = 350

/**
 * @param host gets a shadow root, in which styles may be made by scripts: the page's policy allows
 * no style elements
 */
export function createEditor(host: HTMLElement, options: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        Prec.highest(
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                options.onRun()
                return true
              },
            },
          ]),
        ),
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        queryLanguage,
        queryColors,
        queryCompletion,
        placeholder(options.placeholder),
        linter((editor) => problemsIn(editor, options), { delay: checkPauseMs }),
        // Tab leaves the editor, so that nobody is caught in it.
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...completionKeymap,
          ...lintKeymap,
        ]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': options.label, spellcheck: 'false' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) options.onChange(state.doc.toString())
        }),
        editorTheme,
      ],
    }),
  })
  return {
    get text() {
      return view.state.doc.toString()
    },
    replace: (text) => {
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        selection: { anchor: text.length },
        annotations: Transaction.userEvent.of('input.replace'),
      })
    },
    show: (problem) => {
      const { from, to } = rangeOf(view.state.doc.toString(), problem)
      view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}

async function problemsIn(view: EditorView, { onChecked }: EditorOptions): Promise<Diagnostic[]> {
  const text = view.state.doc.toString()
  if (text.trim() === '') {
    onChecked(text, undefined)
    return []
  }
  try {
    const checked = await check(text)
    onChecked(text, checked)
    return checked.diagnostics.map((problem) => ({
      ...rangeOf(text, problem),
      severity: problem.severity,
      message: problem.hint === undefined ? problem.message : `${problem.message}\n${problem.hint}`,
    }))
  } catch {
    // Without an answer nothing is known of the text; running it will tell.
    onChecked(text, undefined)
    return []
  }
}

/** Problems of no place are shown at the beginning. */
function rangeOf(text: string, problem: Problem): { from: number; to: number } {
  const { line, column, endLine, endColumn } = problem
  if (line === undefined || column === undefined) return { from: 0, to: 0 }
  const from = offsetOf(text, line, column)
  const isRange = endLine !== undefined && endColumn !== undefined
  return { from, to: isRange ? Math.max(from, offsetOf(text, endLine, endColumn)) : from }
}
