/** The frame of all pages: who is signed in, where one is, and where one can go. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ConnectionBar } from './component/connection-bar.tsx'
import { Icon, Mark } from './component/icon.tsx'
import { type LazyComponent, lazy } from './component/lazy.tsx'
import { Link } from './component/link.tsx'
import { Empty, Loading } from './component/notice.tsx'
import { Select } from './component/select.tsx'
import { ServiceWarnings } from './component/service-warnings.tsx'
import { Toasts } from './component/toast.tsx'
import { BulkProgress } from './page/bulk-run.tsx'
import { Logs } from './page/logs.tsx'
import { PageKeys } from './page/page-keys.tsx'
import { ProjectSwitch } from './page/project-switch.tsx'
import { Projects } from './page/projects.tsx'
import { SignIn } from './page/sign-in.tsx'
import { findSession, session, signOut } from './service/session.ts'
import { base, parameter, parts, pathOf } from './state/location.ts'
import { isSection, type Section, sections, sectionTitle } from './state/sections.ts'
import { isSideFolded } from './state/side.ts'
import { type Theme, theme } from './state/theme.ts'

export function App() {
  useEffect(() => {
    // Both at once: the page is needed as soon as it is known who is there.
    lazyPageAt(parts.value)?.begin()
    void findSession()
  }, [])
  return (
    <>
      <ConnectionBar />
      <Content />
    </>
  )
}

function Content() {
  if (session.value === undefined) return <Loading what="the page" />
  if (session.value === null) return <SignIn />
  return <Frame>{pageAt(parts.value)}</Frame>
}

const Home = lazy('the home', async () => (await import('./page/home.tsx')).Home)
const Experiments = lazy('the experiments', async () => {
  return (await import('./page/experiments.tsx')).Experiments
})
const ExperimentPage = lazy('the experiment', async () => {
  return (await import('./page/experiment.tsx')).ExperimentPage
})
const Datasets = lazy('the datasets', async () => (await import('./page/datasets.tsx')).Datasets)
const DatasetPage = lazy(
  'the dataset',
  async () => (await import('./page/dataset.tsx')).DatasetPage,
)

const Review = lazy('the reviews', async () => (await import('./page/review.tsx')).Review)
const Settings = lazy('the settings', async () => (await import('./page/settings.tsx')).Settings)
const Query = lazy('the query page', async () => (await import('./page/query.tsx')).Query)

/** Addresses without a section were those of the logs, and still lead there where they ask for some. */
function isOfLogs(): boolean {
  return ['q', 'trace', 'rows', 'span'].some((name) => parameter(name) !== undefined)
}

/** What a section shows, and each object that it names, where it lists some: `…/experiments/<name>`. */
const pages: Readonly<Record<Section, (project: string, name?: string) => ComponentChildren>> = {
  home: (project) => <Home key={project} projectName={project} />,
  logs: (project) => <Logs key={project} projectName={project} />,
  experiments: (project, name) =>
    name === undefined ? (
      <Experiments key={project} projectName={project} />
    ) : (
      <ExperimentPage projectName={project} name={name} />
    ),
  datasets: (project, name) =>
    name === undefined ? (
      <Datasets key={project} projectName={project} />
    ) : (
      <DatasetPage projectName={project} name={name} />
    ),
  review: (project, name) => <Review key={project} projectName={project} queueId={name} />,
  query: (project) => <Query key={project} projectName={project} />,
}

type Begun = Pick<LazyComponent<never>, 'begin'>

/** What has to be loaded for the page of an address, before it is known whether one may see it. */
function lazyPageAt([app, , p, , section, name]: readonly string[]): Begun | undefined {
  if (app !== 'app') return undefined
  if (p === 'settings') return Settings
  if (p !== 'p') return undefined
  const isOne = name !== undefined
  const loaded = new Map<string, Begun>([
    ['experiments', isOne ? ExperimentPage : Experiments],
    ['datasets', isOne ? DatasetPage : Datasets],
    ['review', Review],
    ['query', Query],
  ])
  return section === undefined && !isOfLogs() ? Home : loaded.get(section ?? '')
}

function pageAt(names: readonly string[]): ComponentChildren {
  const [app, , p, project, section, name] = names
  if (names.length === 0 || (app === 'app' && p === undefined)) {
    return (
      <>
        <ServiceWarnings />
        <Projects />
      </>
    )
  }
  const shown = section ?? (isOfLogs() ? 'logs' : 'home')
  if (app === 'app' && p === 'p' && project !== undefined && isSection(shown)) {
    return pages[shown](project, name)
  }
  if (app === 'app' && p === 'settings') return <Settings />
  return (
    <Empty sketch="cards" title="There is no such page">
      <p>The address may be old, or have a letter too many.</p>
      <p>
        <Link to="/app">All projects</Link>
      </p>
    </Empty>
  )
}

function Frame({ children }: { readonly children: ComponentChildren }) {
  const [, organization, p, project, section] = parts.value
  const name = session.value?.organization.name ?? organization ?? ''
  // On a phone the sections are a line that scrolls.
  useEffect(() => {
    const current = document.querySelector('.side [aria-current="page"]')
    current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [p, section])
  return (
    <div class={isSideFolded.value ? 'frame folded' : 'frame'}>
      <button type="button" class="skip" onClick={skipToContent}>
        Skip to the content
      </button>
      <nav aria-label="Main" class="side">
        <Link to="/app" class="mark">
          <Mark />
          <span class="word">Assay</span>
        </Link>
        {p === 'p' && project !== undefined ? (
          <>
            <ProjectSwitch key={project} project={project} />
            <ul>
              {sections.map((each) => (
                <li key={each}>
                  <Link
                    to={pathOf('app', name, 'p', project, each)}
                    isCurrent={(section ?? 'home') === each}
                  >
                    <Icon name={each} />
                    <span class="word">{sectionTitle(each)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <ul>
            <li>
              <Link to="/app" isCurrent={p === undefined}>
                <Icon name="projects" />
                <span class="word">Projects</span>
              </Link>
            </li>
          </ul>
        )}
        <ul class="foot">
          <li>
            <KeysHint />
          </li>
          <li>
            <Link to={pathOf('app', name, 'settings')} isCurrent={p === 'settings'}>
              <Icon name="settings" />
              <span class="word">Settings</span>
            </Link>
          </li>
          <li>
            <a href={`${base}/docs`}>
              <Icon name="documentation" />
              <span class="word">Documentation</span>
            </a>
          </li>
          <li>
            <ThemeChoice />
          </li>
          <li>
            <button type="button" class="plain" onClick={() => void signOut()}>
              <Icon name="leave" />
              <span class="word">Sign out</span>
            </button>
          </li>
          <li class="fold">
            <FoldButton />
          </li>
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <PageKeys />
      <BulkProgress />
      <Toasts />
    </div>
  )
}

/** A link to `#content` would lead to the start page, which is what all links are relative to. */
function skipToContent(): void {
  document.getElementById('content')?.focus()
}

function FoldButton() {
  const isFolded = isSideFolded.value
  return (
    <button
      type="button"
      class="plain"
      aria-expanded={!isFolded}
      title={isFolded ? 'Show the sidebar' : 'Fold the sidebar'}
      onClick={() => {
        isSideFolded.value = !isFolded
      }}
    >
      <Icon name={isFolded ? 'unfold' : 'fold'} />
      <span class="word">{isFolded ? 'Show the sidebar' : 'Fold the sidebar'}</span>
    </button>
  )
}

function KeysHint() {
  return (
    <p class="hint keys-hint">
      <kbd>Ctrl</kbd> <kbd>K</kbd> go to, <kbd>?</kbd> keys
    </p>
  )
}

function ThemeChoice() {
  return (
    <div class="theme">
      <Icon name="theme" />
      <span class="word">Theme</span>
      <Select
        label="Theme"
        value={theme.value}
        options={[
          { value: 'system', label: 'System' },
          { value: 'light', label: 'Light' },
          { value: 'dark', label: 'Dark' },
        ]}
        onChange={(chosen) => {
          theme.value = chosen as Theme
        }}
      />
    </div>
  )
}
