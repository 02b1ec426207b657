import { Dialog } from '../component/dialog.tsx'
import { base } from '../state/location.ts'

const keys: readonly (readonly [title: string, keys: readonly (readonly string[])[]])[] = [
  ['Go to a page, a project or a setting', [['Ctrl', 'K']]],
  [
    'Home, logs, experiments, datasets, review, query',
    [
      ['G', 'H'],
      ['G', 'L'],
      ['G', 'E'],
      ['G', 'D'],
      ['G', 'R'],
      ['G', 'Q'],
    ],
  ],
  [
    'All projects, settings',
    [
      ['G', 'P'],
      ['G', 'S'],
    ],
  ],
  ['Search', [['/']]],
  ['Move in a table; open a row', [['↑'], ['↓'], ['Enter']]],
  ['The next row, the previous one, while one is open', [['J'], ['K']]],
  ['Run the query in the editor', [['Ctrl', 'Enter']]],
  ['What may be written here', [['Ctrl', 'Space']]],
  ['Switch between tabs', [['←'], ['→']]],
  ['Close a window, or the row that is open', [['Esc']]],
  ['This help', [['?']]],
]

/** Which keys do what. On a Mac, Cmd stands for Ctrl. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {keys.map(([title, ways]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>
              {ways.map((way) => (
                <span key={way.join(' ')}>
                  {way.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="hint">
        On a Mac, Cmd stands for Ctrl. Two letters are pressed one after the other. Everything else
        is in the <a href={`${base}/docs/page`}>documentation</a>.
      </p>
    </Dialog>
  )
}
