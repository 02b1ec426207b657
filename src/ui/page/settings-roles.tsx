/** Roles: permissions that are given together. */
import { permissions } from '../../catalog/permission.ts'
import { FormDialog } from '../component/dialog.tsx'
import { ChecksField, TextField, textOf, textsOf } from '../component/field.tsx'
import { LineAction, ListTable } from '../component/list-table.tsx'
import { request } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { listAll, type Role, type RolePermission } from '../service/people.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { objectTypes, permissionTitle, typeTitle } from './access-words.ts'
import { Removal } from './removal.tsx'
import { SettingsList } from './settings-list.tsx'
import type { SettingsProps } from './settings-parts.ts'

export function SettingsRoles({ rights }: SettingsProps) {
  const roles = useLoaded('roles', (signal) => listAll<Role>('/v1/role', signal))
  const may = (permission: 'create' | 'update' | 'delete') =>
    rights.within.role?.includes(permission) ?? false
  const open = openedOf('new', 'change', 'remove')
  // Roles that are built in are changed by nobody.
  const meant = roles.data?.find(({ id, org_id }) => id === open?.id && org_id !== null)
  const isEdited =
    (open?.kind === 'new' && may('create')) ||
    (open?.kind === 'change' && may('update') && meant !== undefined)
  return (
    <>
      <SettingsList
        title="Roles"
        add={
          may('create') && (
            <button type="button" class="primary" onClick={() => openWindow('new')}>
              New role
            </button>
          )
        }
        loaded={roles}
        empty="There are no roles"
      >
        {(items) => (
          <ListTable
            label="Roles"
            items={items}
            itemId={({ id }) => id}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'What for', cell: ({ description }) => description ?? '' },
              { title: 'Permissions', cell: permissionsText },
              {
                title: 'Roles in it',
                isOptional: true,
                cell: ({ member_roles }) =>
                  items
                    .filter(({ id }) => member_roles?.includes(id))
                    .map(({ name }) => name)
                    .join(', '),
              },
            ]}
            actions={(role) =>
              role.org_id === null ? (
                <span class="hint">built in</span>
              ) : (
                <>
                  {may('update') && (
                    <LineAction
                      verb="Change"
                      of={role.name}
                      onChoose={() => openWindow('change', role.id)}
                    />
                  )}
                  {may('delete') && (
                    <LineAction
                      verb="Delete"
                      of={role.name}
                      onChoose={() => openWindow('remove', role.id)}
                    />
                  )}
                </>
              )
            }
          />
        )}
      </SettingsList>
      {roles.data && isEdited && (
        <RoleDialog
          roles={roles.data}
          role={meant}
          onClose={closeWindow}
          onDone={() => {
            closeWindow()
            roles.reload()
          }}
        />
      )}
      {meant && open?.kind === 'remove' && may('delete') && (
        <Removal
          title={`Delete the role “${meant.name}”?`}
          path="/v1/role"
          id={meant.id}
          list={roles}
        >
          <p>Whoever has been given it loses what is in it.</p>
        </Removal>
      )}
    </>
  )
}

/** "read: everything; update: datasets, experiments" */
function permissionsText({ member_permissions }: Role): string {
  const types = new Map<string, string[]>()
  for (const { permission, restrict_object_type } of member_permissions ?? []) {
    const title = permissionTitle(permission)
    types.set(title, [...(types.get(title) ?? []), typeTitle(restrict_object_type)])
  }
  const byTypes = new Map<string, string[]>()
  for (const [permission, on] of types) {
    const text = on.join(', ')
    byTypes.set(text, [...(byTypes.get(text) ?? []), permission])
  }
  return [...byTypes].map(([on, given]) => `${given.join(', ')}: ${on}`).join('; ')
}

function RoleDialog({
  roles,
  role,
  onClose,
  onDone,
}: {
  readonly roles: readonly Role[]
  /** Undefined for a new one. */
  readonly role: Role | undefined
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const before = new Set((role?.member_permissions ?? []).map(keyOf))
  const rolesBefore = new Set(role?.member_roles ?? [])
  const submit = async (form: FormData) => {
    const name = textOf(form, 'name')
    const description = textOf(form, 'description')
    const after = textsOf(form, 'permissions')
    const rolesAfter = textsOf(form, 'roles')
    if (role) {
      const removed = [...before].filter((key) => !after.includes(key))
      const body = {
        name,
        description,
        add_member_permissions: after.filter((key) => !before.has(key)).map(permissionOf),
        remove_member_permissions: removed.map(permissionOf),
        add_member_roles: rolesAfter.filter((id) => !rolesBefore.has(id)),
        remove_member_roles: [...rolesBefore].filter((id) => !rolesAfter.includes(id)),
      }
      await request(`/v1/role/${role.id}`, { method: 'PATCH', body })
    } else {
      const member_permissions = after.map(permissionOf)
      const body = { name, description, member_permissions, member_roles: rolesAfter }
      await request('/v1/role', { body })
    }
    onDone()
  }
  return (
    <FormDialog
      title={role ? `Change “${role.name}”` : 'New role'}
      verb={role ? 'Save' : 'Create'}
      size="large"
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField label="Name" name="name" value={role?.name ?? ''} isRequired isFirst />
      <TextField label="What for" name="description" value={role?.description ?? ''} />
      <PermissionTable chosen={before} />
      <ChecksField
        label="Roles in it"
        name="roles"
        choices={roles
          .filter(({ id }) => id !== role?.id)
          .map(({ id, name }) => ({ value: id, label: name }))}
        chosen={rolesBefore}
      />
    </FormDialog>
  )
}

/** Each permission on everything, or on objects of one type alone. */
function PermissionTable({ chosen }: { readonly chosen: ReadonlySet<string> }) {
  return (
    <div class="list-table">
      <table aria-label="Permissions" class="permission-table">
        <thead>
          <tr>
            <th scope="col">On</th>
            {permissions.map((permission) => (
              <th key={permission} scope="col">
                {permissionTitle(permission)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {['', ...objectTypes].map((type) => (
            <tr key={type}>
              <th scope="row">{typeTitle(type)}</th>
              {permissions.map((permission) => {
                const key = `${permission}/${type}`
                return (
                  <td key={permission}>
                    <input
                      type="checkbox"
                      name="permissions"
                      value={key}
                      aria-label={`${permissionTitle(permission)} on ${typeTitle(type)}`}
                      defaultChecked={chosen.has(key)}
                    />
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function keyOf({ permission, restrict_object_type }: RolePermission): string {
  return `${permission}/${restrict_object_type ?? ''}`
}

function permissionOf(key: string): { permission: string; restrict_object_type?: string } {
  const [permission = '', type = ''] = key.split('/')
  return { permission, ...(type !== '' && { restrict_object_type: type }) }
}
