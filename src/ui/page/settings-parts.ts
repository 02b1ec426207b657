/** The parts of the settings, and who sees them. */
import type { Rights } from '../service/rights.ts'
import { type SettingsPartId, settingsPartIds } from '../state/sections.ts'

/** What each part of the settings is given. */
export interface SettingsProps {
  readonly rights: Rights
  readonly organization: { readonly id: string; readonly name: string }
}

interface SettingsPart {
  readonly title: string
  readonly isFor: (rights: Rights) => boolean
}

const anyone = () => true
const sees = (type: string) => (rights: Rights) => rights.within[type]?.includes('read') ?? false
const mayUpdate = ({ permissions }: Rights) => permissions.includes('update')
const changesProjects = (rights: Rights) => rights.within.project?.includes('update') ?? false

const parts: Readonly<Record<SettingsPartId, SettingsPart>> = {
  you: { title: 'You', isFor: anyone },
  keys: { title: 'API keys', isFor: anyone },
  members: { title: 'Members', isFor: sees('org_member') },
  groups: { title: 'Groups', isFor: sees('group') },
  roles: { title: 'Roles', isFor: anyone },
  grants: { title: 'Grants', isFor: ({ permissions }) => permissions.includes('read_acls') },
  tokens: { title: 'Service tokens', isFor: ({ owner }) => owner },
  secrets: { title: 'Secrets', isFor: anyone },
  masking: { title: 'Masking', isFor: mayUpdate },
  retention: { title: 'Retention', isFor: changesProjects },
  exports: { title: 'Exports', isFor: changesProjects },
  queries: { title: 'Running queries', isFor: anyone },
  storage: { title: 'Storage', isFor: mayUpdate },
}

export const settingsParts = settingsPartIds.map((id) => ({ id, ...parts[id] }))
