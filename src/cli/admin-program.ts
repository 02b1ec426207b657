import type { Command } from 'commander'
import type { AdminOptions } from './admin/admin-connection.ts'
import type { CreateKeyOptions, InviteOptions } from './admin/people-commands.ts'
import type { AclOptions, GroupOptions, RoleOptions } from './admin/right-commands.ts'

const people = () => import('./admin/people-commands.ts')
const rights = () => import('./admin/right-commands.ts')

const object = 'organization, org_project, org_member, project:NAME, experiment:ID, …'

/** The commands that say who is there and who may do what. `connect` adds how to reach the service. */
export function addAdministration(program: Command, connect: (command: Command) => void): void {
  const group = (name: string, description: string) => {
    const parent = program.command(name).description(description)
    return (form: string, about: string) => {
      const command = parent.command(form).description(about)
      connect(command)
      return command
        .option('--data-dir <directory>', 'a data directory that no service has open; needs no key')
        .option('--org <name>', 'name or id of the organization, where there are several')
        .option('--json', 'JSON lines on a terminal, too')
    }
  }
  addOrganizations(group('orgs', 'list, make and rename organizations'))
  addMembers(group('members', 'list, invite and remove members'))
  addKeys(group('keys', 'list, make and revoke API keys and service tokens'))
  addRoles(group('roles', 'list, make, change and remove roles'))
  addGroups(group('groups', 'list, make, change and remove groups'))
  addAcls(group('acls', 'list, give and take rights'))
}

type Add = (form: string, about: string) => Command

function addOrganizations(add: Add): void {
  add('list', 'the organization of the key; all of a data directory').action(
    async (options: AdminOptions) => (await people()).listOrganizations(options),
  )
  add('create <name>', 'make an organization; only in a data directory')
    .requiredOption('--owner <email>', 'its first member, who may do everything')
    .action(async (name: string, options: AdminOptions & { owner: string }) =>
      (await people()).createOrganization(name, options),
    )
  add('rename <name>', 'give the organization another name').action(
    async (name: string, options: AdminOptions) =>
      (await people()).renameOrganization(name, options),
  )
}

function addMembers(add: Add): void {
  add('list', 'who is in the organization').action(async (options: AdminOptions) =>
    (await people()).listMembers(options),
  )
  add('add <who...>', 'invite people by e-mail address')
    .option('--group <name...>', 'groups for those who are new: Owners, Engineers, Viewers, …')
    .option('--service', 'make service accounts of these names instead')
    .option('--token <name>', 'make a token of this name for each service account')
    .action(async (who: string[], options: InviteOptions) =>
      (await people()).addMembers(who, options),
    )
  add('remove <who...>', 'remove members by e-mail address or id, with all that they have').action(
    async (who: string[], options: AdminOptions) => (await people()).removeMembers(who, options),
  )
}

function addKeys(add: Add): void {
  add('list', 'API keys that you may see')
    .option('--service', 'service tokens instead')
    .action(async (options: AdminOptions & { service?: boolean }) =>
      (await people()).listKeys(options),
    )
  add('create <name>', 'make a key, whose text is shown once')
    .option('--user <who>', 'whose key, by e-mail address or id')
    .option('--account <name>', 'a service account that gets a token instead')
    .option('--expires-in <time>', 'how long it is valid: 30d, 12h, 15m, or seconds')
    .option(
      '--expires-at <time>',
      'until when it is valid, such as 2027-01-31 or 2027-01-31T12:00Z',
    )
    .action(async (name: string, options: CreateKeyOptions) =>
      (await people()).createKey(name, options),
    )
  add('revoke <id...>', 'end keys at once')
    .option('--service', 'the ids are of service tokens')
    .action(async (ids: string[], options: AdminOptions & { service?: boolean }) =>
      (await people()).revokeKeys(ids, options),
    )
}

function addRoles(add: Add): void {
  const permission = 'as read, or read:dataset for objects of one type'
  add('list', 'roles, the built-in ones last').action(async (options: AdminOptions) =>
    (await rights()).listRoles(options),
  )
  add('create <name>', 'make a role')
    .option('--description <text>', 'what it is for')
    .option('--permission <permission...>', permission)
    .option('--role <name...>', 'roles that it has all permissions of')
    .action(async (name: string, options: RoleOptions) =>
      (await rights()).createRole(name, options),
    )
  add('update <role>', 'change a role, given by name or id')
    .option('--name <name>', 'another name')
    .option('--description <text>', 'what it is for')
    .option('--permission <permission...>', `permissions to add, ${permission}`)
    .option('--remove-permission <permission...>', 'permissions to remove')
    .option('--role <name...>', 'roles to add')
    .option('--remove-role <name...>', 'roles to remove')
    .action(async (role: string, options: RoleOptions) =>
      (await rights()).updateRole(role, options),
    )
  add('remove <role...>', 'remove roles, with all ACLs that give them').action(
    async (which: string[], options: AdminOptions) =>
      (await rights()).remove('role', which, options),
  )
}

function addGroups(add: Add): void {
  add('list', 'groups').action(async (options: AdminOptions) =>
    (await rights()).listGroups(options),
  )
  add('create <name>', 'make a group')
    .option('--description <text>', 'what it is for')
    .option('--user <who...>', 'members, by e-mail address or id')
    .option('--group <name...>', 'groups all of whose members are in it')
    .action(async (name: string, options: GroupOptions) =>
      (await rights()).createGroup(name, options),
    )
  add('update <group>', 'change a group, given by name or id')
    .option('--name <name>', 'another name')
    .option('--description <text>', 'what it is for')
    .option('--user <who...>', 'members to add')
    .option('--remove-user <who...>', 'members to remove')
    .option('--group <name...>', 'groups to add')
    .option('--remove-group <name...>', 'groups to remove')
    .action(async (group: string, options: GroupOptions) =>
      (await rights()).updateGroup(group, options),
    )
  add('remove <group...>', 'remove groups, with all ACLs for them').action(
    async (which: string[], options: AdminOptions) =>
      (await rights()).remove('group', which, options),
  )
}

function addAcls(add: Add): void {
  const change = (command: Command, method: 'POST' | 'DELETE') =>
    command
      .requiredOption('--on <object>', object)
      .requiredOption('--to <who>', 'user:EMAIL or group:NAME')
      .requiredOption('--give <what>', 'a permission, as read or read:dataset, or role:NAME')
      .action(async (options: AclOptions) => (await rights()).changeAcl(method, options))
  add('list', 'what is given in the organization')
    .option('--on <object>', `only on ${object}`)
    .action(async (options: AdminOptions & { on?: string }) => (await rights()).listAcls(options))
  change(add('add', 'give a permission or a role'), 'POST')
  change(add('remove', 'take it back'), 'DELETE')
}
