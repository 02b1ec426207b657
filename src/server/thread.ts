/**
 * The conversation that a trace had with models: the messages of its calls in order, each once. A call
 * repeats what was said before it, so a message counts as new only as far as it comes more often in
 * this call than in all that was found until then.
 */
import type { Gate } from '../access/gate.ts'
import type { Fields } from '../catalog/schema/field.ts'
import type { Engine } from '../engine.ts'
import { printString } from '../parser/print.ts'
import { isJsonObject, writeExactJson } from '../type/exact-json.ts'
import { queryRows } from './query-rows.ts'

/** Which trace: `project_logs`, an id, and the span that it begins with. */
export interface TraceReference {
  readonly objectType: 'project_logs' | 'experiment' | 'playground_logs' | 'dataset'
  readonly objectId: string
  readonly rootSpanId: string
}

/** Who asks, and until when. */
export interface ThreadRequest {
  readonly engine: Engine
  readonly gate: Gate
  readonly signal: AbortSignal
}

export interface Message extends Fields {
  readonly role: string
}

/** Calls that are read, from the first. */
const mostCalls = 1000

export async function threadOf(
  { engine, gate, signal }: ThreadRequest,
  { objectType, objectId, rootSpanId }: TraceReference,
): Promise<Message[]> {
  const read = (condition: string) =>
    queryRows(engine, {
      query:
        `select: input, output | from: ${objectType}(${printString(objectId)}) spans ` +
        `| filter: root_span_id = ${printString(rootSpanId)} and (${condition}) ` +
        `| sort: metrics.start, created | limit: ${mostCalls}`,
      view: gate,
      signal,
    })
  const calls = await read(
    "span_attributes.type = 'llm' and " +
      "(span_attributes.purpose is null or span_attributes.purpose != 'scorer')",
  )
  // Without any call, what went into the trace and came out of it.
  return joined(calls.length > 0 ? calls : await read('is_root'))
}

function joined(calls: readonly Fields[]): Message[] {
  const thread: Message[] = []
  const said = new Map<string, number>()
  for (const { input, output } of calls) {
    const repeated = new Map<string, number>()
    for (const message of [...messagesOf(input, 'user'), ...messagesOf(output, 'assistant')]) {
      const key = JSON.stringify([message.role, message.content, message.tool_calls])
      const count = (repeated.get(key) ?? 0) + 1
      repeated.set(key, count)
      if (count <= (said.get(key) ?? 0)) continue
      said.set(key, count)
      thread.push(message)
    }
  }
  return thread
}

/** The messages in what a call was given or gave: a list, one of them, choices of an answer, or a text. */
function messagesOf(value: unknown, role: string): Message[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((item: unknown) => messagesOf(item, role))
  if (!isJsonObject(value)) return [{ role, content: value }]
  const fields: Fields = value
  const inner = fields.messages ?? fields.choices ?? fields.message
  if (typeof inner === 'object' && inner !== null) return messagesOf(inner, role)
  if (typeof fields.role === 'string') return [fields as Message]
  return [{ role, ...('content' in fields ? fields : { content: writeExactJson(fields) }) }]
}
