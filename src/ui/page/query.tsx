/** Queries as they are written: an editor, and what they come to. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Editor } from '../component/editor.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import type { Editor as EditorHandle } from '../editor/create-editor.ts'
import type { Checked } from '../editor/service.ts'
import { type Project, useProject } from '../service/project.ts'
import { parameter } from '../state/location.ts'
import { queryText, setQueryText } from '../state/query-text.ts'
import { QueryExamples } from './query-examples.tsx'
import { keepDraft, readDraft, remember } from './query-history.ts'
import { QueryProblems } from './query-problems.tsx'
import { QueryRefused, type Run, useRunner } from './query-run.ts'
import { loadSaved, type ShownAs } from './query-saved.ts'
import { QueryTools } from './query-tools.tsx'
import { Result } from './result.tsx'

export function Query({ projectName }: { readonly projectName: string }) {
  const project = useProject(projectName)
  if (project.error) return <Failure error={project.error} retry={project.reload} />
  if (!project.data) return <Loading what={projectName} />
  return <QueryView key={project.data.id} project={project.data} />
}

const noProblems: Checked['diagnostics'] = []

/** What is run is in the address, so that it can be shared; what is only written, in the browser. */
function QueryView({ project }: { readonly project: Project }) {
  const editor = useRef<EditorHandle>(undefined)
  const asked = queryText.value
  const first = useRef(asked ?? readDraft(project.name) ?? '')
  const [text, setText] = useState(first.current)
  const [checked, setChecked] = useState<Checked>()
  const { run, start, more, extend, cancel } = useRunner((ended) => {
    remember({
      text: ended.text,
      project: project.name,
      at: new Date().toISOString(),
      milliseconds: ended.elapsed,
      rows: ended.rows.length,
      hasFailed: ended.error !== undefined,
    })
    // The editor pauses before it asks for the same.
    if (ended.error instanceof QueryRefused && ended.text === text) setChecked(ended.error.checked)
  })
  const startAsked = (asked: string) => start(asked, parameter('show') === 'log')

  const put = (next: string) => {
    first.current = next
    setText(next)
    editor.current?.replace(next)
  }
  const runText = (next: string, shown: ShownAs = {}) => {
    if (next.trim() === '') return
    const isAgain = next === asked
    setQueryText(next, { ...(!isAgain && { saved: undefined }), ...shown }, { replace: isAgain })
    if (isAgain) startAsked(next)
  }
  const open = (next: string, shown: ShownAs) => {
    put(next)
    runText(next, { x: undefined, y: undefined, series: undefined, chart: undefined, ...shown })
  }
  useEffect(() => {
    if (asked === undefined) return
    if (asked !== text) put(asked)
    startAsked(asked)
  }, [asked])
  const savedId = parameter('saved')
  const [fault, setFault] = useState<Error>()
  useEffect(() => {
    if (savedId === undefined || asked !== undefined) return
    const abandon = new AbortController()
    loadSaved(project.id, savedId, abandon.signal).then(
      (saved) => setQueryText(saved.text, { ...saved.shown }, { replace: true }),
      (thrown: Error) => {
        if (!abandon.signal.aborted) setFault(thrown)
      },
    )
    return () => abandon.abort()
  }, [savedId, asked])

  return (
    <div class="query">
      <header class="page-head">
        <h1>Query</h1>
        <QueryTools
          project={project}
          text={text}
          checked={checked}
          isRunning={run?.isRunning ?? false}
          onPut={put}
          onOpen={open}
          onRun={() => runText(text)}
          onCancel={cancel}
        />
      </header>
      {fault && <Failure error={fault} />}
      <Editor
        label="Query"
        text={first.current}
        lines={text.split('\n').length}
        placeholder="select: …"
        onChange={(next) => {
          setText(next)
          keepDraft(project.name, next)
        }}
        onChecked={(of, found) => {
          if (of === editor.current?.text) setChecked(found)
        }}
        onRun={() => runText(editor.current?.text ?? text)}
        onReady={(ready) => {
          editor.current = ready
          if (ready && ready.text !== first.current) ready.replace(first.current)
        }}
      />
      <QueryProblems checked={checked} onShow={(problem) => editor.current?.show(problem)} />
      {run && !isOfEarlierText(run, text) && (
        <Result
          run={run}
          known={checked?.diagnostics ?? noProblems}
          onMore={more}
          onExtend={extend}
          onCancel={cancel}
          onRetry={() => startAsked(run.text)}
          onRunWithLog={() => start(run.text, true)}
        />
      )}
      {!run && text.trim() === '' && <QueryExamples project={project.name} onChoose={open} />}
    </div>
  )
}

/** Why a text was not run is no longer of interest once it is written anew. */
function isOfEarlierText({ error, text: ran }: Run, text: string): boolean {
  return error instanceof QueryRefused && ran !== text
}
