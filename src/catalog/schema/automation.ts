/** What a project is to do by itself. Of the configurations, those of retention and of exports are carried out; the others are stored. */
import { z } from 'zod'
import { fields, identifier, name, openUnion, shortText, text, timestamp, word } from './field.ts'

const status = word

const interval = z.number().min(1).max(2_592_000)

const action = openUnion('type', [
  z.looseObject({ type: z.literal('webhook'), url: text }),
  z.looseObject({
    type: z.literal('slack'),
    workspace_id: shortText,
    channel: shortText,
    message_template: text.optional(),
  }),
])

const exported = openUnion('type', [
  z.looseObject({ type: z.literal('log_traces') }),
  z.looseObject({ type: z.literal('log_spans') }),
  z.looseObject({ type: z.literal('btql_query'), btql_query: text }),
])

const credentials = openUnion('type', [
  /** Those that the service has itself. */
  z.looseObject({ type: z.literal('service') }),
  z.looseObject({ type: z.literal('aws_iam'), role_arn: shortText, external_id: shortText }),
  z.looseObject({
    type: z.literal('gcp_service_account'),
    service_account_email: shortText,
  }),
])

const recordType = word

/** Which records of a project leave; `src/docs/retention.md` tells what each field does. */
export const retentionConfiguration = z.looseObject({
  event_type: z.literal('retention'),
  status: status.optional(),
  object_type: recordType,
  retention_days: z.number().min(0),
  retention_count: z.int().min(0).nullish(),
  retention_bytes: z.number().min(0).nullish(),
  keep_filter: text.nullish(),
  hold_tags: z.array(shortText).max(100).nullish(),
  old_versions_days: z.number().min(0).nullish(),
})

/** What leaves a project by itself, and where to; `src/docs/export.md` tells what each field does. */
export const exportConfiguration = z.looseObject({
  event_type: z.literal('btql_export'),
  status: status.optional(),
  export_definition: exported,
  scope: fields.nullish(),
  export_path: text,
  format: word,
  compression: word.nullish(),
  interval_seconds: interval,
  credentials,
  batch_size: z.number().nullish(),
})

export const automationConfiguration = openUnion('event_type', [
  z.looseObject({
    event_type: z.literal('logs'),
    btql_filter: text,
    interval_seconds: interval,
    action,
  }),
  exportConfiguration,
  z.looseObject({
    event_type: z.literal('async_query'),
    status: status.optional(),
    created_by_user_id: identifier,
    object_type: recordType,
    object_id: shortText,
    query: text,
    format: word,
    batch_size: z.int().min(0).max(100_000).nullish(),
  }),
  retentionConfiguration,
  z.looseObject({
    event_type: z.literal('environment_update'),
    environment_filter: z.array(shortText).max(1000).optional(),
    action,
  }),
  z.looseObject({ event_type: z.literal('topic'), sampling_rate: z.number().min(0).max(1) }),
  z.looseObject({ event_type: z.literal('topic_digest'), window_seconds: z.number().min(0) }),
])

export const projectAutomationSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    user_id: identifier.nullable(),
    created: timestamp.nullable(),
    name,
    description: text.nullable(),
    config: automationConfiguration,
  })
  .meta({ id: 'ProjectAutomation' })

export const newProjectAutomation = z.object({
  project_id: identifier,
  name,
  description: text.nullish(),
  config: automationConfiguration,
})

export const projectAutomationPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  config: automationConfiguration.nullish(),
})

/** The same for all projects of an organization. */
export const organizationAutomationSchema = z
  .object({
    id: identifier,
    org_id: identifier,
    user_id: identifier.nullable(),
    created: timestamp.nullable(),
    name,
    description: text.nullable(),
    config: automationConfiguration,
  })
  .meta({ id: 'OrgAutomation' })

export const newOrganizationAutomation = z.object({
  org_id: identifier.nullish(),
  org_name: name.nullish(),
  name,
  description: text.nullish(),
  config: automationConfiguration,
})

export const organizationAutomationPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  config: automationConfiguration.nullish(),
})
