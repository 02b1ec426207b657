/** The parts of the settings, and who sees them. */
import type { Rights } from '../service/rights.ts'

/** What each part of the settings is given. */
export interface SettingsProps {
  readonly rights: Rights
  readonly organization: { readonly id: string; readonly name: string }
}

interface SettingsPart {
  readonly id: string
  readonly title: string
  readonly isFor: (rights: Rights) => boolean
}

const anyone = () => true
const sees = (type: string) => (rights: Rights) => rights.within[type]?.includes('read') ?? false

export const settingsParts = [
  { id: 'you', title: 'You', isFor: anyone },
  { id: 'keys', title: 'API keys', isFor: anyone },
  { id: 'members', title: 'Members', isFor: sees('org_member') },
  { id: 'groups', title: 'Groups', isFor: sees('group') },
  { id: 'roles', title: 'Roles', isFor: anyone },
  { id: 'grants', title: 'Grants', isFor: ({ permissions }) => permissions.includes('read_acls') },
  { id: 'tokens', title: 'Service tokens', isFor: ({ owner }) => owner },
  { id: 'secrets', title: 'Secrets', isFor: anyone },
  { id: 'masking', title: 'Masking', isFor: ({ permissions }) => permissions.includes('update') },
  {
    id: 'retention',
    title: 'Retention',
    isFor: (rights) => rights.within.project?.includes('update') ?? false,
  },
  {
    id: 'exports',
    title: 'Exports',
    isFor: (rights) => rights.within.project?.includes('update') ?? false,
  },
  { id: 'queries', title: 'Running queries', isFor: anyone },
  { id: 'storage', title: 'Storage', isFor: ({ permissions }) => permissions.includes('update') },
] as const satisfies readonly SettingsPart[]

export type SettingsPartId = (typeof settingsParts)[number]['id']
