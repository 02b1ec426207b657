/** One input that leads anywhere: pages and parts of the project, other projects, settings, and what can be done. */
import { useId, useMemo, useState } from 'preact/hooks'
import { Dialog } from '../component/dialog.tsx'
import { isForBrowser } from '../component/link.tsx'
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { useRights } from '../service/rights.ts'
import { session, signOut } from '../service/session.ts'
import { base, goTo, parts, pathOf } from '../state/location.ts'
import { type Section, sections, sectionTitle } from '../state/sections.ts'
import { type Theme, theme } from '../state/theme.ts'
import {
  type FoundTrace,
  type ProjectObjects,
  useProjectObjects,
  useTraceOfId,
} from './found-targets.ts'
import { settingsParts } from './settings-parts.ts'

interface Target {
  readonly title: string
  readonly kind: string
  readonly go: () => void
  /** Where it leads, if that is a place. */
  readonly path?: string
}

const mostShown = 12
const themes: readonly Theme[] = ['light', 'dark', 'system']

export function GoTo({
  onClose,
  onHelp,
}: {
  readonly onClose: () => void
  readonly onHelp: () => void
}) {
  const [wanted, setWanted] = useState('')
  const [chosen, setChosen] = useState(0)
  const list = useId()
  const { organization } = session.value ?? {}
  const projects = useLoaded('projects to go to', async (signal) => {
    const target = '/v1/project?limit=1000'
    return (
      await requestJson<{ objects: readonly { id: string; name: string }[] }>(target, { signal })
    ).objects
  })
  const rights = useRights('organization', organization?.id)
  const [, , section, shownName] = parts.value
  const shownProject =
    section === 'p' ? projects.data?.find(({ name }) => name === shownName) : undefined
  const objects = useProjectObjects(shownProject?.id)
  const trace = useTraceOfId(shownProject?.id, wanted)
  const targets = useMemo((): readonly Target[] => {
    const name = organization?.name ?? ''
    const [, , p, project] = parts.value
    const to = (title: string, kind: string, path: string) => ({
      title,
      kind,
      go: () => goTo(path),
      path,
    })
    const pageOf = (of: string, section: Section) => pathOf('app', name, 'p', of, section)
    return [
      ...(p === 'p' && project !== undefined
        ? sections.map((each) => to(sectionTitle(each), project, pageOf(project, each)))
        : []),
      ...(shownProject && objects.data ? targetsOf(objects.data, shownProject.name, to) : []),
      to('All projects', 'page', '/app'),
      ...(projects.data ?? [])
        .filter(({ name: of }) => of !== project)
        .flatMap(({ name: of }) => [
          to(of, 'project', pageOf(of, 'home')),
          ...sections
            .slice(1)
            .map((each) => to(`${of}: ${sectionTitle(each)}`, 'page', pageOf(of, each))),
        ]),
      ...settingsParts
        .filter(({ isFor }) => rights.data && isFor(rights.data))
        .map(({ id, title }) =>
          to(title, 'settings', `${pathOf('app', name, 'settings')}?tab=${id}`),
        ),
      {
        title: 'Documentation',
        kind: 'page',
        go: () => window.location.assign(`${base}/docs`),
      },
      ...themes.map((each) => ({
        title: `Theme: ${each}`,
        kind: 'do',
        go: () => {
          theme.value = each
        },
      })),
      { title: 'Keyboard help', kind: 'do', go: onHelp },
      { title: 'Sign out', kind: 'do', go: () => void signOut() },
    ]
  }, [projects.data, rights.data, objects.data])
  const words = wanted.toLowerCase().split(/\s+/)
  const logs = pathOf('app', organization?.name ?? '', 'p', shownProject?.name ?? '', 'logs')
  const traces: readonly Target[] = trace
    ? [traceTarget(trace, logs)].map(({ title, path }) => {
        return { title, kind: 'trace', path, go: () => goTo(path) }
      })
    : []
  const named = targets
    .filter(({ title, kind }) => {
      const text = `${title} ${kind}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .slice(0, mostShown)
  const shown = [...traces, ...named]
  const place = Math.min(chosen, shown.length - 1)
  const take = (target: Target | undefined) => {
    if (!target) return
    onClose()
    target.go()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && shown.length > 0) {
      event.preventDefault()
      setChosen((place + step + shown.length) % shown.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      take(shown[place])
    }
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Go to"
        aria-expanded={shown.length > 0}
        aria-controls={list}
        aria-activedescendant={shown.length > 0 ? `${list}-${place}` : undefined}
        placeholder="A page, a name, or the id of a trace…"
        autocomplete="off"
        data-autofocus
        value={wanted}
        onInput={(event) => {
          setWanted(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label="Where to" class="targets">
        {shown.map((target, i) => (
          <div
            key={`${target.kind} ${target.title} ${target.path}`}
            id={`${list}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === place}
            onPointerDown={(event) => {
              event.preventDefault()
              const { path } = target
              if (path !== undefined && isForBrowser(event)) window.open(base + path)
              else take(target)
            }}
          >
            {target.title} <span class="hint">{target.kind}</span>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="hint">Nothing has that name.</p>}
    </Dialog>
  )
}

/** Pages of what a project holds. */
function targetsOf(
  { experiments, datasets, views }: ProjectObjects,
  project: string,
  to: (title: string, kind: string, path: string) => Target,
): readonly Target[] {
  const pathIn = (...names: readonly string[]) =>
    pathOf('app', session.value?.organization.name ?? '', 'p', project, ...names)
  return [
    ...experiments.map(({ name }) => to(name, 'experiment', pathIn('experiments', name))),
    ...datasets.map(({ name }) => to(name, 'dataset', pathIn('datasets', name))),
    ...views.map(({ id, name }) => to(name, 'view', `${pathIn('logs')}?view=${id}`)),
  ]
}

function traceTarget({ rootSpanId, spanId, name }: FoundTrace, logs: string) {
  const parameters = new URLSearchParams({ trace: rootSpanId, ...(spanId && { span: spanId }) })
  return { title: name, path: `${logs}?${parameters}` }
}
