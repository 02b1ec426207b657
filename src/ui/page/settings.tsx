/** What belongs to the person and to the organization, as far as they may see it. */
import type { ComponentChildren } from 'preact'
import { Failure, Loading } from '../component/notice.tsx'
import { TabPanel, Tabs } from '../component/tabs.tsx'
import { type Rights, useRights } from '../service/rights.ts'
import { session } from '../service/session.ts'
import { parameter, setParameters } from '../state/location.ts'
import { SettingsGrants } from './settings-grants.tsx'
import { SettingsGroups } from './settings-groups.tsx'
import { SettingsKeys } from './settings-keys.tsx'
import { SettingsMembers } from './settings-members.tsx'
import { SettingsQueries } from './settings-queries.tsx'
import { SettingsRoles } from './settings-roles.tsx'
import { SettingsSecrets } from './settings-secrets.tsx'
import { SettingsStorage } from './settings-storage.tsx'
import { SettingsTokens } from './settings-tokens.tsx'
import { SettingsYou } from './settings-you.tsx'

/** What each part of the settings is given. */
export interface SettingsProps {
  readonly rights: Rights
  readonly organization: { readonly id: string; readonly name: string }
}

interface Part {
  readonly id: string
  readonly title: string
  readonly isFor: (rights: Rights) => boolean
  readonly Shown: (props: SettingsProps) => ComponentChildren
}

const anyone = () => true
const sees = (type: string) => (rights: Rights) => rights.within[type]?.includes('read') ?? false

const parts: readonly Part[] = [
  { id: 'you', title: 'You', isFor: anyone, Shown: SettingsYou },
  { id: 'keys', title: 'API keys', isFor: anyone, Shown: SettingsKeys },
  { id: 'members', title: 'Members', isFor: sees('org_member'), Shown: SettingsMembers },
  { id: 'groups', title: 'Groups', isFor: sees('group'), Shown: SettingsGroups },
  { id: 'roles', title: 'Roles', isFor: anyone, Shown: SettingsRoles },
  {
    id: 'grants',
    title: 'Grants',
    isFor: ({ permissions }) => permissions.includes('read_acls'),
    Shown: SettingsGrants,
  },
  { id: 'tokens', title: 'Service tokens', isFor: ({ owner }) => owner, Shown: SettingsTokens },
  { id: 'secrets', title: 'Secrets', isFor: anyone, Shown: SettingsSecrets },
  { id: 'queries', title: 'Running queries', isFor: anyone, Shown: SettingsQueries },
  {
    id: 'storage',
    title: 'Storage',
    isFor: ({ permissions }) => permissions.includes('update'),
    Shown: SettingsStorage,
  },
]

export function Settings() {
  const organization = session.value?.organization
  const { data: rights, error, reload } = useRights('organization', organization?.id)
  if (error) return <Failure error={error} retry={reload} />
  if (!rights || !organization) return <Loading what="the settings" />
  const shown = parts.filter(({ isFor }) => isFor(rights))
  const { id, Shown } = shown.find((part) => part.id === parameter('tab')) ?? shown[0]!
  return (
    <div class="settings">
      <header class="page-head">
        <h1>Settings</h1>
        <span class="hint">{organization.name}</span>
      </header>
      <Tabs
        label="Settings"
        tabs={shown}
        current={id}
        onChoose={(tab) => setParameters({ tab }, { replace: false })}
      />
      <TabPanel label="Settings" current={id}>
        <Shown key={id} rights={rights} organization={organization} />
      </TabPanel>
    </div>
  )
}
