import { CopyButton } from '../component/copy-button.tsx'
import { Dialog } from '../component/dialog.tsx'
import { TabPanel, Tabs } from '../component/tabs.tsx'
import { ownProject } from '../service/own-project.ts'
import { tzOffset } from '../service/query.ts'
import { base, parameter, setParameters } from '../state/location.ts'
import { codeFor, codeForms } from './query-code.ts'

/** The query as lines that run it elsewhere. */
export function CodeDialog({
  query,
  onClose,
}: {
  readonly query: string
  readonly onClose: () => void
}) {
  const form = codeForms.find((each) => each === parameter('form')) ?? 'curl'
  const url = window.location.origin + base
  const code = codeFor(form, { url, query, tzOffset, project: ownProject(query).project_name })
  return (
    <Dialog
      title="Run it elsewhere"
      size="large"
      onClose={() => {
        setParameters({ form: undefined })
        onClose()
      }}
    >
      <Tabs
        label="Forms of code"
        tabs={codeForms.map((id) => ({ id, title: id }))}
        current={form}
        onChoose={(id) => setParameters({ form: id })}
      />
      <TabPanel label="Forms of code" current={form}>
        <pre class="code">{code}</pre>
      </TabPanel>
      <footer class="dialog-foot">
        <p class="hint">
          The key is taken from the environment: <code>ASSAY_API_KEY</code>.
        </p>
        <CopyButton text={code} />
      </footer>
    </Dialog>
  )
}
