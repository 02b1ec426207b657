/** The API document for people, as HTML. All of its text is escaped. */
import { documentAddress } from '../docs/document-shell.ts'
import { escapeHtml } from '../escape-html.ts'
import type { ApiDocument } from './api-document.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly items?: Schema
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: Schema
}

interface Operation {
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly deprecated?: boolean
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: { readonly [status: string]: Content }
}

interface Content {
  readonly content?: { readonly [type: string]: { readonly schema?: Schema } }
}

/** What is inside its page. */
export function apiDocumentHtml(document: ApiDocument): string {
  const byTag = new Map<string, string[]>()
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(item as Record<string, Operation>)) {
      const tag = operation.tags?.[0] ?? 'other'
      const others = byTag.get(tag) ?? []
      byTag.set(tag, [...others, operationBlock(method, path, operation)])
    }
  }
  const schemas = Object.entries((document.components?.schemas ?? {}) as Record<string, Schema>)
  const parts = [...byTag].map(([tag, blocks]) => `<h2>${escapeHtml(tag)}</h2>${blocks.join('')}`)
  const shapes = schemas.map(
    ([name, schema]) =>
      `<details id="${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>` +
      `<pre>${shape(schema, 0)}</pre></details>`,
  )
  const { title, version } = document.info
  return (
    `<h1>${escapeHtml(title)} API</h1><p>Version ${escapeHtml(version)}. ` +
    'For programs: <a href="openapi.json">openapi.json</a>. Requests carry ' +
    '<code>Authorization: Bearer &lt;key&gt;</code>.</p>' +
    `${parts.join('')}<h2>Shapes</h2>${shapes.join('')}`
  )
}

function operationBlock(method: string, path: string, operation: Operation): string {
  const { summary = '', deprecated, parameters = [], requestBody, responses } = operation
  const rows = parameters.map(
    ({ name, in: place, required, schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code><td>${escapeHtml(place)}${required ? ', required' : ''}` +
      `<td><code>${shape(schema ?? {}, 0)}</code>`,
  )
  return (
    `<details${deprecated ? ' class="deprecated"' : ''}><summary>` +
    `<code>${escapeHtml(method.toUpperCase())} ${escapeHtml(path)}</code> ${proseOf(summary)}` +
    `${deprecated ? ' (deprecated)' : ''}</summary>` +
    (rows.length > 0 ? `<h4>Parameters</h4><table>${rows.join('')}</table>` : '') +
    contentBlock('Body', requestBody) +
    contentBlock('Answer', responses['200']) +
    '</details>'
  )
}

/** What stands between backticks is code. */
function proseOf(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function contentBlock(title: string, content: Content | undefined): string {
  const [entry] = Object.entries(content?.content ?? {})
  if (!entry) return ''
  const [type, { schema = {} }] = entry
  return `<h4>${title} <small>${escapeHtml(type)}</small></h4><pre>${shape(schema, 0)}</pre>`
}

/** A schema as one would write the type: `{ name: string, tags?: string[] | null }`. */
function shape(schema: Schema, depth: number): string {
  const { $ref, type, properties, items } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return `<a href="${documentAddress('api', name)}">${escapeHtml(name)}</a>`
  }
  if (schema.const !== undefined) return escapeHtml(JSON.stringify(schema.const))
  if (schema.enum) return schema.enum.map((one) => escapeHtml(JSON.stringify(one))).join(' | ')
  if (properties) return objectShape(properties, schema.required ?? [], depth)
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) return forms.map((form) => shape(form, depth)).join(' | ')
  if (schema.allOf) return schema.allOf.map((form) => shape(form, depth)).join(' &amp; ')
  if (items) return `${shape(items, depth)}[]`
  if (typeof schema.additionalProperties === 'object') {
    return `{ [name]: ${shape(schema.additionalProperties, depth)} }`
  }
  const names = typeof type === 'string' ? [type] : (type ?? ['any'])
  const format = schema.format === undefined ? '' : ` (${escapeHtml(schema.format)})`
  return `${names.map(escapeHtml).join(' | ')}${format}`
}

function objectShape(
  properties: { readonly [name: string]: Schema },
  required: readonly string[],
  depth: number,
): string {
  const indent = '  '.repeat(depth + 1)
  const lines = Object.entries(properties).map(
    ([name, schema]) =>
      `${indent}${escapeHtml(name)}${required.includes(name) ? '' : '?'}: ${shape(schema, depth + 1)}`,
  )
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`
}
