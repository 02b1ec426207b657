/** What to paste into one's program, where there is nothing yet. */
import { CopyButton } from '../component/copy-button.tsx'
import { Link } from '../component/link.tsx'
import { Empty } from '../component/notice.tsx'
import { TabPanel, Tabs } from '../component/tabs.tsx'
import { base, parameter, parts, pathOf, setParameters } from '../state/location.ts'

/** An organization that has no project. */
export function FirstProject() {
  return (
    <Empty title="No projects yet" sketch="cards">
      <p>
        A project holds logs, experiments and datasets. Create one with the button above, or let
        your program do it: a project is created by the first write to it.
      </p>
      <Ways projectName="my project" />
    </Empty>
  )
}

/** A project that has no logs. */
export function FirstLines({ projectName }: { readonly projectName: string }) {
  const [, organization = ''] = parts.value
  return (
    <Empty title="No logs yet" sketch="rows">
      <p>Send your first span in one of these ways. It appears here the moment it is stored.</p>
      <Ways projectName={projectName} />
      <p class="hint">
        Your program needs a key: create one under{' '}
        <Link to={`${pathOf('app', organization, 'settings')}?tab=keys`}>Settings, API keys</Link>.
      </p>
    </Empty>
  )
}

const ways = [
  { id: 'typescript', title: 'TypeScript' },
  { id: 'python', title: 'Python' },
  { id: 'curl', title: 'curl' },
  { id: 'otlp', title: 'OpenTelemetry' },
] as const

function Ways({ projectName }: { readonly projectName: string }) {
  const way = ways.find(({ id }) => id === parameter('way'))?.id ?? 'typescript'
  const lines = linesOf(way, projectName, window.location.origin + base)
  return (
    <>
      <Tabs
        label="Ways to log"
        tabs={ways}
        current={way}
        onChoose={(id) => setParameters({ way: id })}
      />
      <TabPanel label="Ways to log" current={way}>
        <pre>{lines}</pre>
        <CopyButton text={lines} />
      </TabPanel>
    </>
  )
}

function linesOf(way: string, projectName: string, url: string): string {
  const name = JSON.stringify(projectName)
  switch (way) {
    case 'python':
      return `pip install braintrust
export BRAINTRUST_API_URL=${url}
export BRAINTRUST_APP_URL=${url}
export BRAINTRUST_API_KEY=sk-…

import braintrust
logger = braintrust.init_logger(project=${name})
with logger.start_span(name="answer") as span:
    span.log(input="Hello?", output="Hello.")
logger.flush()`
    case 'curl':
      return `export KEY=sk-…
PROJECT=$(curl -s ${url}/v1/project -H "authorization: Bearer $KEY" \\
  -d '{"name":${quotedForShell(name)}}' | grep -o '"id":"[^"]*' | cut -c7-)
curl ${url}/v1/project_logs/$PROJECT/insert -H "authorization: Bearer $KEY" \\
  -d '{"events":[{"input":"Hello?","output":"Hello."}]}'`
    case 'otlp':
      return `export OTEL_EXPORTER_OTLP_ENDPOINT=${url}/otel
export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer sk-…,x-bt-parent=project_name:${projectName}"
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf

# then start any program that is instrumented with OpenTelemetry`
    default:
      return `npm install braintrust
export BRAINTRUST_API_URL=${url}
export BRAINTRUST_APP_URL=${url}
export BRAINTRUST_API_KEY=sk-…

import { initLogger } from 'braintrust'
const logger = initLogger({ projectName: ${name} })
await logger.traced(async (span) => {
  span.log({ input: 'Hello?', output: 'Hello.' })
})
await logger.flush()`
  }
}

/** Within single quotes of a shell. */
function quotedForShell(text: string): string {
  return text.replaceAll("'", "'\\''")
}
