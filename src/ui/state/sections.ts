/** Which pages there are. Tests have a list of what is in each, so what is here imports nothing. */

/** Those that each project has, in the order of the menu: `/app/<organization>/p/<project>/<section>`. */
export const sections = ['home', 'logs', 'experiments', 'datasets', 'review', 'query'] as const

export type Section = (typeof sections)[number]

/** Parts of the settings, in the order of their tabs: `/app/<organization>/settings?tab=<part>`. */
export const settingsPartIds = [
  'you',
  'keys',
  'members',
  'groups',
  'roles',
  'grants',
  'tokens',
  'secrets',
  'masking',
  'retention',
  'exports',
  'queries',
  'storage',
] as const

export type SettingsPartId = (typeof settingsPartIds)[number]

export function isSection(name: string): name is Section {
  return (sections as readonly string[]).includes(name)
}

export function sectionTitle(section: Section): string {
  return section.charAt(0).toUpperCase() + section.slice(1)
}
