/** What belongs to the person and to the organization, as far as they may see it. */
import type { ComponentChildren } from 'preact'
import { Failure, Loading } from '../component/notice.tsx'
import { ServiceWarnings } from '../component/service-warnings.tsx'
import { TabPanel, Tabs } from '../component/tabs.tsx'
import { useRights } from '../service/rights.ts'
import { session } from '../service/session.ts'
import { addressWith, parameter, setParameters } from '../state/location.ts'
import type { SettingsPartId } from '../state/sections.ts'
import { SettingsExports } from './settings-exports.tsx'
import { SettingsGrants } from './settings-grants.tsx'
import { SettingsGroups } from './settings-groups.tsx'
import { SettingsKeys } from './settings-keys.tsx'
import { SettingsMasking } from './settings-masking.tsx'
import { SettingsMembers } from './settings-members.tsx'
import { type SettingsProps, settingsParts } from './settings-parts.ts'
import { SettingsQueries } from './settings-queries.tsx'
import { SettingsRetention } from './settings-retention.tsx'
import { SettingsRoles } from './settings-roles.tsx'
import { SettingsSecrets } from './settings-secrets.tsx'
import { SettingsStorage } from './settings-storage.tsx'
import { SettingsTokens } from './settings-tokens.tsx'
import { SettingsYou } from './settings-you.tsx'

const pages: Readonly<Record<SettingsPartId, (props: SettingsProps) => ComponentChildren>> = {
  you: SettingsYou,
  keys: SettingsKeys,
  members: SettingsMembers,
  groups: SettingsGroups,
  roles: SettingsRoles,
  grants: SettingsGrants,
  tokens: SettingsTokens,
  secrets: SettingsSecrets,
  masking: SettingsMasking,
  retention: SettingsRetention,
  exports: SettingsExports,
  queries: SettingsQueries,
  storage: SettingsStorage,
}

export function Settings() {
  const organization = session.value?.organization
  const { data: rights, error, reload } = useRights('organization', organization?.id)
  if (error) return <Failure error={error} retry={reload} />
  if (!rights || !organization) return <Loading what="the settings" />
  const shown = settingsParts.filter(({ isFor }) => isFor(rights))
  const id = shown.find((part) => part.id === parameter('tab'))?.id ?? 'you'
  const Shown = pages[id]
  return (
    <div class="settings">
      <header class="page-head">
        <h1>Settings</h1>
        <span class="hint">Organization {organization.name}</span>
      </header>
      <ServiceWarnings />
      <Tabs
        label="Settings"
        isVertical
        tabs={shown}
        current={id}
        onChoose={(tab) => setParameters({ tab, open: undefined }, { replace: false })}
        linkOf={(tab) => addressWith({ tab, open: undefined })}
      />
      <TabPanel label="Settings" current={id}>
        <Shown key={id} rights={rights} organization={organization} />
      </TabPanel>
    </div>
  )
}
