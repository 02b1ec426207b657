/** Prompts and functions. Both are rows of a project's `project_prompts`: a prompt is a function. */
import { z } from 'zod'
import { aclObjectType } from './access.ts'
import {
  fields,
  identifier,
  name,
  openUnion,
  shortText,
  slug,
  tags,
  text,
  timestamp,
  word,
} from './field.ts'

/** `llm`, `scorer`, `task`, `tool`, … */
export const functionType = word

export const savedFunction = openUnion('type', [
  z.looseObject({ type: z.literal('function'), id: shortText, version: shortText.optional() }),
  z.looseObject({
    type: z.literal('global'),
    name: shortText,
    function_type: functionType.optional(),
  }),
])

export const functionReference = savedFunction

const longPrompt = z.string().max(4 * 2 ** 20)

/** Messages are stored as they come: providers add to their form all the time. */
const promptBlock = openUnion('type', [
  z.looseObject({
    type: z.literal('chat'),
    messages: z.array(z.looseObject({ role: shortText })).max(10_000),
    tools: longPrompt.optional(),
  }),
  z.looseObject({ type: z.literal('completion'), content: longPrompt }),
])

const toolServer = openUnion('type', [
  z.looseObject({
    type: z.literal('id'),
    id: identifier,
    is_disabled: z.boolean().optional(),
    enabled_tools: z.array(shortText).max(10_000).nullish(),
  }),
  z.looseObject({
    type: z.literal('url'),
    url: text,
    is_disabled: z.boolean().optional(),
    enabled_tools: z.array(shortText).max(10_000).nullish(),
  }),
])

/** Keys that are not named here are kept as well. */
export const promptData = z
  .looseObject({
    prompt: promptBlock.nullish(),
    options: z
      .looseObject({
        model: shortText.nullish(),
        params: fields.nullish(),
        position: shortText.nullish(),
      })
      .nullish(),
    parser: openUnion('type', [
      z.looseObject({
        type: z.literal('llm_classifier'),
        use_cot: z.boolean(),
        choice_scores: z.record(text, z.number().min(0).max(1)).optional(),
        choice: z.array(text).max(10_000).optional(),
        allow_no_match: z.boolean().optional(),
      }),
    ]).nullish(),
    tool_functions: z.array(functionReference).max(1000).nullish(),
    template_format: word.nullish(),
    mcp: z.record(shortText, toolServer).nullish(),
    origin: z
      .looseObject({
        prompt_id: shortText.optional(),
        project_id: shortText.optional(),
        prompt_version: shortText.optional(),
      })
      .nullish(),
  })
  .meta({ id: 'PromptData' })

/** What runs: `prompt`, `code`, `graph`, …. Only its type is looked at: nothing of it is run here. */
export const functionData = z.looseObject({ type: word }).meta({ id: 'FunctionData' })

/** In the oldest clients' form: any further key makes them refuse the prompt. */
export const promptSchema = z
  .object({
    id: identifier,
    _xact_id: shortText,
    project_id: identifier,
    log_id: z.literal('p'),
    org_id: identifier,
    name,
    slug,
    description: text.nullable(),
    created: timestamp.nullable(),
    prompt_data: promptData.nullable(),
    tags: tags.nullable(),
    metadata: fields.nullable(),
  })
  .meta({ id: 'Prompt' })

export const newPrompt = z.object({
  project_id: identifier,
  name,
  slug,
  description: text.nullish(),
  prompt_data: promptData.nullish(),
  tags: tags.nullish(),
  metadata: fields.nullish(),
  function_type: functionType.nullish(),
})

export const promptPatch = z.object({
  name: name.nullish(),
  slug: slug.nullish(),
  description: text.nullish(),
  prompt_data: promptData.nullish(),
  tags: tags.nullish(),
  metadata: fields.nullish(),
})

const origin = z.looseObject({
  object_type: aclObjectType,
  object_id: identifier,
  internal: z.boolean().nullish(),
})

const functionSchemas = z.looseObject({
  parameters: z.unknown().optional(),
  returns: z.unknown().optional(),
})

export const functionSchema = promptSchema
  .extend({
    function_type: functionType.nullable(),
    function_data: functionData,
    origin: origin.nullable(),
    function_schema: functionSchemas.nullable(),
  })
  .meta({ id: 'Function' })

export const newFunction = newPrompt.extend({
  function_data: functionData,
  origin: origin.nullish(),
  function_schema: functionSchemas.nullish(),
})

export const functionPatch = z.object({
  name: name.nullish(),
  slug: slug.nullish(),
  description: text.nullish(),
  prompt_data: promptData.nullish(),
  function_data: functionData.nullish(),
  tags: tags.nullish(),
  metadata: fields.nullish(),
})
