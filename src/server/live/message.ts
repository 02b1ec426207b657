/** What a stream sends, whatever carries it. */

/** Its fields are those of the JSON that is sent; `type` says what it tells. */
export interface StreamMessage {
  readonly type:
    | 'ready'
    | 'schema'
    | 'batch'
    | 'removed'
    | 'progress'
    | 'audit'
    | 'current'
    | 'end'
    | 'error'
  readonly [field: string]: unknown
}

/** Where the messages of a stream go. What is sent once the client has left is dropped. */
export interface MessageSink {
  send(message: StreamMessage): void
  /**
   * Sends rows as the last field of the message; resolves when they have left and there is room for more.
   *
   * @param rows as JSON, with commas between them
   */
  sendRows(message: StreamMessage, rows: Uint8Array): Promise<void>
  /** The same for bytes of another format, which come after the message. */
  sendBytes(message: StreamMessage, bytes: Uint8Array): Promise<void>
}

/** The message as JSON, around the rows. */
export function aroundRows(message: StreamMessage): {
  readonly head: string
  readonly tail: string
} {
  return { head: `${JSON.stringify(message).slice(0, -1)},"rows":[`, tail: ']}' }
}
