/** A query as lines of code to paste: each runs it as it is written, with a key of one's own. */

export interface CodeRequest {
  /** Where the service is: `https://example.com/assay`. */
  readonly url: string
  readonly query: string
  /** Minutes behind UTC of the person's clock. */
  readonly tzOffset: number
  /** Name of the project that sources without an id are of, if the query has any. */
  readonly project?: string | undefined
}

export const codeForms = ['curl', 'TypeScript', 'Python'] as const

export type CodeForm = (typeof codeForms)[number]

/** All of them take the key from the environment: none is put into a text that is passed on. */
export function codeFor(form: CodeForm, request: CodeRequest): string {
  switch (form) {
    case 'curl':
      return curl(request)
    case 'TypeScript':
      return typescript(request)
    case 'Python':
      return python(request)
  }
}

function curl({ url, query, tzOffset, project }: CodeRequest): string {
  const body = JSON.stringify({ query, tz_offset: tzOffset, project_name: project }, undefined, 2)
  return [
    `curl ${inShell(`${url}/btql`)} \\`,
    `  --fail-with-body --silent --show-error \\`,
    `  --header "Authorization: Bearer $ASSAY_API_KEY" \\`,
    `  --header 'Content-Type: application/json' \\`,
    `  --data-raw ${inShell(body)}`,
    '',
  ].join('\n')
}

/** In single quotes a shell takes everything as it is, but for those quotes themselves. */
function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function typescript({ url, query, tzOffset, project }: CodeRequest): string {
  const place = project === undefined ? '' : `, project_name: ${JSON.stringify(project)}`
  return `const query = ${inTemplate(query)}

const response = await fetch(${JSON.stringify(`${url}/btql`)}, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.ASSAY_API_KEY}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify({ query, tz_offset: ${tzOffset}${place} }),
})
if (!response.ok) throw new Error(await response.text())
const { data } = (await response.json()) as { data: Record<string, unknown>[] }
console.log(data)
`
}

/** A template keeps the lines of a query; carriage returns would become line feeds in one. */
function inTemplate(text: string): string {
  const escaped = text.replace(/[\\`]|\$\{/g, '\\$&').replaceAll('\r', '\\r')
  return `\`${escaped}\``
}

function python({ url, query, tzOffset, project }: CodeRequest): string {
  const place = project === undefined ? '' : `, "project_name": ${inPython(project)}`
  const lines = query.split(/(?<=\n)/).map((line) => `    ${inPython(line)}`)
  return `import json
import os
import urllib.request

query = (
${lines.join('\n')}
)

request = urllib.request.Request(
    ${inPython(`${url}/btql`)},
    data=json.dumps({"query": query, "tz_offset": ${tzOffset}${place}}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["ASSAY_API_KEY"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    rows = json.load(response)["data"]
print(rows)
`
}

/** The escapes of JSON mean the same in Python; it has no halves of surrogate pairs to escape here. */
function inPython(text: string): string {
  return JSON.stringify(text)
}
