/**
 * The messages of the OpenTelemetry Protocol that carry traces and logs, as far as they are read: numbers
 * and types of fields as the public schema (opentelemetry-proto 1.x) has them. Messages that may be
 * damaged without harm to others are bytes here, and decoded one by one; values are read by `any-value.ts`.
 */
import protobuf from 'protobufjs/light.js'

const root = protobuf.Root.fromJSON({
  nested: {
    ExportTraceServiceRequest: {
      fields: { resourceSpans: { rule: 'repeated', type: 'ResourceSpans', id: 1 } },
    },
    ExportLogsServiceRequest: {
      fields: { resourceLogs: { rule: 'repeated', type: 'ResourceLogs', id: 1 } },
    },
    // The answers to both have the same numbers; only in JSON the count is called by what was rejected.
    ExportServiceResponse: {
      fields: { partialSuccess: { type: 'PartialSuccess', id: 1 } },
    },
    PartialSuccess: {
      fields: {
        rejected: { type: 'int64', id: 1 },
        errorMessage: { type: 'string', id: 2 },
      },
    },
    ResourceSpans: {
      fields: {
        resource: { type: 'bytes', id: 1 },
        scopeSpans: { rule: 'repeated', type: 'ScopeSpans', id: 2 },
      },
    },
    ResourceLogs: {
      fields: {
        resource: { type: 'bytes', id: 1 },
        scopeLogs: { rule: 'repeated', type: 'ScopeLogs', id: 2 },
      },
    },
    Resource: { fields: { attributes: { rule: 'repeated', type: 'KeyValue', id: 1 } } },
    ScopeSpans: {
      fields: {
        scope: { type: 'bytes', id: 1 },
        spans: { rule: 'repeated', type: 'bytes', id: 2 },
      },
    },
    ScopeLogs: {
      fields: {
        scope: { type: 'bytes', id: 1 },
        logRecords: { rule: 'repeated', type: 'bytes', id: 2 },
      },
    },
    Scope: {
      fields: { name: { type: 'string', id: 1 }, version: { type: 'string', id: 2 } },
    },
    Span: {
      fields: {
        traceId: { type: 'bytes', id: 1 },
        spanId: { type: 'bytes', id: 2 },
        parentSpanId: { type: 'bytes', id: 4 },
        name: { type: 'string', id: 5 },
        kind: { type: 'int32', id: 6 },
        startTimeUnixNano: { type: 'fixed64', id: 7 },
        endTimeUnixNano: { type: 'fixed64', id: 8 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 9 },
        events: { rule: 'repeated', type: 'Event', id: 11 },
        links: { rule: 'repeated', type: 'Link', id: 13 },
        status: { type: 'Status', id: 15 },
      },
    },
    Event: {
      fields: {
        timeUnixNano: { type: 'fixed64', id: 1 },
        name: { type: 'string', id: 2 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 3 },
      },
    },
    Link: {
      fields: {
        traceId: { type: 'bytes', id: 1 },
        spanId: { type: 'bytes', id: 2 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 4 },
      },
    },
    Status: {
      fields: { message: { type: 'string', id: 2 }, code: { type: 'int32', id: 3 } },
    },
    LogRecord: {
      fields: {
        timeUnixNano: { type: 'fixed64', id: 1 },
        severityNumber: { type: 'int32', id: 2 },
        severityText: { type: 'string', id: 3 },
        body: { type: 'bytes', id: 5 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 6 },
        traceId: { type: 'bytes', id: 9 },
        spanId: { type: 'bytes', id: 10 },
        observedTimeUnixNano: { type: 'fixed64', id: 11 },
        eventName: { type: 'string', id: 12 },
      },
    },
    KeyValue: {
      fields: { key: { type: 'string', id: 1 }, value: { type: 'bytes', id: 2 } },
    },
    // `google.rpc.Status`, and what of its details is used.
    Failure: {
      fields: {
        code: { type: 'int32', id: 1 },
        message: { type: 'string', id: 2 },
        details: { rule: 'repeated', type: 'Any', id: 3 },
      },
    },
    Any: { fields: { typeUrl: { type: 'string', id: 1 }, value: { type: 'bytes', id: 2 } } },
    RetryInfo: { fields: { retryDelay: { type: 'Duration', id: 1 } } },
    Duration: { fields: { seconds: { type: 'int64', id: 1 } } },
  },
})

export type Signal = 'traces' | 'logs'

const types = {
  traces: root.lookupType('ExportTraceServiceRequest'),
  logs: root.lookupType('ExportLogsServiceRequest'),
  Resource: root.lookupType('Resource'),
  Scope: root.lookupType('Scope'),
  Span: root.lookupType('Span'),
  LogRecord: root.lookupType('LogRecord'),
}
const response = root.lookupType('ExportServiceResponse')
const failure = root.lookupType('Failure')
const retryInfo = root.lookupType('RetryInfo')

/**
 * The message as OTLP's JSON form has it, but for bytes, which stay bytes: 64-bit integers are
 * decimal texts, and what is not set is absent. Throws where the bytes are no such message.
 */
export function decodeMessage(bytes: Uint8Array, type: keyof typeof types): unknown {
  return types[type].toObject(types[type].decode(bytes), { longs: String, bytes: Buffer })
}

/** The answer's message; empty when everything was taken and nothing is to be told. */
export function encodeResponse(rejected: number, errorMessage: string): Uint8Array {
  const isWhole = rejected === 0 && errorMessage === ''
  const message = isWhole ? {} : { partialSuccess: { rejected, errorMessage } }
  return response.encode(response.fromObject(message)).finish()
}

/**
 * What an error is answered with, `google.rpc.Status`.
 *
 * @param code one of gRPC's
 * @param retrySeconds after how long it is worth trying again; senders do so only if this is given
 */
export function encodeFailure(code: number, message: string, retrySeconds?: number): Uint8Array {
  const details = retrySeconds === undefined ? [] : [retryInfoOf(retrySeconds)]
  return failure.encode(failure.fromObject({ code, message, details })).finish()
}

function retryInfoOf(seconds: number) {
  const value = retryInfo.encode(retryInfo.fromObject({ retryDelay: { seconds } })).finish()
  return { typeUrl: 'type.googleapis.com/google.rpc.RetryInfo', value }
}

export function readerOf(bytes: Uint8Array): protobuf.Reader {
  return protobuf.Reader.create(bytes)
}
