/** What a row of the logs opens: its trace, or that beside another, which `?with=` names. */
import { lazy } from '../component/lazy.tsx'
import { parameter } from '../state/location.ts'
import { Trace, type TraceProps } from './trace.tsx'

const TraceComparison = lazy(
  'the comparison',
  async () => (await import('./trace-comparison.tsx')).TraceComparison,
)

/** Whether what is open has the whole page. */
export function isFullPage(): boolean {
  return parameter('wide') === 'yes' || parameter('with') !== undefined
}

export function OpenedTrace(props: TraceProps) {
  const other = parameter('with')
  const { source, rootSpanId } = props
  if (other === undefined) return <Trace {...props} />
  const key = `${rootSpanId} ${other}`
  return <TraceComparison key={key} source={source} beforeId={rootSpanId} afterId={other} />
}
