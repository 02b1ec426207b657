/** Organizations, people, their keys, and what they may do. */
import { z } from 'zod'
import { accessTypes, permissions } from '../permission.ts'
import { fields, identifier, identifiers, name, shortText, text, timestamp } from './field.ts'

export const permission = z.enum(permissions)

export const aclObjectType = z.enum(accessTypes)

export const imageRenderingMode = z.enum(['auto', 'click_to_load', 'blocked'])

export const organizationSchema = z
  .object({
    id: identifier,
    name,
    api_url: shortText.nullable(),
    is_universal_api: z.boolean().nullable(),
    is_dataplane_private: z.boolean().nullable(),
    proxy_url: shortText.nullable(),
    realtime_url: shortText.nullable(),
    created: timestamp.nullable(),
    image_rendering_mode: imageRenderingMode.nullable(),
  })
  .meta({ id: 'Organization' })

export const organizationPatch = z.object({
  name: name.nullish(),
  api_url: shortText.nullish(),
  is_universal_api: z.boolean().nullish(),
  is_dataplane_private: z.boolean().nullish(),
  proxy_url: shortText.nullish(),
  realtime_url: shortText.nullish(),
  image_rendering_mode: imageRenderingMode.nullish(),
})

export const userSchema = z
  .object({
    id: identifier,
    given_name: shortText.nullable(),
    family_name: shortText.nullable(),
    email: shortText.nullable(),
    avatar_url: shortText.nullable(),
    created: timestamp.nullable(),
  })
  .meta({ id: 'User' })

/** Somebody who may be in several organizations, of which none shows in another. */
export const userEntry = z.object({
  id: identifier,
  email: shortText.nullable(),
  /** No person, but a program; it is in one organization. */
  is_service_account: z.boolean(),
  created: timestamp.nullable(),
})

/** That a user is in an organization, and by which name. That of a program is its `given_name`. */
export const memberEntry = z.object({
  id: identifier,
  org_id: identifier,
  user_id: identifier,
  given_name: shortText.nullable(),
  family_name: shortText.nullable(),
  avatar_url: shortText.nullable(),
  created: timestamp.nullable(),
  /** Whether texts of searches are taken for queries where they can be: yes if it is not set. */
  query_language: z.boolean().nullable(),
  /** Groups that the member is in because the provider of its identity says so. */
  provider_groups: identifiers.nullable(),
})

export const apiKeySchema = z
  .object({
    id: identifier,
    created: timestamp.nullable(),
    name,
    preview_name: shortText,
    user_id: identifier.nullable(),
    user_email: shortText.nullable(),
    user_given_name: shortText.nullable(),
    user_family_name: shortText.nullable(),
    org_id: identifier.nullable(),
    /** When it was last used, to the minute. */
    used: timestamp.nullable(),
    /** From then on it opens nothing; never, if not set. */
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' })

/** About as long as timestamps go on. */
const mostSeconds = 250_000_000_000

const givenExpiry = {
  expires_at: timestamp.nullish(),
  token_expires_in_seconds: z.number().min(0).max(mostSeconds).nullish(),
}

export const newApiKey = z.object({ name, org_name: name.nullish(), ...givenExpiry })

export const createdApiKey = apiKeySchema.extend({ key: shortText })

/** A key's text is not in it, only the SHA-256 of it in hexadecimal. */
export const apiKeyEntry = z.object({
  id: identifier,
  org_id: identifier,
  user_id: identifier,
  name,
  preview_name: shortText,
  hash: z.string(),
  created: timestamp.nullable(),
  used: timestamp.nullable(),
  expires_at: timestamp.nullable(),
})

export const serviceTokenSchema = z
  .object({
    id: identifier,
    created: timestamp.nullable(),
    name,
    preview_name: shortText,
    service_account_id: identifier.nullable(),
    service_account_email: shortText.nullable(),
    service_account_name: shortText.nullable(),
    org_id: identifier.nullable(),
    used: timestamp.nullable(),
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'ServiceToken' })

export const createdServiceToken = serviceTokenSchema.extend({ key: shortText })

export const namedServiceToken = z.object({ id: identifier })

export const newServiceToken = z.object({
  name,
  service_account_id: identifier,
  org_name: name.nullish(),
  ...givenExpiry,
})

/** As an API key, but of a service account. */
export const serviceTokenEntry = z.object({
  id: identifier,
  org_id: identifier,
  service_account_id: identifier,
  name,
  preview_name: shortText,
  hash: z.string(),
  created: timestamp.nullable(),
  used: timestamp.nullable(),
  expires_at: timestamp.nullable(),
})

/** That somebody is signed in at the web page. Its text is not in it, only the SHA-256 of it. */
export const sessionEntry = z.object({
  id: identifier,
  org_id: identifier,
  user_id: identifier,
  /** The key that was signed in with. */
  key_id: identifier.nullable(),
  hash: z.string(),
  expires: timestamp,
  /** What a provider said of the person, encrypted: it is shown to it when they sign out. */
  id_token: z.string().nullable(),
  created: timestamp.nullable(),
})

/**
 * Whom a provider of OpenID Connect means by a subject. It stays when its user is removed from an organization,
 * so that they do not come back as somebody new; an invitation ends it.
 */
export const identityEntry = z.object({
  id: identifier,
  user_id: identifier,
  issuer: z.string(),
  subject: z.string(),
  created: timestamp.nullable(),
})

/** By which a member signs in to one organization: what scrypt made of it, in base64. */
export const passwordEntry = z.object({
  id: identifier,
  org_id: identifier,
  user_id: identifier,
  salt: z.string(),
  hash: z.string(),
  created: timestamp.nullable(),
})

export const memberPermission = z.object({
  permission,
  restrict_object_type: aclObjectType.nullish(),
})

const memberPermissions = z.array(memberPermission).max(1000)

/** A role of no organization is built in: everybody may give it and nobody change it. */
export const roleSchema = z
  .object({
    id: identifier,
    org_id: identifier.nullable(),
    user_id: identifier.nullable(),
    created: timestamp.nullable(),
    name,
    description: text.nullable(),
    deleted_at: timestamp.nullable(),
    member_permissions: memberPermissions.nullable(),
    member_roles: identifiers.nullable(),
  })
  .meta({ id: 'Role' })

export const newRole = z.object({
  name,
  description: text.nullish(),
  member_permissions: memberPermissions.nullish(),
  member_roles: identifiers.nullish(),
  org_name: name.nullish(),
})

export const rolePatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  add_member_permissions: memberPermissions.nullish(),
  remove_member_permissions: memberPermissions.nullish(),
  add_member_roles: identifiers.nullish(),
  remove_member_roles: identifiers.nullish(),
})

export const groupSchema = z
  .object({
    id: identifier,
    org_id: identifier,
    user_id: identifier.nullable(),
    created: timestamp.nullable(),
    name,
    description: text.nullable(),
    deleted_at: timestamp.nullable(),
    member_users: identifiers.nullable(),
    member_groups: identifiers.nullable(),
  })
  .meta({ id: 'Group' })

export const newGroup = z.object({
  name,
  description: text.nullish(),
  member_users: identifiers.nullish(),
  member_groups: identifiers.nullish(),
  org_name: name.nullish(),
})

export const groupPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  add_member_users: identifiers.nullish(),
  remove_member_users: identifiers.nullish(),
  add_member_groups: identifiers.nullish(),
  remove_member_groups: identifiers.nullish(),
})

/** Gives a user or a group one permission, or those of a role, on an object and what is in it. */
export const aclSchema = z
  .object({
    id: identifier,
    object_type: aclObjectType,
    object_id: identifier,
    user_id: identifier.nullable(),
    group_id: identifier.nullable(),
    permission: permission.nullable(),
    restrict_object_type: aclObjectType.nullable(),
    role_id: identifier.nullable(),
    _object_org_id: identifier,
    created: timestamp.nullable(),
  })
  .meta({ id: 'Acl' })

export const aclItem = z
  .object({
    object_type: aclObjectType,
    object_id: identifier,
    user_id: identifier.nullish(),
    group_id: identifier.nullish(),
    permission: permission.nullish(),
    restrict_object_type: aclObjectType.nullish(),
    role_id: identifier.nullish(),
  })
  .meta({ id: 'AclItem' })

export const aclBatchUpdate = z.object({
  add_acls: z.array(aclItem).max(10_000).nullish(),
  remove_acls: z.array(aclItem).max(10_000).nullish(),
})

const emails = z.array(z.email().max(320)).max(1000)

export const membersPatch = z.object({
  invite_users: z
    .object({
      ids: identifiers.nullish(),
      emails: emails.nullish(),
      service_accounts: z
        .array(z.object({ name, token_name: name.nullish(), ...givenExpiry }))
        .max(1000)
        .nullish(),
      send_invite_emails: z.boolean().nullish(),
      group_ids: identifiers.nullish(),
      group_names: z.array(name).max(1000).nullish(),
      group_id: identifier.nullish(),
      group_name: name.nullish(),
    })
    .nullish(),
  remove_users: z.object({ ids: identifiers.nullish(), emails: emails.nullish() }).nullish(),
  org_name: name.nullish(),
  org_id: identifier.nullish(),
})

export const membersAnswer = z.object({
  status: z.literal('success'),
  org_id: identifier,
  send_email_error: text.nullish(),
  added_users: z.array(fields).nullish(),
})
