/** Grants: who may do what on what. They are given and taken, never changed. */
import { useState } from 'preact/hooks'
import { permissions } from '../../catalog/permission.ts'
import { FormDialog } from '../component/dialog.tsx'
import { ChoiceField, TextField, textOf } from '../component/field.tsx'
import { Link } from '../component/link.tsx'
import { ListTable } from '../component/list-table.tsx'
import { request, requestJson } from '../service/client.ts'
import { type GrantedById, idByName, isNamedType, loadGranted } from '../service/granted.ts'
import { useLoaded } from '../service/load.ts'
import { type Acl, type Directory, loadDirectory, nameOfUser } from '../service/people.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { objectTypes, permissionTitle, typeTitle } from './access-words.ts'
import { Removal } from './removal.tsx'
import { SettingsList } from './settings-list.tsx'
import type { SettingsProps } from './settings-parts.ts'

interface Loaded extends Directory {
  readonly acls: readonly Acl[]
  readonly granted: GrantedById
}

async function load(organization: string, signal: AbortSignal): Promise<Loaded> {
  const [directory, acls] = await Promise.all([
    loadDirectory(signal),
    requestJson<readonly Acl[]>('/v1/acl/list_org?limit=10000', { signal }),
  ])
  const granted = await loadGranted(acls, directory, organization, signal)
  return { ...directory, acls, granted }
}

export function SettingsGrants({ rights, organization }: SettingsProps) {
  const loaded = useLoaded('grants', (signal) => load(organization.name, signal))
  const { data } = loaded
  const open = openedOf('new', 'take')
  const taken = open?.kind === 'take' ? data?.acls.find(({ id }) => id === open.id) : undefined
  const may = (permission: 'create_acls' | 'delete_acls') => rights.permissions.includes(permission)
  return (
    <>
      <SettingsList
        title="Grants"
        hint="A grant counts for the object and for what is in it. Rights are only ever added."
        add={
          may('create_acls') && (
            <button type="button" class="primary" onClick={() => openWindow('new')}>
              New grant
            </button>
          )
        }
        loaded={{ ...loaded, data: data?.acls }}
        empty="Nobody has been given anything"
      >
        {(acls) => (
          <ListTable
            label="Grants"
            items={acls}
            itemId={({ id }) => id}
            columns={[
              { title: 'Who', cell: (acl) => data && whoText(acl, data) },
              { title: 'May', cell: (acl) => data && whatText(acl, data) },
              {
                title: 'On',
                cell: (acl) => data && <GrantedObject acl={acl} granted={data.granted} />,
              },
            ]}
            actions={(acl) =>
              may('delete_acls') && (
                <button
                  type="button"
                  aria-label={`Revoke that of ${data ? whoText(acl, data) : ''}`}
                  onClick={() => openWindow('take', acl.id)}
                >
                  Revoke
                </button>
              )
            }
          />
        )}
      </SettingsList>
      {data && may('create_acls') && open?.kind === 'new' && (
        <GrantDialog
          directory={data}
          organization={organization}
          onClose={closeWindow}
          onDone={() => {
            closeWindow()
            loaded.reload()
          }}
        />
      )}
      {data && taken && may('delete_acls') && (
        <Removal
          title="Revoke this grant?"
          verb="Revoke"
          path="/v1/acl"
          id={taken.id}
          list={loaded}
        >
          <p>
            {whoText(taken, data)} — {whatText(taken, data)} —{' '}
            <GrantedObject acl={taken} granted={data.granted} />
          </p>
        </Removal>
      )}
    </>
  )
}

function whoText({ user_id, group_id }: Acl, { users, groups }: Directory): string {
  if (group_id === null) return nameOfUser(users.find(({ id }) => id === user_id))
  return `group ${groups.find(({ id }) => id === group_id)?.name ?? group_id}`
}

function whatText({ permission, role_id, restrict_object_type }: Acl, { roles }: Directory) {
  const given = role_id
    ? `role ${roles.find(({ id }) => id === role_id)?.name ?? role_id}`
    : permissionTitle(permission ?? '')
  return restrict_object_type === null ? given : `${given}, for ${typeTitle(restrict_object_type)}`
}

/** One thing of a type, before its name. */
const oneOf: Readonly<Record<string, string>> = {
  project_log: 'logs of',
  prompt_session: 'playground',
}

function GrantedObject({
  acl: { object_type, object_id },
  granted,
}: {
  readonly acl: Acl
  readonly granted: GrantedById
}) {
  if (object_type === 'organization' || object_type.startsWith('org_')) {
    return typeTitle(object_type)
  }
  const named = granted.get(object_id)
  const kind = oneOf[object_type] ?? object_type.replaceAll('_', ' ')
  if (!named) return <span title="It is gone, or has no name">{`${kind} ${object_id}`}</span>
  return (
    <>
      {`${kind} `}
      {named.path === undefined ? named.name : <Link to={named.path}>{named.name}</Link>}
      {named.project !== undefined && ` in ${named.project}`}
    </>
  )
}

/** Those that need no id beside the organization's. */
const ofOrganization = objectTypes.slice(0, 4)

const others = [
  { value: 'project', label: 'a project and what is in it' },
  { value: 'project_log', label: 'the logs of a project' },
  { value: 'experiment', label: 'an experiment' },
  { value: 'dataset', label: 'a dataset' },
  { value: 'prompt', label: 'a prompt or function' },
  { value: 'prompt_session', label: 'a playground' },
  { value: 'group', label: 'a group' },
  { value: 'role', label: 'a role' },
]

function GrantDialog({
  directory,
  organization,
  onClose,
  onDone,
}: {
  readonly directory: Directory
  readonly organization: SettingsProps['organization']
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { users, groups, roles } = directory
  const [type, setType] = useState('organization')
  const [what, setWhat] = useState(roles[0] ? `role ${roles[0].id}` : 'permission read')
  const isOrganization = ofOrganization.some((each) => each === type)
  const submit = async (form: FormData) => {
    const [who = '', whoId = ''] = textOf(form, 'who').split(' ')
    const [kind = '', given = ''] = what.split(' ')
    const restricted = textOf(form, 'restricted')
    const object = textOf(form, 'object')
    const body = {
      object_type: type,
      object_id: isOrganization
        ? organization.id
        : isNamedType(type)
          ? await idByName(type, object, textOf(form, 'name'))
          : object,
      [who === 'group' ? 'group_id' : 'user_id']: whoId,
      [kind === 'role' ? 'role_id' : 'permission']: given,
      ...(kind === 'permission' && restricted !== '' && { restrict_object_type: restricted }),
    }
    await request('/v1/acl', { body })
    onDone()
  }
  return (
    <FormDialog title="New grant" verb="Give" onClose={onClose} onSubmit={submit}>
      <ChoiceField
        label="Who"
        name="who"
        choices={[
          ...groups.map(({ id, name }) => ({ value: `group ${id}`, label: `Group ${name}` })),
          ...users.map((user) => ({ value: `user ${user.id}`, label: nameOfUser(user) })),
        ]}
      />
      <ChoiceField
        label="May"
        name="what"
        value={what}
        onChange={setWhat}
        choices={[
          ...roles.map(({ id, name }) => ({ value: `role ${id}`, label: `Role ${name}` })),
          ...permissions.map((each) => ({
            value: `permission ${each}`,
            label: permissionTitle(each),
          })),
        ]}
      />
      {what.startsWith('permission') && (
        <ChoiceField
          label="Applies to"
          name="restricted"
          choices={['', ...objectTypes].map((each) => ({ value: each, label: typeTitle(each) }))}
        />
      )}
      <ChoiceField
        label="On"
        name="type"
        value={type}
        onChange={setType}
        choices={[
          ...ofOrganization.map((each) => ({ value: each, label: typeTitle(each) })),
          ...others,
        ]}
      />
      {!isOrganization && <ObjectFields key={type} type={type} directory={directory} />}
    </FormDialog>
  )
}

/** Says which one of a type is meant. */
function ObjectFields({
  type,
  directory: { projects, groups, roles },
}: {
  readonly type: string
  readonly directory: Directory
}) {
  if (type === 'prompt_session') return <TextField label="Its id" name="object" isRequired />
  const [label, listed] =
    type === 'group' ? ['Group', groups] : type === 'role' ? ['Role', roles] : ['Project', projects]
  return (
    <>
      <ChoiceField
        label={label}
        name="object"
        choices={listed.map(({ id, name }) => ({ value: id, label: name }))}
      />
      {isNamedType(type) && <TextField label="Its name" name="name" isRequired />}
    </>
  )
}
