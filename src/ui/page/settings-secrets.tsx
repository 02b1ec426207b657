/** Environment variables and keys of model providers: what they hold goes in and is never shown again. */
import { FormDialog } from '../component/dialog.tsx'
import { LongTextField, TextField, textOf } from '../component/field.tsx'
import { LineAction, ListTable } from '../component/list-table.tsx'
import { When } from '../component/when.tsx'
import { request, requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { Removal } from './removal.tsx'
import { SettingsList } from './settings-list.tsx'
import type { SettingsProps } from './settings-parts.ts'

interface Secret {
  readonly id: string
  readonly name: string
  /** Of a key: whose it is, such as `openai`. */
  readonly type?: string | null
  readonly preview_secret: string | null
  readonly secret_updated_at: string | null
}

/** The two kinds differ in little. */
interface SecretKind {
  readonly title: string
  readonly one: string
  readonly path: string
  readonly list: string
  readonly hint: string
  readonly placeholder: string
  readonly hasType: boolean
  /** What its windows are called in the address. */
  readonly opens: { readonly put: string; readonly remove: string }
  bodyOf(name: string, text: string, type: string): object
}

export function SettingsSecrets({ rights, organization }: SettingsProps) {
  const mayChange = rights.permissions.includes('update')
  const owner = `object_type=organization&object_id=${organization.id}`
  return (
    <>
      {rights.permissions.includes('read') && (
        <Secrets
          mayChange={mayChange}
          kind={{
            title: 'Environment variables',
            one: 'variable',
            path: '/v1/env_var',
            list: `/v1/env_var?${owner}`,
            hint: 'Of the organization. They are kept encrypted.',
            placeholder: 'DATABASE_URL',
            hasType: false,
            opens: { put: 'variable', remove: 'remove-variable' },
            bodyOf: (name, value) => {
              return { object_type: 'organization', object_id: organization.id, name, value }
            },
          }}
        />
      )}
      <Secrets
        mayChange={mayChange}
        kind={{
          title: 'AI secrets',
          one: 'AI secret',
          path: '/v1/ai_secret',
          list: '/v1/ai_secret',
          hint: 'Keys of model providers. They are kept encrypted.',
          placeholder: 'OPENAI_API_KEY',
          hasType: true,
          opens: { put: 'secret', remove: 'remove-secret' },
          bodyOf: (name, secret, type) => ({ name, secret, ...(type !== '' && { type }) }),
        }}
      />
    </>
  )
}

function Secrets({ kind, mayChange }: { readonly kind: SecretKind; readonly mayChange: boolean }) {
  const { title, one, path, list, hint, placeholder, hasType } = kind
  const loaded = useLoaded(list, async (signal) => {
    return (await requestJson<{ objects: readonly Secret[] }>(list, { signal })).objects
  })
  const open = mayChange ? openedOf(kind.opens.put, kind.opens.remove) : undefined
  const meant = loaded.data?.find(({ id }) => id === open?.id)
  const isPut = open?.kind === kind.opens.put && (open.id === '' || meant !== undefined)
  return (
    <>
      <SettingsList
        title={title}
        hint={hint}
        add={
          mayChange && (
            <button type="button" class="primary" onClick={() => openWindow(kind.opens.put)}>
              New {one}
            </button>
          )
        }
        loaded={loaded}
        empty="There are none yet"
      >
        {(secrets) => (
          <ListTable
            label={title}
            items={secrets}
            itemId={({ id }) => id}
            columns={[
              { title: 'Name', cell: ({ name }) => <code>{name}</code> },
              ...(hasType ? [{ title: 'For', cell: ({ type }: Secret) => type ?? '' }] : []),
              { title: 'Value', cell: ({ preview_secret }) => preview_secret ?? 'none' },
              { title: 'Set', cell: ({ secret_updated_at }) => <When at={secret_updated_at} /> },
            ]}
            actions={
              mayChange
                ? (secret) => (
                    <>
                      <LineAction
                        verb="Replace"
                        of={secret.name}
                        onChoose={() => openWindow(kind.opens.put, secret.id)}
                      />
                      <LineAction
                        verb="Delete"
                        of={secret.name}
                        onChoose={() => openWindow(kind.opens.remove, secret.id)}
                      />
                    </>
                  )
                : undefined
            }
          />
        )}
      </SettingsList>
      {isPut && (
        <FormDialog
          title={meant ? `Replace ${meant.name}` : `New ${one}`}
          verb="Save"
          onClose={closeWindow}
          onSubmit={async (form) => {
            const name = meant?.name ?? textOf(form, 'name')
            const text = String(form.get('value') ?? '')
            const body = kind.bodyOf(name, text, textOf(form, 'type') || (meant?.type ?? ''))
            await request(path, { method: 'PUT', body })
            closeWindow()
            loaded.reload()
          }}
        >
          {!meant && (
            <TextField label="Name" name="name" isRequired isFirst placeholder={placeholder} />
          )}
          {hasType && !meant && (
            <TextField label="For" name="type" placeholder="openai" hint="The provider." />
          )}
          <LongTextField
            label="Value"
            name="value"
            rows={2}
            isRequired
            hint="It cannot be read again, only replaced."
          />
        </FormDialog>
      )}
      {meant && open?.kind === kind.opens.remove && (
        <Removal title={`Delete “${meant.name}”?`} path={path} id={meant.id} list={loaded}>
          <p>What uses it fails from now on. The value cannot be brought back.</p>
        </Removal>
      )}
    </>
  )
}
