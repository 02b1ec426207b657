/** How the editor looks: by the page's tokens, which reach into its shadow root. */
import { EditorView } from '@codemirror/view'

export const editorTheme = EditorView.theme({
  '&': {
    height: '100%',
    fontSize: '13px',
    background: 'var(--ground)',
    color: 'var(--text)',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    background: 'var(--raised)',
    color: 'var(--quiet)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { background: 'var(--editor-line)' },
  '.cm-activeLineGutter': { background: 'var(--sunken)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selected) !important',
  },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '&.cm-focused .cm-matchingBracket': {
    background: 'var(--accent-wash)',
    outline: '1px solid var(--accent)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { color: 'var(--bad)', background: 'var(--bad-wash)' },
  '.cm-tooltip': {
    background: 'var(--ground)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    boxShadow: '0 6px 24px rgb(0 0 0 / 20%)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mono)',
    fontSize: '12.5px',
    maxHeight: '15em',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent-wash)',
    color: 'var(--text)',
  },
  '.cm-completionInfo': { padding: '6px 10px', maxWidth: '420px', font: '13px/1.4 var(--font)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.cm-diagnostic': { padding: '4px 10px', font: '13px/1.4 var(--font)', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-diagnostic-warning': { borderLeft: '3px solid var(--warn)' },
  '.cm-diagnostic-info': { borderLeft: '3px solid var(--accent)' },
  '.cm-lintRange': { backgroundImage: 'none', textDecoration: 'underline wavy' },
  '.cm-lintRange-error': { textDecorationColor: 'var(--bad)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--warn)' },
  '.cm-lintRange-info': { textDecorationColor: 'var(--quiet)' },
})
