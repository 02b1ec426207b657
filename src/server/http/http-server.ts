/** What the service needs of an HTTP server. Two give it: uWebSockets.js, and Node's own where that does not load. */
import type { AssayError } from '../../error.ts'

/** The head of a request. It is gone when the turn ends in which the request has come. */
export interface RequestHead {
  /** In any case of letters. */
  getMethod(): string
  /** The path as it came, without what is behind its question mark. */
  getUrl(): string
  /** What is behind that. */
  getQuery(): string
  /** The first of its name, which is in small letters; empty when there is none. */
  getHeader(name: string): string
  /** All lines in their order, with names in small letters. */
  forEach(see: (name: string, value: string) => void): void
}

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number
  /** Headers but those that say how long the body is; see `headerLines`. */
  readonly lines: string
}

/** An answer to what is no request, or none that is let in. */
export interface Refusal {
  readonly head: AnswerHead
  readonly text: string
}

export interface Connected {
  /** Of the other end of the connection; asked for in the turn of its request. */
  readonly address: string
}

/** A request's connection until it is answered. Once the other end has left, nothing is written any more. */
export interface Responder extends Connected {
  readonly isGone: boolean
  /** Calls `left` when the other end leaves before the answer is whole. Called once, in the turn of the request. */
  onGone(left: () => void): void
  /** Calls `receive` with each chunk of the body, which is lent until the call ends. Called once, in the turn of the request. */
  onData(receive: (chunk: Uint8Array, isLast: boolean) => void): void
  /** Lets the rest of the body wait. */
  pause(): void
  /** Only after a pause. */
  resume(): void
  /** Sends all of a short answer in this turn; the body is not read afterwards. */
  sendWhole(head: AnswerHead, body: Uint8Array, closesConnection: boolean): void
  /** Answers a HEAD of what has such a length. */
  sendHeadOnly(head: AnswerHead, length: number, closesConnection: boolean): void
  /** Sends a short answer in this turn and ends the connection, before anything behind the request's head is looked at. */
  sendAndClose(refusal: Refusal): void
  /** Sends a long body with its length as fast as it is taken; false if the other end has left before its end. */
  sendLong(head: AnswerHead, body: Uint8Array): Promise<boolean>
  /** Begins a body of which the length is not known. */
  begin(head: AnswerHead): void
  /** Adds to it, and has read the chunk when it returns; false when the next should wait for `taken`. */
  write(chunk: Uint8Array): boolean
  /** Resolves once what was written has been taken, or the other end has left: it is put out when it takes nothing for long. */
  taken(): Promise<void>
  /** Ends that body. */
  end(closesConnection: boolean): void
  /** Breaks the connection off, unless the answer is whole. */
  close(): void
}

/** Where in a message a part of it is. */
export type ChunkPlace = 'first' | 'middle' | 'last'

/** The other end of a WebSocket. */
export interface Peer {
  send(message: string | Uint8Array, isBinary?: boolean): void
  /** A part of a message. Nothing but pings may be sent between its first part and its last one. */
  sendPart(part: Uint8Array, place: ChunkPlace, isBinary: boolean): void
  /** What it has not taken yet. */
  getBufferedAmount(): number
  ping(): void
  /** Closes in order. */
  end(code: number, reason: string): void
  /** Breaks off. */
  close(): void
}

/** What hears a WebSocket. */
export interface PeerListener {
  open(peer: Peer): void
  /** The bytes are lent until the call ends. */
  receive(message: Uint8Array, isBinary: boolean): void
  /** Something of what was sent has been taken. */
  drained(): void
  /** It answers a ping. */
  seen(): void
  /** Called once, whoever has closed it. */
  closed(): void
}

export interface SocketRoute {
  readonly path: string
  /** A longer message ends its connection. */
  readonly longestMessage: number
  /** Called with each request for a WebSocket, in its turn. Never throws. */
  readonly accept: (request: RequestHead, connected: Connected) => PeerListener | Refusal
}

export interface ServerHandlers {
  /** Called with each request, in its turn, with the ones for WebSockets going to `socket`. */
  readonly request: (request: RequestHead, responder: Responder) => void
  readonly socket: SocketRoute
  /** What to tell of something that is no request. */
  readonly refusal: (error: AssayError) => Refusal
}

/** Ends a connection on which nothing has moved for so long. */
export const longestIdleMs = 10_000

/** A body has to come as fast on average. */
export const bodyBytesPerSecond = 16 * 1024

/**
 * What uWS gathers before it writes to the socket. It loses what does not fit beside what it has gathered if the
 * socket takes nothing at that very moment, unless it may take a part of it (`tryEnd`): so no more is given at once.
 */
export const gatheredBytes = 16 * 1024

/** Written at a time, with a line before it and one behind; then the socket must have taken it. */
export const chunkBytes = gatheredBytes - 64

/** Written together with the head, which may have the rest. */
export const shortBytes = gatheredBytes / 2

/** Written within one turn of the event loop: a reader that is as fast as this is no reason to let others wait. */
export const turnBytes = 2 ** 20

/** A reader that processes as it reads may well pause for so long. */
export const longestStallMs = 120_000

export interface HttpServer {
  readonly name: 'uwebsockets' | 'node'
  /** Whether sizes of chunks are held to their form: else nothing says for sure what is behind a body of chunks. */
  readonly isStrictWithChunks: boolean
  /** -1 while it does not listen. */
  readonly port: number
  /** Called once, before it listens. */
  serve(handlers: ServerHandlers): void
  /** Resolves once connections are accepted; rejects when the address cannot be had, or another has it. */
  listen(host: string, port: number): Promise<void>
  /** Takes no more connections. */
  stopListening(): void
  /** Closes all connections. */
  close(): void
}
