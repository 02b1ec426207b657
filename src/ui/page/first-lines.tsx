import { Empty } from '../component/notice.tsx'
import { base } from '../state/location.ts'

/** What to paste into one's program, for a project that has no logs. */
export function FirstLines({ projectName }: { readonly projectName: string }) {
  const url = window.location.origin + base
  return (
    <Empty title="No logs yet">
      <p>Point the SDK at this service and log a first span:</p>
      <pre>{`export BRAINTRUST_API_URL=${url}
export BRAINTRUST_APP_URL=${url}
export BRAINTRUST_API_KEY=sk-…

import { initLogger } from 'braintrust'
const logger = initLogger({ projectName: ${JSON.stringify(projectName)} })
await logger.traced(async (span) => {
  span.log({ input: 'Hello?', output: 'Hello.' })
})
await logger.flush()`}</pre>
      <p>Programs with OpenTelemetry send their traces to {`${url}/otel/v1/traces`}.</p>
    </Empty>
  )
}
