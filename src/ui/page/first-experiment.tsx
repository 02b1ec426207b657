import { CopyButton } from '../component/copy-button.tsx'
import { Empty } from '../component/notice.tsx'
import { base } from '../state/location.ts'

/** What to paste into one's program, for a project that has no experiments. */
export function FirstExperiment({ projectName }: { readonly projectName: string }) {
  const url = window.location.origin + base
  const name = JSON.stringify(projectName)
  const lines = `// npm install braintrust
// export BRAINTRUST_API_URL=${url} BRAINTRUST_APP_URL=${url} BRAINTRUST_API_KEY=sk-…
import { Eval } from 'braintrust'

await Eval(${name}, {
  data: () => [
    { input: [2, 2], expected: 4 },
    { input: [3, 3], expected: 9 },
  ],
  task: ([a, b]) => a + b,
  scores: [({ output, expected }) => ({ name: 'exact', score: output === expected ? 1 : 0 })],
})`
  return (
    <Empty title="No experiments yet" sketch="experiments">
      <p>
        An experiment runs your program over examples and scores its answers. Save this as{' '}
        <code>first.eval.mjs</code>, and run it with <code>node first.eval.mjs</code>:
      </p>
      <pre>{lines}</pre>
      <CopyButton text={lines} />
      <p>Or import what you have, as JSON lines or CSV:</p>
      <pre>{`assay import results.jsonl --project ${name} --experiment first`}</pre>
    </Empty>
  )
}
